// SPDX-License-Identifier: Apache-2.0
// FlatMap: a small map as a sorted vector. Labels, annotations and resource lists have a few to a
// few dozen entries each, and berth holds a hundred thousand of them. A vector needs one
// allocation, and lookup is a binary search.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/text.h"

namespace berth {

template <class V>
class FlatMap {
 public:
  using value_type = std::pair<Text, V>;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  FlatMap() = default;
  FlatMap(std::initializer_list<value_type> entries) {
    for (const value_type& e : entries) set(e.first, e.second);
  }

  // Takes the entries in any order; for equal keys the last one counts. It allocates once, with the
  // exact size: insertion one by one would allocate several times for each of a hundred thousand
  // maps.
  static FlatMap take(std::vector<value_type>& entries) {
    const auto by_key = [](const value_type& a, const value_type& b) { return a.first < b.first; };
    if (!std::is_sorted(entries.begin(), entries.end(), by_key))
      std::stable_sort(entries.begin(), entries.end(), by_key);
    FlatMap map;
    map.entries_.reserve(entries.size());
    for (value_type& entry : entries) {
      if (!map.entries_.empty() && map.entries_.back().first == entry.first)
        map.entries_.back() = std::move(entry);
      else
        map.entries_.push_back(std::move(entry));
    }
    entries.clear();
    return map;
  }

  // nullptr if absent. Valid until the map changes.
  const V* find(std::string_view key) const {
    auto it = position(key);
    return it != entries_.end() && it->first.view() == key ? &it->second : nullptr;
  }
  V* find(std::string_view key) { return const_cast<V*>(std::as_const(*this).find(key)); }
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  V get(std::string_view key, V otherwise = V()) const {
    const V* v = find(key);
    return v ? *v : otherwise;
  }
  void set(Text key, V value) {
    auto it = entries_.begin() + (position(key.view()) - entries_.cbegin());
    if (it != entries_.end() && it->first == key)
      it->second = std::move(value);
    else
      entries_.emplace(it, std::move(key), std::move(value));
  }
  V& operator[](std::string_view key) {
    if (V* v = find(key)) return *v;
    set(Text(key), V());
    return *find(key);
  }
  void erase(std::string_view key) {
    auto it = position(key);
    if (it != entries_.cend() && it->first.view() == key) entries_.erase(it);
  }

  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void shrink_to_fit() { entries_.shrink_to_fit(); }
  bool operator==(const FlatMap&) const = default;

 private:
  const_iterator position(std::string_view key) const {
    return std::lower_bound(
        entries_.cbegin(), entries_.cend(), key,
        [](const value_type& e, std::string_view k) { return e.first.view() < k; });
  }
  std::vector<value_type> entries_;
};

using StringMap = FlatMap<Text>;

}  // namespace berth
