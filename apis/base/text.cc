// SPDX-License-Identifier: Apache-2.0
#include "apis/base/text.h"

#include <cstring>
#include <new>
#include <vector>

namespace berth {

// An open-addressed hash table, because berth looks up every label of every event here. The hash is
// beside each string, so that a lookup compares only strings with an equal hash.
struct TextPool {
  struct Slot {
    std::uint32_t hash = 0;
    Text::Rep* rep = nullptr;  // nullptr: free
  };
  std::vector<Slot> slots{std::vector<Slot>(1024)};  // a power of two, at most half full
  std::size_t used = 0;
  std::size_t bytes = 0;

  static std::uint32_t hash_of(std::string_view text) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
  }
  std::size_t after(std::size_t at) const { return (at + 1) & (slots.size() - 1); }
  std::size_t home_of(std::uint32_t hash) const { return hash & (slots.size() - 1); }

  // The string's slot, or the free one where it belongs.
  Slot& slot_for(std::string_view text, std::uint32_t hash) {
    std::size_t at = home_of(hash);
    for (; slots[at].rep != nullptr; at = after(at)) {
      const Text::Rep* rep = slots[at].rep;
      if (slots[at].hash == hash && std::string_view(rep->data, rep->size) == text) break;
    }
    return slots[at];
  }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (const Slot& slot : old) {
      if (slot.rep == nullptr) continue;
      std::size_t at = home_of(slot.hash);
      while (slots[at].rep != nullptr) at = after(at);
      slots[at] = slot;
    }
  }
  // Closes the gap: moves displaced entries back, so that no lookup ends too early.
  void erase(Slot& slot) {
    std::size_t gap = static_cast<std::size_t>(&slot - slots.data());
    for (std::size_t at = after(gap); slots[at].rep != nullptr; at = after(at)) {
      const std::size_t mask = slots.size() - 1;
      const std::size_t away = (at - home_of(slots[at].hash)) & mask;
      if (away < ((at - gap) & mask)) continue;
      slots[gap] = slots[at];
      gap = at;
    }
    slots[gap] = Slot();
    --used;
  }

  // Never destroyed, because static objects that hold Texts may live longer.
  static TextPool& instance() {
    static auto* pool = new TextPool;
    return *pool;
  }
};

Text::Rep* Text::acquire(std::string_view value) {
  if (value.empty()) return nullptr;
  TextPool& pool = TextPool::instance();
  const std::uint32_t hash = TextPool::hash_of(value);
  TextPool::Slot* slot = &pool.slot_for(value, hash);
  if (slot->rep != nullptr) {
    ++slot->rep->references;
    return slot->rep;
  }
  void* memory = ::operator new(offsetof(Rep, data) + value.size());
  Rep* rep = static_cast<Rep*>(memory);
  rep->references = 1;
  rep->size = static_cast<std::uint32_t>(value.size());
  std::memcpy(rep->data, value.data(), value.size());
  *slot = {hash, rep};
  pool.bytes += value.size();
  if (++pool.used * 2 > pool.slots.size()) pool.grow();
  return rep;
}

void Text::destroy(Rep* rep) {
  TextPool& pool = TextPool::instance();
  const std::string_view text(rep->data, rep->size);
  pool.bytes -= text.size();
  pool.erase(pool.slot_for(text, TextPool::hash_of(text)));
  ::operator delete(rep);
}

std::size_t Text::pool_size() { return TextPool::instance().used; }

std::size_t Text::pool_bytes() { return TextPool::instance().bytes; }

}  // namespace berth
