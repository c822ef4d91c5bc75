// SPDX-License-Identifier: Apache-2.0
// CountedHeap: what this program holds by `new`, all of it: counted_heap.cc stands in for the
// operators, with sanitizers too. For programs of one thread.
#pragma once

#include <cstddef>

namespace berth {

std::size_t held_bytes();

}  // namespace berth
