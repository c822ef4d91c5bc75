// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/field_walk.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

std::string step_of(const ListRule& rule, const json& item) {
  if (rule.kind == ListRule::Kind::kSet) return "v:" + to_text(item);
  json keys = json::object();
  for (const std::string_view key : rule.keys) {
    const std::string name(key);
    const json* value = find_at(item, {name.c_str()});
    if (value != nullptr)
      keys[name] = *value;
    else if (key == "protocol")
      keys[name] = "TCP";
  }
  return "k:" + to_text(keys);
}

// The items of a list by their path steps, in order.
using Items = std::vector<std::pair<std::string, const json*>>;

Items items_of(const ListRule& rule, const json* list) {
  Items items;
  if (list == nullptr || !list->is_array()) return items;
  for (const json& item : *list) items.emplace_back(step_of(rule, item), &item);
  return items;
}

const json* find_item(const Items& items, const std::string& step) {
  const auto found = std::ranges::find(items, step, &Items::value_type::first);
  return found == items.end() ? nullptr : found->second;
}

const json::object_t& members_of(const json* map) {
  static const json::object_t kNone;
  const auto* members = map == nullptr ? nullptr : map->get_ptr<const json::object_t*>();
  return members == nullptr ? kNone : *members;
}

bool is_empty(const json* value) { return value == nullptr || value->empty(); }

// Compares the values at one path; `here` is its place in both sets.
class Comparing {
 public:
  using Place = std::vector<std::string>;

  explicit Comparing(const std::vector<std::string_view>& skipped) : skipped_(skipped) {}

  Comparison result;

  // The values differ.
  void compare(const FieldSchema& schema, Place& path, const json* before, const json* after) {
    // A null beside a map or a list means an empty one.
    const bool by_before = after == nullptr || (after->is_null() && before != nullptr);
    const json& shape = by_before ? *before : *after;
    const bool mixed = before != nullptr && after != nullptr && !before->is_null() &&
                       !after->is_null() && before->type() != after->type();
    const bool leaf = mixed || !shape.is_structured() || (is_empty(before) && is_empty(after)) ||
                      (shape.is_object() ? schema.is_atomic_map()
                                         : schema.list().kind == ListRule::Kind::kAtomic);
    if (!leaf && shape.is_object()) compare_maps(schema, path, before, after);
    if (!leaf && shape.is_array()) compare_lists(schema, path, before, after);
    if (before == nullptr || (leaf && after != nullptr))
      insert(result.changed, path);
    else if (after == nullptr)
      insert(result.removed, path);
  }

 private:
  bool is_skipped(const Place& path, const std::string& name) const {
    if (path.empty()) return std::ranges::find(skipped_, name) != skipped_.end();
    return path.size() == 1 && path[0] == "f:metadata" && is_identity(name);
  }

  static void insert(FieldSet& set, const Place& path) {
    if (path.empty()) return;
    FieldSet* at = &set;
    for (const std::string& step : path) at = &at->below[step];
    at->member = true;
  }

  void descend(const FieldSchema& schema, Place& path, std::string step, const json* before,
               const json* after) {
    path.push_back(std::move(step));
    compare(schema, path, before, after);
    path.pop_back();
  }

  void compare_maps(const FieldSchema& schema, Place& path, const json* before, const json* after) {
    const json::object_t &old_members = members_of(before), &new_members = members_of(after);
    auto old_at = old_members.begin(), new_at = new_members.begin();
    while (old_at != old_members.end() || new_at != new_members.end()) {
      const int order = old_at == old_members.end()   ? 1
                        : new_at == new_members.end() ? -1
                                                      : old_at->first.compare(new_at->first);
      const std::string& name = order > 0 ? new_at->first : old_at->first;
      const json* was = order > 0 ? nullptr : &(old_at++)->second;
      const json* now = order < 0 ? nullptr : &(new_at++)->second;
      if (is_skipped(path, name) || (was != nullptr && now != nullptr && *was == *now)) continue;
      descend(schema.member(name), path, "f:" + name, was, now);
    }
  }

  void compare_lists(const FieldSchema& schema, Place& path, const json* before,
                     const json* after) {
    const ListRule rule = schema.list();
    const Items old_items = items_of(rule, before);
    const Items new_items = items_of(rule, after);
    for (const auto& [step, item] : old_items) {
      const json* other = find_item(new_items, step);
      if (other == nullptr || *other != *item) descend(schema.item(), path, step, item, other);
    }
    for (const auto& [step, item] : new_items)
      if (find_item(old_items, step) == nullptr) descend(schema.item(), path, step, nullptr, item);
  }

  const std::vector<std::string_view>& skipped_;
};

// Adds the fields that the value states; `set` is the value's place.
void state(const FieldSchema& schema, const json& value, FieldSet& set) {
  if (value.is_object() && !schema.is_atomic_map()) {
    if (value.empty()) set.member = true;
    for (const auto& [name, member] : value.items())
      state(schema.member(name), member, set.below["f:" + name]);
    return;
  }
  const ListRule rule = value.is_array() ? schema.list() : ListRule();
  if (!value.is_array() || rule.kind == ListRule::Kind::kAtomic) {
    set.member = true;
    return;
  }
  for (const auto& [step, item] : items_of(rule, &value)) {
    FieldSet& below = set.below[step];
    state(schema.item(), *item, below);
    below.member = true;
  }
}

