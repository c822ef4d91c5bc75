// SPDX-License-Identifier: Apache-2.0
// WriteBarrier: a key is not reconciled on facts older than its own writes. After a write of object
// O with resourceVersion R for key K, K is held until the cache has O at R or later, or sees it
// gone; after five seconds the object is fetched live, past a watch that lags or died.
//
// The watch event of a write may arrive before the reply to it. K is in work until every reply is
// in, so the cache is simply compared when the reply is: either order gives the same.
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
    kVersion,  // a change: R or later, or another object under the name, or none
    kPresent,  // a creation: R or later, or another object under the name
    kGoing,    // a deletion or eviction: terminating, another object under the name, or none
  };
  struct Hooks {
    // Nothing: absent. The kind must be one that informers keep.
    std::function<std::optional<CachedVersion>(const ObjectRef&)> cached;
    std::function<void(const ObjectRef&)> refetch;
    std::function<void(const std::string& key)> released;  // the key holds nothing any more
  };
  WriteBarrier(Loop& loop, Hooks hooks,
               std::chrono::nanoseconds patience = std::chrono::seconds(5));
  WriteBarrier(const WriteBarrier&) = delete;
  WriteBarrier& operator=(const WriteBarrier&) = delete;
  ~WriteBarrier();

  // When the reply to a write is in. An empty version (kGoing) is not compared.
  void expect(const std::string& key, ObjectRef object, std::string resource_version,
              Awaits awaits);
  bool holds(std::string_view key) const { return held_.contains(key); }
  // The cache has news of the object. Cheap when nothing is expected.
  void on_cached(std::string_view kind, std::string_view namespace_, std::string_view name);
  std::size_t size() const { return expectations_.size(); }
  void clear();

 private:
  // An object by its name: whichever has it is what the cache tells of.
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
  std::list<Expectation> expectations_;  // a handful, or thousands for a while
  std::multimap<Place, Iterator> by_place_;
  std::map<std::string, std::size_t, std::less<>> held_;  // keys, by how many they wait for
};

}  // namespace berth
