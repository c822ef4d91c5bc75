// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/sim/server/field_set.h"
#include "controller/sim/server/field_walk.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/webhook_configurations.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

constexpr std::ptrdiff_t kMaxUpdaters = 10;

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
    // An apply without changes has no time.
    if (!owner->second.time.empty()) entry["time"] = owner->second.time;
    if (!owner->first.subresource.empty()) entry["subresource"] = owner->first.subresource;
    entries.push_back(std::move(entry));
  }
  object["metadata"]["managedFields"] = std::move(entries);
}

// An object of the kind with Go's zero values: the creator of the first object does not own the
// fields in it.
json empty_object(const ResourceType& type) {
  json object = {{"metadata", json::object()}};
  if (type.kind == "PriorityClass") object["value"] = 0;
  if (is_custom(type) || type.kind == "ConfigMap" || type.kind == "Secret" ||
      type.kind == "PriorityClass" || configures_webhooks(type))
    return object;
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

// The object without unowned fields: its identity and the ownership itself.
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

// The top-level members that a write to this subresource can't change and does not own.
std::vector<std::string_view> foreign_members(const ResourceType& type,
                                              const std::string& subresource) {
  std::vector<std::string_view> members = {"apiVersion", "kind"};
  if (type.has_status) members.push_back(subresource.empty() ? "status" : "spec");
  if (!subresource.empty() && is_custom(type)) members.push_back("metadata");
  return members;
}

void forget(Owners& owners, const FieldSet& fields, const Manager& but) {
  for (auto owner = owners.begin(); owner != owners.end();) {
    if (owner->first != but) owner->second.fields = difference_of(owner->second.fields, fields);
    owner = owner->second.fields.empty() ? owners.erase(owner) : std::next(owner);
  }
}

// Valid while the entry exists; empty if it has no such text.
std::string_view view_at(const json& entry, const char* name) {
  const json* found = find_at(entry, {name});
  return found != nullptr && found->is_string()
             ? std::string_view(found->get_ref<const std::string&>())
             : std::string_view();
}

// The owners in an object's managedFields, changed in place.
class OwnerList {
 public:
  explicit OwnerList(json entries) : entries_(std::move(entries)) {
    if (!entries_.is_array()) entries_ = json::array();
  }

  bool empty() const { return entries_.empty(); }

  void update(const Manager& self, const Comparison& comparison, const std::string& time) {
    const FieldSet touched = union_of(comparison.changed, comparison.removed);
    json* own = nullptr;
    for (json& entry : entries_) {
      const bool is_self = is_of(entry, self);
      take_fields(entry["fieldsV1"], is_self ? comparison.removed : touched);
      if (is_self) own = &entry;
    }
    if (!comparison.changed.empty()) {
      if (own == nullptr) own = &add(self);
      add_fields((*own)["fieldsV1"], comparison.changed);
      (*own)["time"] = time;
    }
    std::erase_if(entries_.get_ref<json::array_t&>(),
                  [](const json& entry) { return entry["fieldsV1"].empty(); });
    cap();
    sort();
  }

  json take() { return std::move(entries_); }

 private:
  static bool is_of(const json& entry, const Manager& manager) {
    return view_at(entry, "manager") == manager.name &&
           view_at(entry, "operation") == manager.operation &&
           view_at(entry, "apiVersion") == manager.api_version &&
           view_at(entry, "subresource") == manager.subresource;
  }

  json& add(const Manager& manager) {
    json entry = {{"manager", manager.name},
                  {"operation", manager.operation},
                  {"apiVersion", manager.api_version},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", json::object()}};
    if (!manager.subresource.empty()) entry["subresource"] = manager.subresource;
    entries_.push_back(std::move(entry));
    return entries_.back();
  }

  // Merges old updaters into one entry, so that the list stays short.
  void cap() {
    const auto is_update = [](const json& entry) { return entry["operation"] == "Update"; };
    auto left = std::count_if(entries_.begin(), entries_.end(), is_update);
    if (left <= kMaxUpdaters) return;
    sort();  // updates come last, the oldest first
    const auto first = std::find_if(entries_.begin(), entries_.end(), is_update);
    (*first)["manager"] = "ancient-changes";
    first->erase("subresource");
    for (auto next = first + 1; left > kMaxUpdaters; --left) {
      add_fields((*first)["fieldsV1"], decode_fields((*next)["fieldsV1"]));
      (*first)["time"] = (*next)["time"];
      next = entries_.erase(next);
    }
  }

  void sort() {
    const auto order = [](const json& entry) {
      return std::make_tuple(view_at(entry, "operation"), view_at(entry, "time"),
                             view_at(entry, "manager"), view_at(entry, "apiVersion"),
                             view_at(entry, "subresource"));
    };
    auto& entries = entries_.get_ref<json::array_t&>();
    if (!std::ranges::is_sorted(entries, {}, order)) std::ranges::stable_sort(entries, {}, order);
  }

  json entries_;
};

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

// Removes fields that the applier stated before and omits now, unless another manager owns them.
json prune(const FieldSchema& schema, const json& merged, const Owners& owners,
           const FieldSet& last) {
  if (last.empty()) return merged;
  const FieldSet all = with_parents(stated_fields(schema, merged));
  FieldSet owned;
  for (const auto& [manager, own] : owners) owned = union_of(owned, own.fields);
  const json bare = remove_fields(schema, merged, with_parents(last));
  const FieldSet kept = union_of(with_parents(stated_fields(schema, bare)), with_parents(owned));
  const json pruned = remove_fields(schema, merged, difference_of(all, kept));
  // Restores fields that were removed with their parent but that the applier never owned.
  const FieldSet gone = difference_of(all, with_parents(stated_fields(schema, pruned)));
  return remove_fields(schema, merged, intersection_of(gone, with_parents(last)));
}

}  // namespace

void track_update(const ResourceType& type, const json& live, json& next, const Author& author) {
  json& metadata = next["metadata"];
  json given = metadata.contains("managedFields") ? std::move(metadata["managedFields"]) : json();
  metadata.erase("managedFields");
  const bool own_list = author.subresource.empty();
  const bool reset =
      own_list && given.is_array() && (given.empty() || (given.size() == 1 && given[0].empty()));
  const json* live_owners = find_at(live, {"metadata", "managedFields"});
  const bool keeps_live = !reset && (!own_list || !given.is_array() || given.empty());
  if (reset || (keeps_live && live_owners == nullptr))
    given = json();
  else if (keeps_live && given != *live_owners)  // a patch already has a copy of them
    given = *live_owners;
  OwnerList owners(std::move(given));
  // An object whose fields have no owners stays so.
  if (owners.empty() && !live.is_null()) return;
  // A separate variable, because a conditional expression would copy the live object.
  const json nothing = live.is_null() ? empty_object(type) : json();
  const Comparison comparison = compare_objects(FieldSchema(type), live.is_null() ? nothing : live,
                                                next, foreign_members(type, author.subresource));
  if (!comparison.changed.empty() || !comparison.removed.empty())
    owners.update({author.manager, "Update", type.api_version(), author.subresource}, comparison,
                  author.time);
  if (!owners.empty()) metadata["managedFields"] = owners.take();
}

json apply_config(const ResourceType& type, const json& live, const json& config,
                  const Author& author, bool force) {
  const FieldSchema schema(type);
  Owners owners;
  if (!live.is_null()) {
    owners = decode_owners(live);
    if (owners.empty()) {
      json first = live;
      track_update(type, json(), first, {"before-first-apply", author.subresource, author.time});
      owners = decode_owners(first);
    }
  }
  const Manager self{author.manager, "Apply", type.api_version(), author.subresource};
  const auto previous = owners.find(self);
  const Owned last = previous == owners.end() ? Owned() : previous->second;

  const json before = fields_of(type, live);
  const std::vector<std::string_view> foreign = foreign_members(type, author.subresource);
  FieldSet own = stated_fields(schema, fields_of(type, config));
  for (const std::string_view member : foreign) own.below.erase("f:" + std::string(member));
  if (const auto metadata = own.below.find("f:metadata"); metadata != own.below.end()) {
    metadata->second.member = false;
    if (metadata->second.empty()) own.below.erase(metadata);
  }
  owners[self] = {std::move(own), last.time};
  const json merged = merge_fields(schema, before, fields_of(type, config));
  json after = prune(schema, merged, owners, last.fields);

  const Comparison comparison = compare_objects(schema, before, after, foreign);
  std::vector<Conflict> conflicts;
  for (const auto& [manager, owned] : owners)
    if (manager != self)
      for (std::string& path : print_paths(intersection_of(owned.fields, comparison.changed)))
        conflicts.push_back({manager, std::move(path)});
  if (!force && !conflicts.empty()) refuse(conflicts);
  forget(owners, union_of(comparison.changed, comparison.removed), self);
  if (const auto mine = owners.find(self); mine != owners.end() && before != after)
    mine->second.time = author.time;

  // Identity comes from the live object. What the config says about it is checked as for any
  // update.
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

bool differs_in_times_alone(const json& live, const json& next) {
  const auto without_times = [](const json& object) {
    json bare = object;
    const auto owners = bare["metadata"].find("managedFields");
    if (owners == bare["metadata"].end() || !owners->is_array()) return bare;
    for (json& owner : *owners) owner.erase("time");
    std::sort(owners->begin(), owners->end());
    return bare;
  };
  return without_times(live) == without_times(next);
}

}  // namespace berth::sim