void erase_empty(FieldSet& set) {
  for (auto entry = set.below.begin(); entry != set.below.end();) {
    erase_empty(entry->second);
    entry = entry->second.empty() ? set.below.erase(entry) : std::next(entry);
  }
}

json merge(const FieldSchema& schema, const json* live, const json* config);

// Items of the config keep its order; items that are only live keep their neighbours.
json merge_lists(const FieldSchema& schema, const ListRule& rule, const json& live,
                 const json& config) {
  const Items left = items_of(rule, &live);
  const Items right = items_of(rule, &config);
  std::vector<std::string> shared;
  for (const auto& [step, item] : right)
    if (find_item(left, step) != nullptr) shared.push_back(step);
  std::size_t next_shared = 0;
  std::vector<std::string> merged;
  const auto done = [&merged](const std::string& step) {
    return std::ranges::find(merged, step) != merged.end();
  };
  json out = json::array();
  std::size_t l = 0;
  std::size_t r = 0;
  const auto take_right = [&] {
    const std::string& step = right[r].first;
    out.push_back(merge(schema.item(), find_item(left, step), right[r].second));
    merged.push_back(step);
    if (next_shared < shared.size() && shared[next_shared] == step) ++next_shared;
    ++r;
  };
  while (l < left.size() || r < right.size()) {
    if (l < left.size() && r < right.size()) {
      const std::string& step = left[l].first;
      if (step == right[r].first) {
        take_right();
        ++l;
        continue;
      }
      const bool is_shared = find_item(right, step) != nullptr;
      if (is_shared && next_shared < shared.size() && shared[next_shared] != step) {
        ++l;
        continue;
      }
    }
    if (l < left.size()) {
      if (find_item(right, left[l].first) == nullptr) {
        out.push_back(*left[l].second);
        ++l;
        continue;
      }
      if (done(left[l].first)) ++l;
    }
    if (r < right.size()) take_right();
  }
  return out;
}

json merge(const FieldSchema& schema, const json* live, const json* config) {
  if (config == nullptr) return *live;
  if (live == nullptr) return *config;
  if (config->is_object() && live->is_object() && !schema.is_atomic_map()) {
    json out = *live;
    for (const auto& [name, value] : config->items())
      out[name] = merge(schema.member(name), find_at(*live, {name.c_str()}), &value);
    return out;
  }
  const ListRule rule = config->is_array() ? schema.list() : ListRule();
  if (live->is_array() && config->is_array() && rule.kind != ListRule::Kind::kAtomic)
    return merge_lists(schema, rule, *live, *config);
  return *config;
}

// False if the value has become empty.
bool strip(const FieldSchema& schema, json& value, const FieldSet& fields) {
  if (!value.is_structured() || value.empty()) return !value.is_structured();
  if (value.is_object()) {
    if (schema.is_atomic_map()) return false;
    for (const auto& [step, below] : fields.below) {
      if (!step.starts_with("f:")) continue;
      const std::string name = step.substr(2);
      const auto found = value.find(name);
      if (found == value.end()) continue;
      if (below.member)
        value.erase(found);
      else if (!strip(schema.member(name), *found, below))
        *found = nullptr;
    }
    return !value.empty();
  }
  const ListRule rule = schema.list();
  if (rule.kind == ListRule::Kind::kAtomic) return false;
  json kept = json::array();
  for (json& item : value) {
    const auto found = fields.below.find(step_of(rule, item));
    if (found != fields.below.end() && found->second.member) continue;
    if (found != fields.below.end()) strip(schema.item(), item, found->second);
    kept.push_back(std::move(item));
  }
  value = std::move(kept);
  return !value.empty();
}

}  // namespace

bool is_identity(std::string_view metadata_member) {
  constexpr std::string_view kIdentity[] = {
      "name", "namespace",  "creationTimestamp", "selfLink",
      "uid",  "generation", "managedFields",     "resourceVersion"};
  return std::ranges::find(kIdentity, metadata_member) != std::end(kIdentity);
}

Comparison compare_objects(const FieldSchema& schema, const json& before, const json& after,
                           const std::vector<std::string_view>& skipped) {
  Comparing comparing(skipped);
  Comparing::Place path;
  if (before != after) comparing.compare(schema, path, &before, &after);
  return std::move(comparing.result);
}

FieldSet stated_fields(const FieldSchema& schema, const json& object) {
  FieldSet set;
  state(schema, object, set);
  set.member = false;
  erase_empty(set);
  return set;
}

json merge_fields(const FieldSchema& schema, const json& live, const json& config) {
  return merge(schema, &live, &config);
}

json remove_fields(const FieldSchema& schema, const json& object, const FieldSet& fields) {
  json rest = object;
  if (!strip(schema, rest, fields)) rest = json::object();
  return rest;
}

}  // namespace berth::sim
