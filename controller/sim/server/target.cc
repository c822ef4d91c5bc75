// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/target.h"

#include <charconv>
#include <utility>
#include <vector>

namespace berth::sim {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescape(std::string_view text, bool plus_is_space) {
  constexpr auto kNowhere = std::string_view::npos;
  if (text.find('%') == kNowhere && text.find('+') == kNowhere) return std::string(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                         hex_digit(text[i + 2]) >= 0;
    if (escaped) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t slash = std::min(path.find('/'), path.size());
    parts.push_back(unescape(path.substr(0, slash), false));
    path.remove_prefix(slash);
  }
  return parts;
}

std::map<std::string, std::string> split_query(std::string_view query) {
  std::map<std::string, std::string> options;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::size_t equals = std::min(query.find('='), end);
    const std::size_t value = std::min(equals + 1, end);
    options.emplace(unescape(query.substr(0, equals), true),
                    unescape(query.substr(value, end - value), true));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return options;
}

// The part after /api/v1 or /apis/GROUP/VERSION.
void read_resource(Target& target, const std::vector<std::string>& parts, std::size_t at) {
  const std::size_t left = parts.size() - at;
  // …/namespaces/NS/PLURAL…, but not the Namespace NS itself or its status.
  const bool namespaced = left >= 3 && parts[at] == "namespaces" && parts[at + 2] != "status" &&
                          parts[at + 2] != "finalize";
  if (namespaced) {
    target.namespace_ = parts[at + 1];
    at += 2;
  }
  target.type = find_resource_type(target.group, target.version, parts[at]);
  if (target.type == nullptr || parts.size() - at > 3) return;
  if (namespaced && !target.type->namespaced) return;
  if (parts.size() - at > 1) target.name = parts[at + 1];
  if (parts.size() - at > 2) target.subresource = parts[at + 2];
  if (target.type->namespaced && !namespaced && !target.name.empty()) return;
  target.what = Target::What::kResource;
}

}  // namespace

std::string Target::option(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? std::string() : found->second;
}

bool Target::flag(const std::string& key) const {
  const std::string value = option(key);
  return value == "true" || value == "1";
}

Target parse_target(std::string_view text) {
  Target target;
  const std::size_t question = std::min(text.find('?'), text.size());
  if (question < text.size()) target.query = split_query(text.substr(question + 1));
  if (text.empty() || text[0] != '/') return target;
  const std::vector<std::string> parts = split_path(text.substr(0, question));
  if (parts.size() == 1 && parts[0] == "version") target.what = Target::What::kVersion;
  std::size_t at = 0;
  if (parts.size() >= 2 && parts[0] == "api") {
    target.version = parts[1];
    at = 2;
  } else if (parts.size() >= 3 && parts[0] == "apis") {
    target.group = parts[1];
    target.version = parts[2];
    at = 3;
  } else {
    return target;
  }
  if (at == parts.size())
    target.what = Target::What::kDiscovery;
  else
    read_resource(target, parts, at);
  return target;
}

std::optional<std::int64_t> parse_revision(std::string_view text) {
  std::int64_t revision = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (text.empty() || error != std::errc() || stopped != text.data() + text.size() || revision < 0)
    return std::nullopt;
  return revision;
}

}  // namespace berth::sim
