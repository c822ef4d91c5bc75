// SPDX-License-Identifier: Apache-2.0
// RightSize: what each owner of pods holds, how much of it was at work in the last 30 days by the
// ledger of costs, and the smaller thing that would do. Nothing weakens isolation unless asked to:
// no share of a GPU is advised but a MIG instance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/cost/money.h"

namespace berth::advise {

enum class Verdict {
  kFewerGpus,
  kProfile,
  kShare,      // of a GPU that others use too: kept apart no more
  kKeep,       // at work for more than half, or nothing smaller does
  kMixed,      // its pods hold different things, or shares already
  kTooLittle,  // measured for less than a day's worth
};

struct OwnerAdvice {
  std::string owner;      // "serving/Deployment/llama"
  std::string holds;      // a pod: "nvidia.com/gpu"
  std::int64_t each = 0;  // so many of it; 0: not all the same
  std::int64_t pods = 0;
  std::optional<int> used;  // percent of what it held and was measured
  // Of one GPU, the most that a pod had in use, and in percent at work in a round of measurements.
  std::optional<std::int64_t> memory_mib;
  std::optional<std::int64_t> peak;  // absent as well if a day of it is not known
  Verdict verdict = Verdict::kKeep;
  std::string instead;  // a pod: "nvidia.com/mig-3g.40gb"
  std::string profile;  // "3g.40gb"; empty: of no GPU that is cut
  std::string pool;     // whose GPUs are shared, and how: "development, TimeSlicing by 4"
  std::int64_t instead_each = 0;
  int memory_gb = 0;       // that a pod has then
  std::int64_t part = 0;   // percent, of what it holds now, that it can then have at work
  cost::Micros costs = 0;  // a month, as it is
  cost::Micros month = 0;  // that it saves
  std::string currency;
};

// "serving/Deployment/llama": whom a pod's GPUs count for.
std::string owner_key(const Pod& pod);

// Percent of what a pod holds that has to be left to it; of who was measured.
std::int64_t room_for(const OwnerAdvice& advice);

// What is left to whoever follows the advice to find out: ", if 40 GB suffice, and bursts to 90%
// may take longer". Empty: nothing.
std::string provided(const OwnerAdvice& advice);

enum class Isolation { kKept, kMayWeaken };

// Of owners of pods on nodes with a price: what saves most first, and by name.
std::vector<OwnerAdvice> advise_owners(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                       Isolation isolation = Isolation::kKept);

}  // namespace berth::advise
