// SPDX-License-Identifier: Apache-2.0
// Store<T>: the objects of one kind, in name order, so that equal clusters are walked equally.
// Objects are shared and never change: a new version is a new object. Copying a store copies
// pointers.
#pragma once

#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "apis/meta.h"

namespace berth {

// A namespace/name as looked up, without owning either.
struct KeyView {
  std::string_view namespace_;
  std::string_view name;
  auto operator<=>(const KeyView&) const = default;
};

enum class StoreChange {
  kUnchanged,  // equal facts, whatever its resourceVersion: nothing to reconcile
  kAdded,
  kModified,
  kReplaced,  // another uid under the same name: the old object is gone, a new one is there
};

template <class T>
class Store {
 public:
  using Ptr = std::shared_ptr<const T>;

  const T* find(std::string_view name) const { return find(std::string_view(), name); }
  const T* find(std::string_view namespace_, std::string_view name) const {
    auto it = objects_.find(KeyView{namespace_, name});
    return it == objects_.end() ? nullptr : it->get();
  }

  struct Upserted {
    StoreChange change;
    Ptr old;  // the version that stood there, or null
    Ptr current;
  };
  Upserted upsert(T object) {
    auto next = std::make_shared<const T>(std::move(object));
    auto it = objects_.find(view_of(*next));
    if (it == objects_.end()) {
      objects_.insert(next);
      return {StoreChange::kAdded, nullptr, next};
    }
    Ptr old = *it;
    StoreChange change = old->meta.uid != next->meta.uid ? StoreChange::kReplaced
                         : *old == *next                 ? StoreChange::kUnchanged
                                                         : StoreChange::kModified;
    auto hint = std::next(it);
    auto place = objects_.extract(it);  // the same key: no other place, no other memory
    place.value() = next;
    objects_.insert(hint, std::move(place));
    return {change, old, next};
  }
  // The object that was removed, or null.
  Ptr erase(std::string_view namespace_, std::string_view name) {
    auto it = objects_.find(KeyView{namespace_, name});
    if (it == objects_.end()) return nullptr;
    Ptr old = *it;
    objects_.erase(it);
    return old;
  }

  std::size_t size() const { return objects_.size(); }
  auto begin() const { return objects_.begin(); }  // of Ptr, in (namespace, name) order
  auto end() const { return objects_.end(); }

 private:
  static KeyView view_of(const T& o) { return {o.meta.namespace_.view(), o.meta.name}; }
  struct Less {
    using is_transparent = void;
    static KeyView view(const Ptr& p) { return view_of(*p); }
    static KeyView view(const KeyView& k) { return k; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) < view(b);
    }
  };
  std::set<Ptr, Less> objects_;
};

}  // namespace berth
