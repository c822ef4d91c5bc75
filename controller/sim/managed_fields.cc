// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/sim/field_set.h"
#include "controller/sim/field_walk.h"
#include "controller/sim/object_fields.h"
#include "controller/sim/status.h"
#include "controller/sim/writes.h"

namespace berth::sim {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxUpdaters = 10;

struct Manager {
  std::string name;
  std::string operation;  // "Apply", "Update"
  std::string api_version;
  std::string subresource;
  auto operator<=>(const Manager&) const = default;
};

struct Owned {
  FieldSet fields;
  std::string time;
};

using Owners = std::map<Manager, Owned>;

Owners decode_owners(const json& object) {
  Owners owners;
  const json* entries = find_at(object, {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return owners;
  for (const json& entry : *entries) {
    const json* fields = find_at(entry, {"fieldsV1"});
    if (fields == nullptr || text_at(entry, {"operation"}).empty()) continue;
    owners[{text_at(entry, {"manager"}), text_at(entry, {"operation"}),
            text_at(entry, {"apiVersion"}), text_at(entry, {"subresource"})}] = {
        decode_fields(*fields), text_at(entry, {"time"})};
  }
  return owners;
}

void encode_owners(const Owners& owners, json& object) {
  std::vector<const Owners::value_type*> order;
  for (const auto& owner : owners) order.push_back(&owner);
  std::ranges::sort(order, {}, [](const Owners::value_type* owner) {
    const Manager& manager = owner->first;
    return std::tie(manager.operation, owner->second.time, manager.name, manager.api_version,
                    manager.subresource);
  });
  if (order.empty()) {
    object["metadata"].erase("managedFields");
    return;
  }
  json entries = json::array();
  for (const Owners::value_type* owner : order) {
    json entry = {{"manager", owner->first.name},
                  {"operation", owner->first.operation},
                  {"apiVersion", owner->first.api_version},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", encode_fields(owner->second.fields)}};
    // An apply that found everything as it wants it has no time.
    if (!owner->second.time.empty()) entry["time"] = owner->second.time;
    if (!owner->first.subresource.empty()) entry["subresource"] = owner->first.subresource;
    entries.push_back(std::move(entry));
  }
  object["metadata"]["managedFields"] = std::move(entries);
}

// A kind's object with nothing in it, as Go's zero value encodes: what stands in it already is not
// written by whoever creates the first one.
json empty_object(const ResourceType& type) {
  json object = {{"metadata", json::object()}};
  if (is_custom(type) || type.kind == "ConfigMap") return object;
  if (type.kind == "Event") {
    object["deprecatedSource"] = object["regarding"] = json::object();
    object["deprecatedFirstTimestamp"] = object["deprecatedLastTimestamp"] = nullptr;
    return object;
  }
  json& spec = object["spec"] = json::object();
  const json pod_spec = {{"containers", json::array()}};
  const std::string_view kind = type.kind;
  if (type.has_status) object["status"] = json::object();
  if (kind == "Pod") spec = pod_spec;
  if (kind == "Job" || kind == "DaemonSet" || kind == "ReplicaSet")
    spec["template"] = {{"metadata", json::object()}, {"spec", pod_spec}};
  if (kind == "DaemonSet") spec["updateStrategy"] = json::object();
  if (kind == "Node")
    object["status"] = {{"daemonEndpoints", {{"kubeletEndpoint", {{"Port", 0}}}}},
                        {"nodeInfo", json::object()}};
  return object;
}

// The object without what nobody owns: its identity and the ownership itself.
json fields_of(const ResourceType& type, const json& object) {
  if (object.is_null()) return empty_object(type);
  json fields = object;
  fields.erase("apiVersion");
  fields.erase("kind");
  json& metadata = fields["metadata"];
  if (!metadata.is_object()) metadata = json::object();
  for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid",
                           "generation", "managedFields", "resourceVersion"})
    metadata.erase(name);
  return fields;
}

// What a write to this subresource cannot change is not its writer's.
void drop_foreign_fields(const ResourceType& type, const std::string& subresource, json& fields) {
  if (!type.has_status) return;
  if (subresource.empty()) {
    fields.erase("status");
    return;
  }
  if (is_custom(type)) {
    json status = fields.contains("status") ? std::move(fields["status"]) : json();
    fields = {{"metadata", json::object()}};
    if (!status.is_null()) fields["status"] = std::move(status);
    return;
  }
  fields.erase("spec");
  if (type.kind == "Pod")
    for (const char* name : {"deletionTimestamp", "ownerReferences"})
      fields["metadata"].erase(name);
}

void forget(Owners& owners, const FieldSet& fields, const Manager& but) {
  for (auto owner = owners.begin(); owner != owners.end();) {
    if (owner->first != but) owner->second.fields = difference_of(owner->second.fields, fields);
    owner = owner->second.fields.empty() ? owners.erase(owner) : std::next(owner);
  }
}

// Old updaters are folded into one, so that the list stays short.
void cap_updaters(Owners& owners) {
  std::vector<Owners::iterator> updaters;
  for (auto owner = owners.begin(); owner != owners.end(); ++owner)
    if (owner->first.operation == "Update") updaters.push_back(owner);
  if (updaters.size() <= kMaxUpdaters) return;
  std::ranges::sort(updaters, {}, [](const Owners::iterator& owner) {
    return std::tie(owner->second.time, owner->first);
  });
  const Owners::iterator first = updaters[0];
  const Manager bucket{"ancient-changes", "Update", first->first.api_version, ""};
  Owned folded = first->second;
  std::size_t left = updaters.size();
  owners.erase(first);
  for (std::size_t i = 1; i < updaters.size() && left > kMaxUpdaters; ++i, --left) {
    folded.fields = union_of(folded.fields, updaters[i]->second.fields);
    folded.time = updaters[i]->second.time;
    owners.erase(updaters[i]);
  }
  owners[bucket] = std::move(folded);
}

void track(const ResourceType& type, const json& live, const json& next, const Author& author,
           Owners& owners) {
  const Manager self{author.manager, "Update", type.api_version(), author.subresource};
  json before = fields_of(type, live);
  json after = fields_of(type, next);
  drop_foreign_fields(type, author.subresource, before);
  drop_foreign_fields(type, author.subresource, after);
  const Comparison comparison = compare_fields(FieldSchema(type), before, after);
  const FieldSet touched = union_of(comparison.changed, comparison.removed);
  if (touched.empty()) return;
  forget(owners, touched, self);
  if (const auto own = owners.find(self); own != owners.end()) {
    own->second.fields = difference_of(own->second.fields, comparison.removed);
    if (own->second.fields.empty()) owners.erase(own);
  }
  if (comparison.changed.empty()) return;
  Owned& own = owners[self];
  own.fields = union_of(own.fields, comparison.changed);
  own.time = author.time;
  cap_updaters(owners);
}

struct Conflict {
  Manager with;
  std::string path;
};

std::string describe(const Manager& manager) {
  std::string text = quote(manager.name);
  if (!manager.subresource.empty()) text += " with subresource " + quote(manager.subresource);
  if (manager.operation == "Update") text += " using " + manager.api_version;
  return text;
}

[[noreturn]] void refuse(const std::vector<Conflict>& conflicts) {
  json causes = json::array();
  for (const Conflict& conflict : conflicts)
    causes.push_back({{"reason", "FieldManagerConflict"},
                      {"message", "conflict with " + describe(conflict.with)},
                      {"field", conflict.path}});
  std::string message = fmt::format("Apply failed with {} conflict{}: ", conflicts.size(),
                                    conflicts.size() == 1 ? "" : "s");
  if (conflicts.size() == 1) {
    message += fmt::format("conflict with {}: {}", describe(conflicts[0].with), conflicts[0].path);
  } else {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < conflicts.size(); ++i) {
      if (i == 0 || conflicts[i].with != conflicts[i - 1].with)
        lines.push_back(fmt::format("conflicts with {}:", describe(conflicts[i].with)));
      lines.push_back("- " + conflicts[i].path);
    }
    message += fmt::format("{}", fmt::join(lines, "\n"));
  }
  json details = {{"causes", std::move(causes)}};
  throw Refusal{409, "Conflict", std::move(message),
                std::make_shared<const json>(std::move(details))};
}

// What the applier stated before, states no more, and nobody else owns, goes.
json prune(const FieldSchema& schema, const json& merged, const Owners& owners,
           const FieldSet& last) {
  if (last.empty()) return merged;
  const FieldSet all = with_parents(stated_fields(schema, merged));
  FieldSet owned;
  for (const auto& [manager, own] : owners) owned = union_of(owned, own.fields);
  const json bare = remove_fields(schema, merged, with_parents(last));
  const FieldSet kept = union_of(with_parents(stated_fields(schema, bare)), with_parents(owned));
  const json pruned = remove_fields(schema, merged, difference_of(all, kept));
  // What went with its parent though the applier never owned it comes back.
  const FieldSet gone = difference_of(all, with_parents(stated_fields(schema, pruned)));
  return remove_fields(schema, merged, intersection_of(gone, with_parents(last)));
}

}  // namespace

