// SPDX-License-Identifier: Apache-2.0
#include "controller/report/anonymizer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"

namespace berth {
namespace {

using nlohmann::json;

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

std::string text_in(const json& object, const char* field) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  const auto found = metadata->find(field);
  return found != metadata->end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return text;
}

// Kinds whose names a user chooses. berth and NVIDIA choose those of ConfigMaps and Leases.
bool is_users(const std::string& kind) {
  return kind == "Node" || kind == "Pod" || kind == "Job" || kind == "Namespace" ||
         kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet" ||
         kind == "MIGLayout" || kind == "GPUQueue" || kind == "PodDisruptionBudget" ||
         kind == "PriorityClass" || kind == "ResourceQuota";
}

}  // namespace

Anonymizer::Anonymizer(std::set<std::string, std::less<>> kept) : kept_(std::move(kept)) {
  kept_.insert("default");
  for (const std::string_view name : names::kSystemNamespaces) kept_.emplace(name);
}

void Anonymizer::learn(const json& list) {
  const auto items = list.find("items");
  if (items == list.end() || !items->is_array()) return;
  for (const json& item : *items) {
    if (!item.is_object()) continue;
    const std::string namespace_ = text_in(item, "namespace");
    if (!namespace_.empty()) add("Namespace", namespace_);
    if (kept_.contains(namespace_) && !namespace_.empty()) continue;
    const auto kind = item.find("kind");
    if (kind == item.end() || !kind->is_string()) continue;
    if (const std::string of = kind->get<std::string>(); is_users(of))
      add(of, text_in(item, "name"));
  }
}

void Anonymizer::add(const std::string& kind, const std::string& name) {
  if (name.empty() || kept_.contains(name) || names_.contains(name)) return;
  if (name.starts_with("system-")) return;  // Kubernetes' own PriorityClasses
  names_.emplace(name, fmt::format("{}-{}", lower(kind), ++counts_[kind]));
}

// The length of the longest known name at the begin of the text that ends there or before a
// separator; 0: there is none.
std::size_t Anonymizer::known_at(std::string_view text) const {
  for (std::size_t end = text.size(); end > 0;) {
    if (names_.find(text.substr(0, end)) != names_.end()) return end;
    const std::size_t cut = text.substr(0, end).find_last_of("-.");
    if (cut == text.npos) break;
    end = cut;
  }
  return 0;
}

// A short name inside another text is probably not a user's name, for example "1" in "v1.1".
std::string Anonymizer::name_for(std::string_view token) const {
  if (kept_.contains(token)) return std::string(token);
  constexpr std::size_t kLeastInside = 4;
  std::string out;
  for (std::size_t at = 0; at < token.size();) {
    const std::string_view rest = token.substr(at);
    const std::size_t known = known_at(rest);
    if (known > 0 && (at == 0 || known >= kLeastInside)) {
      out += names_.find(rest.substr(0, known))->second;
      at += known;
    }
    const std::size_t next = token.find_first_of("-.", at);
    const std::size_t end = next == token.npos ? token.size() : next + 1;
    out += token.substr(at, end - at);
    at = end;
  }
  return out;
}

std::string Anonymizer::apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && is_part_of_name(text[end])) ++end;
    if (end > 0) {
      out += name_for(text.substr(0, end));
    } else {
      end = 1;
      out += text.front();
    }
    text.remove_prefix(end);
  }
  return out;
}

void Anonymizer::replace_in(json& value, bool keys) const {
  if (value.is_string()) value = apply(value.get_ref<const std::string&>());
  if (value.is_array())
    for (json& item : value) replace_in(item, false);
  if (!value.is_object()) return;
  json out = json::object();
  for (auto& [key, part] : value.items()) {
    if (key != "kind" && key != "apiVersion") replace_in(part, key == "data");
    out[keys ? apply(key) : key] = std::move(part);
  }
  value = std::move(out);
}

std::string Anonymizer::apply_json(const std::string& text) const {
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return apply(text);
  replace_in(document, false);
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace berth
