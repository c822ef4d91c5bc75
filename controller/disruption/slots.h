// SPDX-License-Identifier: Apache-2.0
// Slots: the ledger of nodes that are out, ConfigMap berth-node-slots in berth's namespace. One
// entry per node; every write of it carries its resourceVersion, so two leaders never both take the
// last slot, and annotation gpu.berth.dev/epoch, which each new leader raises before its first
// plan, so that a deposed leader's write is refused.
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
  std::int64_t seq = 0;    // the node's rollout annotation reaches it with the cordon
  std::int64_t epoch = 0;  // the leader that claimed it
  Time since{};
  // Whose the cordon is, from when the node's record has said so: what people or their tools do to
  // the record, they do not do to this.
  std::optional<bool> berth_cordoned;
  std::int64_t lost = 0;       // how often the record was gone
  std::optional<Time> recall;  // it is gone, and is written anew from here, but not before
  bool operator==(const Slot&) const = default;

  // The name of the MIGLayout that holds it; nothing if the holder is none.
  std::optional<std::string_view> layout() const;
};
std::string layout_holder(std::string_view layout);

// {"uid","holder","seq","epoch","since"}, in this order, and what is known of the rest:
// "berthCordoned","lost","recall".
std::string encode_slot(const Slot& slot);
std::optional<Slot> decode_slot(std::string_view text);

// Whether the node's record has been there since the slot was taken, and is not any more: taken
// away, overwritten, or an older one put in its place.
bool is_record_lost(const Slot& slot, const RolloutRecord& record);

struct SlotLedger {
  const ConfigMap* config_map = nullptr;  // null: it does not exist (yet)
  std::int64_t epoch = 0;
  std::map<std::string, Slot, std::less<>> slots;  // by node name
  std::vector<std::string> unreadable;             // node names whose entry is not a slot

  const Slot* find(std::string_view node) const;
};
SlotLedger read_ledger(const ConfigMap* config_map);

// The ledgers that stand, read once per change: one for each namespace with such a ConfigMap. A
// view (core/view.h).
class SlotLedgers {
 public:
  void follow(const Change<ConfigMap>& change);
  // One without entries if there is none.
  const SlotLedger& in(std::string_view namespace_) const;

 private:
  std::map<Text, SlotLedger> ledgers_;
};

// Berth's own, as the view has it.
const SlotLedger& read_ledger(const ClusterState& cluster, const Settings& settings);
inline const SlotLedger& read_ledger(const Snapshot& snapshot) {
  return read_ledger(snapshot.cluster, snapshot.settings);
}
ObjectRef ledger_ref(const Settings& settings, const ConfigMap* config_map);

// The ledger's change as a merge patch that carries uid and resourceVersion: nothing frees the
// entry. Without a ledger, the create that puts it there, with the epoch.
using SlotChanges = std::map<std::string, std::optional<Slot>>;
Write write_slots(const Snapshot& snapshot, const SlotLedger& ledger, const SlotChanges& changes,
                  std::string reason);

// What a new leader sends before its first plan, and the epoch that is its own once the write has
// succeeded. `ledger` must be fresh from the server (null: 404). A 409 means another leader was
// quicker: fetch and claim again, if the lease is still ours. `above` is what another ledger
// carries.
struct EpochClaim {
  Write write;
  std::int64_t epoch = 0;
};
EpochClaim claim_epoch(const ConfigMap* ledger, const Settings& settings, std::int64_t above = 0);

}  // namespace berth
