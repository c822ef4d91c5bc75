// SPDX-License-Identifier: Apache-2.0
// The reference model: docs/queue-rules.md as a slow program over plain maps and lists, which
// readers can compare with the page. It shares only the facts with the engine.
#pragma once

#include <optional>

#include "tests/queue/cluster_facts.h"

namespace berth::queue::test {

// Without `now` it preempts nothing.
Outcome decide_by_the_book(const ClusterFacts& facts, std::size_t window,
                           std::optional<std::int64_t> now = std::nullopt);

}  // namespace berth::queue::test
