// SPDX-License-Identifier: Apache-2.0
// Setback: that a Job was let go and not all of its pods were Ready in time, and how often in a
// row. Annotation gpu.berth.dev/never-ready as JSON {times, generation, until}, written as the Job
// is suspended; it counts on while the Job runs again, and goes once all its pods have been Ready.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/core.h"
#include "apis/time.h"
#include "controller/core/plan.h"

namespace berth::queue {

struct Setback {
  std::int64_t times = 0;
  std::int64_t generation = 0;  // of the Job's spec then: whoever changes it ends the wait
  std::optional<Time> until;    // it is left out of the queue; nothing: it has waited, or for good
  bool operator==(const Setback&) const = default;
};

std::string encode_setback(const Setback& setback);
// Nothing if that is none.
std::optional<Setback> decode_setback(std::string_view text);
std::optional<Setback> setback_on(const ObjectMeta& meta);

// How many keep the Job out of its queue now; 0: it is in it.
std::int64_t setbacks_that_hold(const berth::Job& job);

// It is taken back for one more, which stands there of its spec as it is after that write.
Write set_back(const berth::Job& job, Time now);
// It has waited, and what counts its setbacks stays.
Write end_backoff(const berth::Job& job);
Write forget_setbacks(const berth::Job& job);

}  // namespace berth::queue
