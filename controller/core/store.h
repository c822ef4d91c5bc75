// SPDX-License-Identifier: Apache-2.0
// Store<T>: the objects of one kind, in name order, so that equal clusters are iterated in the same
// order. Objects are shared and immutable: a new version is a new object. Copying a store copies
// only pointers.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "apis/kinds/meta.h"

namespace berth {

// A namespace and name to look up; owns neither.
struct KeyView {
  std::string_view namespace_;
  std::string_view name;
  auto operator<=>(const KeyView&) const = default;
};

enum class StoreChange {
  kUnchanged,  // the same facts, whatever the resourceVersion: nothing to reconcile
  kAdded,
  kModified,
  kReplaced,  // another uid under the same name: the old object is gone, a new one exists
};

// How current a store is, as resourceVersions of the API server. Versions of one kind are
// comparable across objects. Both are empty if the source has no versions, for example files.
struct HeardVersions {
  std::string last;  // the latest change in the store, from any source
  std::string all;   // the store has every change up to this version

  static void raise(std::string& to, const std::string& version) {
    const auto order = compare_resource_versions(to, version);
    const bool first = to.empty() && compare_resource_versions(version, version);
    if (first || (order && *order < 0)) to = version;
  }
};

template <class T>
class Store {
 public:
  using Ptr = std::shared_ptr<const T>;

  Store() = default;
  Store(const Store& other) : objects_(other.objects_), heard_(other.heard_) { index_all(); }
  Store& operator=(const Store& other) {
    objects_ = other.objects_;
    heard_ = other.heard_;
    index_all();
    return *this;
  }

  const T* find(std::string_view name) const { return find(std::string_view(), name); }
  const T* find(std::string_view namespace_, std::string_view name) const {
    auto found = by_key_.find(KeyView{namespace_, name});
    return found == by_key_.end() ? nullptr : (*found)->get();
  }

  struct Upserted {
    StoreChange change;
    Ptr old;  // the previous version, or null
    Ptr current;
  };
  Upserted upsert(T object) {
    auto next = std::make_shared<const T>(std::move(object));
    auto found = by_key_.find(view_of(*next));
    if (found == by_key_.end()) {
      by_key_.insert(objects_.insert(next).first);
      return {StoreChange::kAdded, nullptr, next};
    }
    // The key is equal, so the position in both containers stays: only the object changes.
    Ptr& standing = const_cast<Ptr&>(**found);
    Ptr old = std::exchange(standing, next);
    StoreChange change = old->meta.uid != next->meta.uid ? StoreChange::kReplaced
                         : *old == *next                 ? StoreChange::kUnchanged
                                                         : StoreChange::kModified;
    return {change, old, next};
  }
  // The object that was removed, or null.
  Ptr erase(std::string_view namespace_, std::string_view name) {
    auto found = by_key_.find(KeyView{namespace_, name});
    if (found == by_key_.end()) return nullptr;
    const Place place = *found;
    Ptr old = *place;
    by_key_.erase(found);
    objects_.erase(place);
    return old;
  }

  void hear(const std::string& version) { HeardVersions::raise(heard_.last, version); }
  void hear_all(const std::string& version) { HeardVersions::raise(heard_.all, version); }
  const HeardVersions& heard() const { return heard_; }

  std::size_t size() const { return objects_.size(); }
  auto begin() const { return objects_.begin(); }  // of Ptr, in (namespace, name) order
  auto end() const { return objects_.end(); }

 private:
  static KeyView view_of(const T& o) { return {o.meta.namespace_.view(), o.meta.name}; }
  struct Less {
    bool operator()(const Ptr& a, const Ptr& b) const { return view_of(*a) < view_of(*b); }
  };
  using Objects = std::set<Ptr, Less>;
  using Place = typename Objects::const_iterator;

  // A hash index beside the ordered set. Without it each event costs sixteen steps through fifty
  // thousand objects that are far apart in memory, which is most of the cost of an update.
  struct ByKey {
    using is_transparent = void;
    static KeyView view(const Place& place) { return view_of(**place); }
    static KeyView view(const KeyView& key) { return key; }
    std::size_t operator()(const auto& at) const {
      const KeyView key = view(at);
      const std::hash<std::string_view> hash;
      return hash(key.name) * 31 + hash(key.namespace_);
    }
    bool operator()(const auto& a, const auto& b) const { return view(a) == view(b); }
  };
  void index_all() {
    by_key_.clear();
    for (Place place = objects_.begin(); place != objects_.end(); ++place) by_key_.insert(place);
  }

  Objects objects_;
  HeardVersions heard_;
  std::unordered_set<Place, ByKey, ByKey> by_key_;
};

}  // namespace berth
