// SPDX-License-Identifier: Apache-2.0
// RightSize: what each owner of pods holds, how much of it was at work in the last 30 days by the
// ledger of costs, and the smaller thing that would do. Nothing here weakens isolation: no share of
// a GPU is advised but a MIG instance.
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
  Verdict verdict = Verdict::kKeep;
  std::string instead;  // a pod: "nvidia.com/mig-3g.40gb"
  std::int64_t instead_each = 0;
  int memory_gb = 0;       // that a pod has then
  cost::Micros month = 0;  // that it saves
  std::string currency;
};

// Of owners of pods on nodes with a price: what saves most first, and by name.
std::vector<OwnerAdvice> advise_owners(const Snapshot& snapshot, const GPUClusterPolicy& policy);

}  // namespace berth::advise
