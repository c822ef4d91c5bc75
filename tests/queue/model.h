// SPDX-License-Identifier: Apache-2.0
// The reference model: docs/queue-rules.md as a program that anybody can check against the page,
// over plain maps and lists, and slow. It shares the facts with the engine and nothing else.
#pragma once

#include <optional>

#include "tests/queue/cluster_facts.h"

namespace berth::queue::test {

// Without a time nobody is displaced.
Outcome decide_by_the_book(const ClusterFacts& facts, std::size_t window,
                           std::optional<std::int64_t> now = std::nullopt);

}  // namespace berth::queue::test
