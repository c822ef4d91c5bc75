// SPDX-License-Identifier: Apache-2.0
// Slots: the ledger of unavailable nodes, ConfigMap berth-node-slots in berth's namespace, with one
// entry per node. Every write carries its resourceVersion, so two leaders never both take the last
// slot. It also has annotation gpu.berth.dev/epoch, which each new leader raises before its first
// plan, so that a write of an earlier leader is refused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

struct RolloutRecord;

struct Slot {
  std::string node_uid;
  std::string holder;      // "MIGLayout/NAME" or "Health"
  std::int64_t seq = 0;    // the node's rollout annotation gets it with the cordon
  std::int64_t epoch = 0;  // of the leader that claimed it
  Time since{};
  // Whose the cordon is, once the node's record has said so. Users and their tools may damage the
  // record, but not this.
  std::optional<bool> berth_cordoned;
  std::int64_t lost = 0;  // how often the record was lost
  // The record is lost; it is written again from here, but not before this time.
  std::optional<Time> recall;
  bool operator==(const Slot&) const = default;

  // Returns the name of the MIGLayout that holds it; nothing if another holder does.
  std::optional<std::string_view> layout() const;
};
std::string layout_holder(std::string_view layout);

// {"uid","holder","seq","epoch","since"}, in this order, and then, if known,
// "berthCordoned","lost","recall".
std::string encode_slot(const Slot& slot);
std::optional<Slot> decode_slot(std::string_view text);

// Whether the node's record existed since the slot was taken and is lost now: removed, overwritten,
// or replaced by an older one.
bool is_record_lost(const Slot& slot, const RolloutRecord& record);

struct SlotLedger {
  const ConfigMap* config_map = nullptr;  // null: the ConfigMap does not exist
  std::int64_t epoch = 0;
  std::map<std::string, Slot, std::less<>> slots;  // by node name
  std::vector<std::string> unreadable;             // node names whose entry is not a slot

  const Slot* find(std::string_view node) const;
};
SlotLedger read_ledger(const ConfigMap* config_map);

// The ledgers that exist, parsed once per change, one for each namespace with such a ConfigMap. A
// view (core/view.h).
class SlotLedgers {
 public:
  void follow(const Change<ConfigMap>& change);
  // Returns an empty ledger if the namespace has none.
  const SlotLedger& in(std::string_view namespace_) const;

 private:
  std::map<Text, SlotLedger> ledgers_;
};

// Returns the ledger in berth's own namespace, from the view.
const SlotLedger& read_ledger(const ClusterState& cluster, const Settings& settings);
inline const SlotLedger& read_ledger(const Snapshot& snapshot) {
  return read_ledger(snapshot.cluster, snapshot.settings);
}
ObjectRef ledger_ref(const Settings& settings, const ConfigMap* config_map);

// Returns a merge patch with uid and resourceVersion; an entry with no value is removed. Without a
// ledger, it returns the create, with the epoch.
using SlotChanges = std::map<std::string, std::optional<Slot>>;
Write write_slots(const Snapshot& snapshot, const SlotLedger& ledger, const SlotChanges& changes,
                  std::string reason);

// The first write of a new leader, before its first plan, and the epoch that it has once the write
// succeeds. `ledger` must be fresh from the server (null: 404). A 409 means that another leader was
// faster: fetch it and claim again, if the lease is still ours. `above` is another ledger's epoch.
struct EpochClaim {
  Write write;
  std::int64_t epoch = 0;
};
EpochClaim claim_epoch(const ConfigMap* ledger, const Settings& settings, std::int64_t above = 0);

}  // namespace berth
