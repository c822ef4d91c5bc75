// SPDX-License-Identifier: Apache-2.0
// WriteBarrier: keeps a key from being reconciled with facts older than its own writes. After a
// write of object O with resourceVersion R for key K, it holds K until the cache has O at R or
// later, or O is gone. After five seconds it GETs the object, in case the watch lags or died.
//
// The watch event of a write may arrive before the reply. K is in progress until all replies have
// arrived, and the barrier compares with the cache when the reply arrives. So both orders give the
// same result.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/io/loop.h"

namespace berth {

// An object as the cache has it now.
struct CachedVersion {
  std::string uid;
  std::string resource_version;
  bool terminating = false;
};

class WriteBarrier {
 public:
  enum class Awaits {
    kVersion,  // a change: R or later, another object with the name, or none
    kPresent,  // a creation: R or later, or another object with the name
    kGoing,    // a deletion or eviction: terminating, another object with the name, or none
  };
  struct Hooks {
    // nullopt: absent. An informer must watch the kind.
    std::function<std::optional<CachedVersion>(const ObjectRef&)> cached;
    std::function<void(const ObjectRef&)> refetch;
    std::function<void(const std::string& key)> released;  // the key is no longer held
  };
  WriteBarrier(Loop& loop, Hooks hooks,
               std::chrono::nanoseconds patience = std::chrono::seconds(5));
  WriteBarrier(const WriteBarrier&) = delete;
  WriteBarrier& operator=(const WriteBarrier&) = delete;
  ~WriteBarrier();

  // Call it when the reply to a write arrives. An empty version (kGoing) is not compared.
  void expect(const std::string& key, ObjectRef object, std::string resource_version,
              Awaits awaits);
  bool holds(std::string_view key) const { return held_.contains(key); }
  // Call it for each change in the cache. Cheap if the barrier expects nothing.
  void on_cached(std::string_view kind, std::string_view namespace_, std::string_view name);
  std::size_t size() const { return expectations_.size(); }
  void clear();

 private:
  // An object by name: the cache reports the name's present object.
  struct Place {
    std::string_view kind, namespace_, name;  // of the expectation's own object, which outlives it
    auto operator<=>(const Place&) const = default;
  };
  struct Expectation {
    std::string key;
    ObjectRef object;
    std::string resource_version;
    Awaits awaits;
    int refetches = 0;
    Loop::TimerId timer = 0;
  };
  using Iterator = std::list<Expectation>::iterator;
  bool met(const Expectation& expectation) const;
  static Place place_of(const ObjectRef& object) {
    return {object.kind, object.namespace_, object.name};
  }
  void drop(Iterator it);
  void arm(Iterator it);

  Loop& loop_;
  Hooks hooks_;
  const std::chrono::nanoseconds patience_;
  std::list<Expectation> expectations_;  // usually a few, sometimes thousands
  std::multimap<Place, Iterator> by_place_;
  // keys, with the number of writes that they wait for
  std::map<std::string, std::size_t, std::less<>> held_;
};

}  // namespace berth
