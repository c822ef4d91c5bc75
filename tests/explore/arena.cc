// SPDX-License-Identifier: Apache-2.0
// The allocator of berth-sim. A run allocates millions of small objects in one thread, and the
// general allocator takes a fifth of its time. Blocks come from chunks of one size each, within one
// reserved range, so a block's address gives its size; freed blocks are reused first. Sanitizers
// keep their own allocator.
//
// Runs fork often, and a page fault costs as much as a hundred objects. The range requests huge
// pages, which several chunks share, and a forked process starts with new chunks. It never reuses
// its parent's blocks, because even a note in them would copy the page.
#if !defined(__SANITIZE_ADDRESS__)

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <utility>

namespace {

// Sizes grow by a fixed step; above the last fine one, by a quarter of the power of two below.
constexpr std::size_t kGrain = 16;
constexpr std::size_t kFine = 1024;
constexpr std::size_t kFineClasses = kFine / kGrain + 1;
constexpr std::size_t kLargest = 8192;  // malloc serves larger ones
constexpr std::size_t kClasses = kFineClasses + 4 * 3;
constexpr std::size_t kChunk = std::size_t{1} << 14;
constexpr std::size_t kRange = std::size_t{1} << 35;  // of addresses; pages are mapped on first use
constexpr std::size_t kHugePage = std::size_t{1} << 21;

constexpr std::size_t class_of(std::size_t bytes) {
  if (bytes <= kFine) return (bytes + kGrain - 1) / kGrain + (bytes == 0);
  const int power = std::bit_width(bytes - 1) - 1;  // 10 for 1025 to 2048
  const std::size_t quarter = (bytes - 1) >> (power - 2);
  return kFineClasses + static_cast<std::size_t>(power - 10) * 4 + (quarter - 4);
}

constexpr std::size_t size_of(std::size_t size_class) {
  if (size_class < kFineClasses) return size_class * kGrain;
  const std::size_t coarse = size_class - kFineClasses;
  return (coarse % 4 + 5) << (coarse / 4 + 8);
}
static_assert(size_of(class_of(1025)) == 1280 && size_of(class_of(1280)) == 1280);
static_assert(size_of(class_of(1281)) == 1536 && class_of(kLargest) == kClasses - 1);
static_assert(size_of(kClasses - 1) == kLargest);

struct Free {
  Free* next;
};

struct Rest {
  std::byte* next = nullptr;
  std::byte* end = nullptr;
};

// By class: freed blocks, and the unused rest of the last chunk.
Free* free_blocks[kClasses];
Rest rests[kClasses];
std::uint8_t class_at[kRange / kChunk];  // by chunk
std::byte* inherited = nullptr;          // from here to `range` it belongs to the parent
std::byte* range = nullptr;
std::size_t range_size = 0;
std::size_t chunks = 0;

void begin_anew() {
  std::ranges::fill(free_blocks, nullptr);
  std::ranges::fill(rests, Rest());
  const std::size_t used = (chunks * kChunk + kHugePage - 1) / kHugePage * kHugePage;
  range += used;
  range_size -= used;
  chunks = 0;
}

void reserve() {
  void* got = ::mmap(nullptr, kRange + kHugePage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) std::abort();
  range = static_cast<std::byte*>(got);
  range += (kHugePage - reinterpret_cast<std::uintptr_t>(got) % kHugePage) % kHugePage;
  range_size = kRange;
  inherited = range;
  ::madvise(range, kRange, MADV_HUGEPAGE);  // may be unavailable
  ::pthread_atfork(nullptr, nullptr, begin_anew);
}

void* take_chunk(std::size_t size_class) {
  if (range == nullptr) reserve();
  if (chunks == range_size / kChunk) throw std::bad_alloc();
  class_at[chunks] = static_cast<std::uint8_t>(size_class);
  std::byte* chunk = range + kChunk * chunks++;
  const std::size_t size = size_of(size_class);
  rests[size_class] = {.next = chunk + size, .end = chunk + kChunk / size * size};
  return chunk;
}

[[gnu::noinline]] void* allocate_fresh(std::size_t size_class) {
  Rest& rest = rests[size_class];
  if (rest.next == rest.end) return take_chunk(size_class);
  return std::exchange(rest.next, rest.next + size_of(size_class));
}

[[gnu::noinline]] void* allocate_elsewhere(std::size_t bytes) {
  if (void* block = std::malloc(bytes)) return block;
  throw std::bad_alloc();
}

void* allocate(std::size_t bytes) {
  if (bytes > kLargest) return allocate_elsewhere(bytes);
  const std::size_t size_class = class_of(bytes);
  Free* block = free_blocks[size_class];
  if (block == nullptr) return allocate_fresh(size_class);
  free_blocks[size_class] = block->next;
  return block;
}

[[gnu::noinline]] void release_elsewhere(void* block) {
  if (std::less<>()(block, inherited) || !std::less<>()(block, range)) std::free(block);
}

void release(void* block) {
  const std::size_t at = static_cast<std::size_t>(static_cast<std::byte*>(block) - range);
  if (at >= range_size) return release_elsewhere(block);
  Free*& first = free_blocks[class_at[at / kChunk]];
  auto* freed = static_cast<Free*>(block);
  freed->next = first;
  first = freed;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }

#else

// For short, forked runs that can be replayed: no allocation traces (use
// ASAN_OPTIONS=malloc_context_size=30 with the replay line), and a quarantine of 16 MiB instead of
// 256, since a run would have to map all of its pages.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "malloc_context_size=1:quarantine_size_mb=16:thread_local_quarantine_size_kb=256";
}

#endif
