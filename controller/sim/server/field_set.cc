// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/field_set.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace berth::sim {

using nlohmann::json;

namespace {

std::string print_step(const std::string& step) {
  if (step.starts_with("f:")) return "." + step.substr(2);
  if (step.starts_with("v:")) return "[=" + step.substr(2) + "]";
  if (!step.starts_with("k:")) return "[" + step.substr(2) + "]";
  const json keys = json::parse(step.substr(2), nullptr, false);
  std::string text;
  for (const auto& [key, value] : keys.items())
    text += (text.empty() ? "" : ",") + key + "=" + value.dump();
  return "[" + text + "]";
}

void print_below(const FieldSet& set, const std::string& path, std::vector<std::string>& out) {
  for (const auto& [step, below] : set.below)
    if (below.member) out.push_back(path + print_step(step));
  for (const auto& [step, below] : set.below) print_below(below, path + print_step(step), out);
}

}  // namespace

bool FieldSet::empty() const {
  return !member &&
         std::ranges::all_of(below, [](const auto& entry) { return entry.second.empty(); });
}

FieldSet union_of(const FieldSet& a, const FieldSet& b) {
  FieldSet result = a;
  result.member = a.member || b.member;
  for (const auto& [step, below] : b.below) {
    const auto [found, fresh] = result.below.try_emplace(step, below);
    if (!fresh) found->second = union_of(found->second, below);
  }
  return result;
}

FieldSet intersection_of(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  result.member = a.member && b.member;
  for (const auto& [step, below] : a.below) {
    const auto other = b.below.find(step);
    if (other == b.below.end()) continue;
    FieldSet both = intersection_of(below, other->second);
    if (!both.empty()) result.below.emplace(step, std::move(both));
  }
  return result;
}

FieldSet difference_of(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  result.member = a.member && !b.member;
  for (const auto& [step, below] : a.below) {
    const auto other = b.below.find(step);
    FieldSet rest = other == b.below.end() ? below : difference_of(below, other->second);
    if (!rest.empty()) result.below.emplace(step, std::move(rest));
  }
  return result;
}

FieldSet with_parents(const FieldSet& set) {
  FieldSet result;
  result.member = set.member;
  for (const auto& [step, below] : set.below) {
    FieldSet& child = result.below[step] = with_parents(below);
    if (step.starts_with("f:") && !below.below.empty()) child.member = true;
  }
  return result;
}

FieldSet decode_fields(const json& fields_v1) {
  FieldSet set;
  if (!fields_v1.is_object()) return set;
  for (const auto& [step, below] : fields_v1.items()) {
    if (step == ".") continue;
    FieldSet& child = set.below[step] = decode_fields(below);
    child.member = child.below.empty() || below.contains(".");
  }
  return set;
}

json encode_fields(const FieldSet& set) {
  json fields = json::object();
  for (const auto& [step, below] : set.below) {
    json child = encode_fields(below);
    if (below.member && !child.empty()) child["."] = json::object();
    fields[step] = std::move(child);
  }
  return fields;
}

void add_fields(json& fields_v1, const FieldSet& set) {
  for (const auto& [step, below] : set.below) {
    const bool fresh = !fields_v1.contains(step);
    json& child = fields_v1[step];
    if (fresh) child = json::object();
    // "." marks a path that is in the set and also has paths below it.
    const bool member = below.member || (!fresh && child.empty()) || child.contains(".");
    child.erase(".");
    add_fields(child, below);
    if (member && !child.empty()) child["."] = json::object();
  }
}

bool take_fields(json& fields_v1, const FieldSet& set) {
  bool taken = false;
  for (const auto& [step, below] : set.below) {
    const auto found = fields_v1.find(step);
    if (found == fields_v1.end()) continue;
    json& child = *found;
    const bool was_member = child.empty() || child.contains(".");
    if (take_fields(child, below)) taken = true;
    const bool member = was_member && !below.member;
    if (member != was_member) taken = true;
    child.erase(".");
    if (child.empty() && !member)
      fields_v1.erase(found);
    else if (member && !child.empty())
      child["."] = json::object();
  }
  return taken;
}

std::vector<std::string> print_paths(const FieldSet& set) {
  std::vector<std::string> paths;
  print_below(set, "", paths);
  return paths;
}

}  // namespace berth::sim
