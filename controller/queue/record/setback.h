// SPDX-License-Identifier: Apache-2.0
// Setback: the Job was admitted and not all of its pods were Ready in time. Annotation
// gpu.berth.dev/never-ready as JSON {times, generation, until}, written when berth suspends the
// Job. It stays while the Job runs again, and berth removes it once all pods have been Ready.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/time.h"
#include "apis/kinds/core.h"
#include "controller/core/plan.h"

namespace berth::queue {

struct Setback {
  std::int64_t times = 0;
  std::int64_t generation = 0;  // of the spec after the write: a change of the spec ends the wait
  // Left out of the queue until then; absent: its wait is over, or it has no end.
  std::optional<Time> until;
  bool operator==(const Setback&) const = default;
};

std::string encode_setback(const Setback& setback);
// Returns nothing if the text is not a setback.
std::optional<Setback> decode_setback(std::string_view text);
std::optional<Setback> setback_on(const ObjectMeta& meta);

// Returns the number of setbacks that keep the Job out of its queue now; 0: none.
std::int64_t setbacks_that_hold(const berth::Job& job);

// Suspends the Job and writes its next setback, for the generation that this write creates.
Write set_back(const berth::Job& job, Time now);
// end_backoff() ends the wait and keeps the count. forget_setbacks() removes the annotation.
Write end_backoff(const berth::Job& job);
Write forget_setbacks(const berth::Job& job);

}  // namespace berth::queue