void track_update(const ResourceType& type, const json& live, json& next, const Author& author) {
  const bool own_list = author.subresource.empty();
  const json* given = find_at(next, {"metadata", "managedFields"});
  const bool reset = own_list && given != nullptr && given->is_array() &&
                     (given->empty() || (given->size() == 1 && (*given)[0].empty()));
  Owners owners;
  if (own_list && !reset) owners = decode_owners(next);
  if (owners.empty() && !reset && !live.is_null()) owners = decode_owners(live);
  if (owners.empty() && !live.is_null()) {
    next["metadata"].erase("managedFields");
    return;
  }
  track(type, live, next, author, owners);
  encode_owners(owners, next);
}

json apply_config(const ResourceType& type, const json& live, const json& config,
                  const Author& author, bool force) {
  const FieldSchema schema(type);
  Owners owners;
  if (!live.is_null()) {
    owners = decode_owners(live);
    if (owners.empty())
      track(type, json(), live, {"before-first-apply", author.subresource, author.time}, owners);
  }
  const Manager self{author.manager, "Apply", type.api_version(), author.subresource};
  const auto previous = owners.find(self);
  const Owned last = previous == owners.end() ? Owned() : previous->second;

  const json before = fields_of(type, live);
  json stated = fields_of(type, config);
  drop_foreign_fields(type, author.subresource, stated);
  FieldSet own = stated_fields(schema, stated);
  if (const auto metadata = own.below.find("f:metadata"); metadata != own.below.end()) {
    metadata->second.member = false;
    if (metadata->second.empty()) own.below.erase(metadata);
  }
  owners[self] = {std::move(own), last.time};
  const json merged = merge_fields(schema, before, fields_of(type, config));
  json after = prune(schema, merged, owners, last.fields);

  json compared_before = before;
  json compared_after = after;
  drop_foreign_fields(type, author.subresource, compared_before);
  drop_foreign_fields(type, author.subresource, compared_after);
  const Comparison comparison = compare_fields(schema, compared_before, compared_after);
  std::vector<Conflict> conflicts;
  for (const auto& [manager, owned] : owners)
    if (manager != self)
      for (std::string& path : print_paths(intersection_of(owned.fields, comparison.changed)))
        conflicts.push_back({manager, std::move(path)});
  if (!force && !conflicts.empty()) refuse(conflicts);
  forget(owners, union_of(comparison.changed, comparison.removed), self);
  if (const auto mine = owners.find(self); mine != owners.end() && before != after)
    mine->second.time = author.time;

  // Identity is the live object's; what the config says about it is checked like any update's.
  json next = std::move(after);
  const json identity = live.is_null() ? json::object() : live["metadata"];
  for (const json* from : {&identity, find_at(config, {"metadata"})})
    for (const char* name :
         {"name", "namespace", "creationTimestamp", "uid", "generation", "resourceVersion"})
      if (from != nullptr && from->contains(name)) next["metadata"][name] = (*from)[name];
  next["apiVersion"] = type.api_version();
  next["kind"] = type.kind;
  encode_owners(owners, next);
  return next;
}

}  // namespace berth::sim
