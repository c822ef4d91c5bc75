// SPDX-License-Identifier: Apache-2.0
// RightSize: what each owner's pods hold, how much of that they utilized in the last 30 days by the
// cost ledger, and a smaller request that suffices. Unless the user allows it, no advice weakens
// isolation: the only part of a GPU that berth advises is a MIG instance.
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
  kShare,      // of a GPU shared with other pods, without isolation
  kKeep,       // utilization above half, or no smaller request suffices
  kMixed,      // its pods differ, or hold shared GPUs already
  kTooLittle,  // less than one day of measurements
};

struct OwnerAdvice {
  std::string owner;      // "serving/Deployment/llama"
  std::string holds;      // per pod: "nvidia.com/gpu"
  std::int64_t each = 0;  // count per pod; 0: the pods differ
  std::int64_t pods = 0;
  std::optional<int> used;  // percent of the measured part of what it held
  // Per GPU: the most memory that a pod used, and the highest utilization of one measurement in
  // percent.
  std::optional<std::int64_t> memory_mib;
  std::optional<std::int64_t> peak;  // also absent if one day has no record of it
  Verdict verdict = Verdict::kKeep;
  std::string instead;  // per pod: "nvidia.com/mig-3g.40gb"
  std::string profile;  // "3g.40gb"; empty: the advice is no MIG instance
  std::string pool;     // the shared pool and how it shares: "development, TimeSlicing by 4"
  std::int64_t instead_each = 0;
  int memory_gb = 0;       // per pod, with the advice
  std::int64_t part = 0;   // percent of the present GPUs that the advice can utilize
  cost::Micros costs = 0;  // per month, now
  cost::Micros month = 0;  // saved per month
  std::string currency;
};

// The owner that a pod's GPUs count for: "serving/Deployment/llama".
std::string owner_key(const Pod& pod);

// The percentage of its GPUs that a pod must keep; for an owner with measurements.
std::int64_t room_for(const OwnerAdvice& advice);

// The conditions that the owner must verify first: ", if 40 GB suffice, and bursts to 90%
// may take longer". Empty: nothing.
std::string provided(const OwnerAdvice& advice);

enum class Isolation { kKept, kMayWeaken };

// Advice for owners of pods on nodes with a price, ordered by saved cost, then by name.
std::vector<OwnerAdvice> advise_owners(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                       Isolation isolation = Isolation::kKept);

}  // namespace berth::advise
