// SPDX-License-Identifier: Apache-2.0
#include "tests/heap/counted_heap.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace berth {
namespace {

std::size_t held = 0;

}  // namespace

std::size_t held_bytes() { return held; }

}  // namespace berth

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size);
  if (memory != nullptr) berth::held += malloc_usable_size(memory);
  return memory;
}

void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  berth::held -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
