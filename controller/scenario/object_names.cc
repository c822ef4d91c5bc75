// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/object_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "apis/base/nearest_name.h"

namespace berth {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kShort = {{
    {"no", "nodes"},
    {"po", "pods"},
    {"cm", "configmaps"},
    {"ns", "namespaces"},
    {"ds", "daemonsets"},
    {"rs", "replicasets"},
    {"pdb", "poddisruptionbudgets"},
    {"ml", "miglayouts"},
    {"gpupolicy", "gpuclusterpolicies"},
    {"gq", "gpuqueues"},
    {"pc", "priorityclasses"},
}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::vector<std::string> known_words() {
  std::vector<std::string> words;
  for (const sim::ResourceType& type : sim::resource_types()) {
    words.push_back(lower(type.kind));
    words.emplace_back(type.plural);
  }
  return words;
}

}  // namespace

const sim::ResourceType* find_object_type(std::string_view word) {
  const std::string wanted = lower(word);
  for (const auto& [brief, plural] : kShort)
    if (wanted == brief) return sim::find_resource_type(plural);
  for (const sim::ResourceType& type : sim::resource_types())
    if (wanted == type.plural || wanted == lower(type.kind)) return &type;
  return nullptr;
}

std::string served_kinds() {
  std::vector<std::string> kinds;
  for (const sim::ResourceType& type : sim::resource_types()) kinds.emplace_back(type.kind);
  return fmt::format("it serves {}", fmt::join(kinds, ", "));
}

std::string ObjectName::str() const {
  return namespace_.empty() ? fmt::format("{}/{}", type->plural, name)
                            : fmt::format("{}/{}/{}", type->plural, namespace_, name);
}

Result<ObjectName> parse_object_name(std::string_view text) {
  const auto bad = [&](std::string message) {
    return invalid_spec("", fmt::format("\"{}\": {}", text, message));
  };
  const std::size_t first = text.find('/');
  if (first == text.npos || first + 1 == text.size())
    return bad("write KIND/NAME, or KIND/NAMESPACE/NAME");
  const std::string_view word = text.substr(0, first);
  ObjectName out{.type = find_object_type(word)};
  if (out.type == nullptr) {
    const std::string near = nearest_name(word, known_words());
    return bad(near.empty() ? fmt::format("the simulation serves no {}; {}", word, served_kinds())
                            : fmt::format("no kind {}; did you mean {}?", word, near));
  }
  const std::string_view rest = text.substr(first + 1);
  const std::size_t second = rest.find('/');
  if (out.type->namespaced != (second != rest.npos))
    return bad(out.type->namespaced
                   ? fmt::format("write {}/NAMESPACE/NAME", word)
                   : fmt::format("a {} has no namespace; write {}/NAME", out.type->kind, word));
  if (out.type->namespaced) out.namespace_ = rest.substr(0, second);
  out.name = out.type->namespaced ? rest.substr(second + 1) : rest;
  if (out.name.empty()) return bad("the name is missing");
  return out;
}

}  // namespace berth
