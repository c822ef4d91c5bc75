// SPDX-License-Identifier: Apache-2.0
// AdmissionLedger: the admissions in flight, in ConfigMap berth-admissions in berth's namespace.
// berth writes an entry before it releases a workload. The entry stays until the workload's own
// objects show the admission. So if berth or the API server fails in between, the quota stays
// charged and the next leader continues. The ledger also holds marks of gangs that are taken back
// (recall.h) or may be restarting (restart.h). Every write carries the resourceVersion. The
// annotation gpu.berth.dev/epoch names the leader whose plans use the ledger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/core/view.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/record/heard_before.h"
#include "controller/queue/record/yields.h"

namespace berth::queue {

// The most entries, and the most bytes of the ConfigMap. etcd takes 1.5 MiB, and each write carries
// the whole ConfigMap.
inline constexpr std::size_t kWindow = 512;
inline constexpr std::size_t kMaxLedgerBytes = 400 * 1024;

struct AdmissionLedger {
  const ConfigMap* config_map = nullptr;  // null: the ConfigMap does not exist
  std::int64_t epoch = 0;
  std::optional<Time> epoch_since;                         // annotation gpu.berth.dev/epoch-since
  std::map<std::string, LedgerFact, std::less<>> entries;  // by uid of the admission
  // By mark key, one per workload.
  std::map<std::string, RecallFact, std::less<>> recalls;
  // By mark key, one per workload.
  std::map<std::string, RestartFact, std::less<>> restarts;
  std::vector<std::string> unreadable;  // keys whose text is not a valid entry
  std::vector<std::string> newer;       // keys whose entry only a later berth can read
  Yields yields;
  HeardBefore heard;

  bool empty() const {
    return entries.empty() && recalls.empty() && restarts.empty() && unreadable.empty() &&
           newer.empty();
  }
};
AdmissionLedger read_admissions(const ConfigMap& config_map);

// An entry is a JSON object. It has "workload" and the members of an admission record
// (admission_record.h). A Job's entry has "generation". An entry whose release was refused has
// "refused" and "until". An entry that lost its nodes has only "until". An entry that waits for
// other workloads has "ahead": [{"workload", "uid", "since", "evicted", "idle"}].
std::string encode_entry(const LedgerFact& entry);
std::optional<LedgerFact> decode_entry(std::string_view text);

// A ConfigMap is berth's ledger only if it carries an epoch. In the namespace of NVIDIA's node
// components berth watches every ConfigMap.
bool is_admission_ledger(const ConfigMap& config_map);

// The ledgers that exist, parsed once per change. A view (core/view.h).
class AdmissionLedgers {
 public:
  void follow(const Change<ConfigMap>& change);
  // Returns an empty ledger if the namespace has none.
  const AdmissionLedger& in(std::string_view namespace_) const;

 private:
  std::map<Text, AdmissionLedger> ledgers_;  // by namespace
};

// Returns the ledger in berth's own namespace, from the view.
const AdmissionLedger& read_admissions(const Snapshot& snapshot);

// By key, the new text; no value: remove the key.
using LedgerChanges = std::map<std::string, std::optional<std::string>>;

// Patches the ledger under its resourceVersion, or creates it. Both set this leader's epoch and the
// versions that it has seen, unless the ledger already records later versions. If `yields` is null,
// the yields annotation stays as it is.
Write write_admissions(const Snapshot& snapshot, const AdmissionLedger& ledger,
                       const LedgerChanges& changes, std::string reason,
                       const Yields* yields = nullptr);

}  // namespace berth::queue
