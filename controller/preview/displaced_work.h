// SPDX-License-Identifier: Apache-2.0
// DisplacedWork: whom an admission would displace, what is lost of each, and when the room that
// they leave is free again. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/time.h"
#include "controller/queue/facts_index.h"
#include "controller/queue/verdict.h"

namespace berth {

struct DisplacedWork {
  std::string workload;
  std::string queue;
  std::int64_t lost_gpu_seconds = 0;  // of work that was not saved
};

// None: the admission displaces nobody.
std::vector<DisplacedWork> displaced_by(const queue::Admission& admission,
                                        const queue::FactsIndex& facts);
// When it is ended, if it begins now; nothing: it has declared nothing.
std::optional<Time> ended_by(const queue::Workload& workload, Time now);

// "displaces Job/nlp/eval of queue nlp, which loses 3h of GPU time that it has not saved"
std::string describe(const DisplacedWork& displaced);
// When whoever was displaced may have the room again.
std::string when_room_is_back(const std::optional<Time>& ended);

}  // namespace berth
