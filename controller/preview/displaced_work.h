// SPDX-License-Identifier: Apache-2.0
// DisplacedWork: the workloads that an admission would evict, the work that each loses, and when
// its GPUs are free again. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/facts_index.h"

namespace berth {

struct DisplacedWork {
  std::string workload;
  std::string queue;
  std::int64_t lost_gpu_seconds = 0;  // work since the last checkpoint
};

// Empty: the admission evicts no workload.
std::vector<DisplacedWork> displaced_by(const queue::Admission& admission,
                                        const queue::FactsIndex& facts);
// The end of the workload if it starts now; nullopt: it declares no duration.
std::optional<Time> ended_by(const queue::Workload& workload, Time now);

// "displaces Job/nlp/eval of queue nlp, which loses 3h of GPU time that it has not saved"
std::string describe(const DisplacedWork& displaced);
// When the evicted workloads may get their GPUs back.
std::string when_room_is_back(const std::optional<Time>& ended);

}  // namespace berth
