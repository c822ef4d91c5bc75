// SPDX-License-Identifier: Apache-2.0
// AdmissionLedger: admissions in flight, ConfigMap berth-admissions in berth's namespace. An entry
// is written before anything is let go and stands until the workload's own objects show it, so that
// whatever dies between, quota is counted and the next leader goes on. Beside these stand the marks
// of gangs that are taken back (recall.h) or may be restarting (restart.h). Every write carries the
// resourceVersion, and annotation gpu.berth.dev/epoch is the leader's whose plans go by it.
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
#include "controller/queue/facts.h"
#include "controller/queue/heard_before.h"
#include "controller/queue/yields.h"

namespace berth::queue {

// How many entries there may be, and how large the ConfigMap: etcd takes 1.5 MiB, and each write
// carries it whole.
inline constexpr std::size_t kWindow = 512;
inline constexpr std::size_t kMaxLedgerBytes = 400 * 1024;

struct AdmissionLedger {
  const ConfigMap* config_map = nullptr;  // null: it does not exist (yet)
  std::int64_t epoch = 0;
  std::optional<Time> epoch_since;  // by annotation gpu.berth.dev/epoch-since
  std::map<std::string, LedgerFact, std::less<>> entries;    // by the admission's uid
  std::map<std::string, RecallFact, std::less<>> recalls;    // by their keys, one of a workload
  std::map<std::string, RestartFact, std::less<>> restarts;  // likewise
  std::vector<std::string> unreadable;                       // keys whose entry is none
  std::vector<std::string> newer;  // keys whose entry only a later berth can read
  Yields yields;
  HeardBefore heard;

  bool empty() const {
    return entries.empty() && recalls.empty() && restarts.empty() && unreadable.empty() &&
           newer.empty();
  }
};
AdmissionLedger read_admissions(const ConfigMap& config_map);

// {"workload", what an admission's record has (admission_record.h), of a Job "generation", of a
// refused release "refused" and "until", of lost nodes "until" alone, and while somebody has to be
// gone first "ahead": [{"workload", "uid", "since", "evicted", "idle"}]}.
std::string encode_entry(const LedgerFact& entry);
std::optional<LedgerFact> decode_entry(std::string_view text);

// A ledger is berth's if it carries an epoch: in the namespace of NVIDIA's agents every ConfigMap
// is watched.
bool is_admission_ledger(const ConfigMap& config_map);

// The ledgers that stand, read once per change. A view (core/view.h).
class AdmissionLedgers {
 public:
  void follow(const Change<ConfigMap>& change);
  // One without entries if there is none.
  const AdmissionLedger& in(std::string_view namespace_) const;

 private:
  std::map<Text, AdmissionLedger> ledgers_;  // by namespace
};

// Berth's own, as the view has it.
const AdmissionLedger& read_admissions(const Snapshot& snapshot);

// The ledger's change under its resourceVersion, or the create that puts it there. Either leaves it
// with this leader's epoch, and with what it has heard unless that is less than stands there.
using LedgerChanges = std::map<std::string, std::optional<std::string>>;  // nothing: it goes
// Without `yields` they stay.
Write write_admissions(const Snapshot& snapshot, const AdmissionLedger& ledger,
                       const LedgerChanges& changes, std::string reason,
                       const Yields* yields = nullptr);

}  // namespace berth::queue
