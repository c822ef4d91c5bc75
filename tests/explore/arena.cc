// SPDX-License-Identifier: Apache-2.0
// What `new` gives in berth-sim: a run makes millions of small objects, all in one thread, and the
// general allocator is a fifth of its time. Small blocks come from chunks of one size each, within
// one reserved range, so that a block's address tells its size; what is given back is given out
// next. Sanitizers bring an allocator of their own, which is kept.
#if !defined(__SANITIZE_ADDRESS__)

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kGrain = 16;
constexpr std::size_t kLargest = 1024;  // larger ones are malloc's
constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr std::size_t kRange = std::size_t{1} << 36;  // of addresses; pages come as they are used

struct Free {
  Free* next;
};

Free* free_blocks[kLargest / kGrain + 1];  // by size in grains
std::uint8_t grains_of[kRange / kChunk];   // by chunk
std::byte* range = nullptr;
std::size_t chunks = 0;

[[gnu::noinline]] void* refill(std::size_t grains) {
  if (range == nullptr) {
    void* got = ::mmap(nullptr, kRange, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) std::abort();
    range = static_cast<std::byte*>(got);
  }
  if (chunks == kRange / kChunk) throw std::bad_alloc();
  grains_of[chunks] = static_cast<std::uint8_t>(grains);
  std::byte* chunk = range + kChunk * chunks++;
  const std::size_t size = grains * kGrain;
  for (std::size_t at = kChunk / size * size; at > size;) {  // all but the first, lowest on top
    at -= size;
    auto* block = reinterpret_cast<Free*>(chunk + at);
    block->next = free_blocks[grains];
    free_blocks[grains] = block;
  }
  return chunk;
}

void* allocate(std::size_t size) {
  const std::size_t grains = (size + kGrain - 1) / kGrain + (size == 0);
  if (grains > kLargest / kGrain) {
    if (void* block = std::malloc(size)) return block;
    throw std::bad_alloc();
  }
  Free* block = free_blocks[grains];
  if (block == nullptr) return refill(grains);
  free_blocks[grains] = block->next;
  return block;
}

void release(void* block) {
  const std::size_t at = static_cast<std::size_t>(static_cast<std::byte*>(block) - range);
  if (range == nullptr || at >= kRange) return std::free(block);
  Free*& first = free_blocks[grains_of[at / kChunk]];
  auto* freed = static_cast<Free*>(block);
  freed->next = first;
  first = freed;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* block) noexcept {
  if (block != nullptr) release(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

#endif
