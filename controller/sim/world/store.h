// SPDX-License-Identifier: Apache-2.0
// Store: the role of etcd for an API server: objects by key, one counter of revisions for all of
// them, and the history of changes until it is compacted. It checks nothing: the API server has the
// rules.
//
// Stored objects are immutable and shared by all holders of a version.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/sim/world/resource_type.h"

namespace berth::sim {

using ObjectPtr = std::shared_ptr<const nlohmann::json>;  // null: no object

struct StoreKey {
  const ResourceType* type = nullptr;
  std::string namespace_;  // empty for cluster-scoped kinds
  std::string name;
  auto operator<=>(const StoreKey&) const = default;
  std::string str() const;  // "Pod/team-a/train-0", "Node/n1"
};

struct Change {
  enum class Kind { kAdded, kModified, kDeleted };
  Kind kind;
  StoreKey key;
  std::int64_t revision;
  ObjectPtr before;  // null if added
  ObjectPtr after;   // as stored; for a deletion the last state, with the revision of the deletion
  std::string user;  // who wrote it
  // The watch frame of this change, {"type":…,"object":…}\n, made once for all watchers.
  const std::string& frame() const;
  // The object's text in the frame; empty until a watcher has requested the frame.
  std::string_view written_object() const;
  mutable std::shared_ptr<const std::string> frame_{};  // set at the first request
};

inline constexpr char kRestorer[] = "etcd-restore";  // the user of its changes

class Store {
 public:
  ObjectPtr find(const StoreKey& key) const;
  // In key order; an empty namespace means all.
  std::vector<ObjectPtr> list(const ResourceType& type, std::string_view namespace_ = {}) const;
  // The kind's objects at a revision that has not been compacted.
  std::vector<ObjectPtr> list_at(const ResourceType& type, std::string_view namespace_,
                                 std::int64_t revision) const;

  // Stores the object with the next revision, which becomes its resourceVersion.
  ObjectPtr put(const StoreKey& key, nlohmann::json object, const std::string& user);
  void erase(const StoreKey& key, const std::string& user);

  std::int64_t revision() const { return revision_; }
  // History is complete only after this change: a watch from below it gets a 410.
  std::int64_t compacted() const { return compacted_; }
  void compact(std::int64_t revision);

  struct Backup {
    std::map<const ResourceType*, std::map<StoreKey, ObjectPtr>> objects;
    std::int64_t revision;
  };
  Backup save() const { return {objects_, revision_}; }
  // As etcd is restored under a running API server: objects and revisions are as they were.
  // Observers hear of it in changes by kRestorer. What comes next takes revisions that were given
  // out before.
  void restore(const Backup& backup);
  // Every change with a revision above this one, oldest first.
  std::vector<const Change*> since(std::int64_t revision) const;

  // Called after each change, within put() and erase(). Observers must not write; they post work
  // instead.
  void observe(std::function<void(const Change&)> observer);

 private:
  void record(Change change);
  void put_back(const StoreKey& key, ObjectPtr object);

  std::map<const ResourceType*, std::map<StoreKey, ObjectPtr>> objects_;
  std::deque<Change> history_;
  std::vector<std::function<void(const Change&)>> observers_;
  std::int64_t revision_ = 1000;
  std::int64_t compacted_ = 0;
};

}  // namespace berth::sim
