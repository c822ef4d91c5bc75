// SPDX-License-Identifier: Apache-2.0
#include "apis/text.h"

#include <cstring>
#include <new>
#include <unordered_set>

namespace berth {

struct TextPool {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view v) const { return std::hash<std::string_view>{}(v); }
    std::size_t operator()(const Text::Rep* r) const {
      return (*this)(std::string_view(r->data, r->size));
    }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view view(std::string_view v) { return v; }
    static std::string_view view(const Text::Rep* r) { return {r->data, r->size}; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) == view(b);
    }
  };
  std::unordered_set<Text::Rep*, Hash, Equal> reps;

  // Never destroyed: statics that hold Texts may outlive it.
  static TextPool& instance() {
    static auto* pool = new TextPool;
    return *pool;
  }
};

Text::Rep* Text::acquire(std::string_view value) {
  if (value.empty()) return nullptr;
  TextPool& pool = TextPool::instance();
  if (auto it = pool.reps.find(value); it != pool.reps.end()) {
    ++(*it)->references;
    return *it;
  }
  void* memory = ::operator new(offsetof(Rep, data) + value.size());
  Rep* rep = static_cast<Rep*>(memory);
  rep->references = 1;
  rep->size = static_cast<std::uint32_t>(value.size());
  std::memcpy(rep->data, value.data(), value.size());
  pool.reps.insert(rep);
  return rep;
}

void Text::destroy(Rep* rep) {
  TextPool::instance().reps.erase(rep);
  ::operator delete(rep);
}

std::size_t Text::pool_size() { return TextPool::instance().reps.size(); }

}  // namespace berth
