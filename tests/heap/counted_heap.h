// SPDX-License-Identifier: Apache-2.0
// CountedHeap: all memory that this program holds by `new`: counted_heap.cc replaces the operators,
// with sanitizers too. For programs with one thread.
#pragma once

#include <cstddef>

namespace berth {

std::size_t held_bytes();

}  // namespace berth
