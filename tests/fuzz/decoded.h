// SPDX-License-Identifier: Apache-2.0
// Shared by the checks of lists and watches: decodes one text twice, and describes how two outcomes
// differ.
#pragma once

#include <string>
#include <type_traits>

#include "apis/codec/decode.h"
#include "apis/kinds/watched_kinds.h"

namespace berth::test {

// Calls look.operator()<T>() for each kind that berth decodes.
template <class Look>
void each_kind(Look&& look) {
  Watched::each(look);
  look.template operator()<Lease>();
}

template <class T>
bool same(const T& a, const T& b) {
  return a == b && a.meta.resource_version == b.meta.resource_version;
}
template <class T>
bool same(const WatchEvent<T>& a, const WatchEvent<T>& b) {
  return a.type == b.type && same(a.object, b.object) &&
         a.initial_events_end == b.initial_events_end && describe(a.error) == describe(b.error);
}
template <class T>
bool same(const ListPage<T>& a, const ListPage<T>& b) {
  if (a.resource_version != b.resource_version || a.continue_token != b.continue_token ||
      a.items.size() != b.items.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same(a.items[i], b.items[i])) return false;
  return true;
}

// Whether two outcomes are equal; errors by their texts.
template <class T>
bool same(const Result<T>& a, const Result<T>& b) {
  if (a.has_value() != b.has_value()) return false;
  return a.has_value() ? same(*a, *b) : describe(a.error()) == describe(b.error());
}

// A useless error: without text, or longer than the input.
template <class T>
std::string odd_error(const Result<T>& result, std::size_t input) {
  if (result.has_value()) return {};
  const std::string text = describe(result.error());
  if (result.error().message.empty()) return "an error without words";
  return text.size() > input + 1000 ? "an error longer than its input: " + text : std::string();
}

}  // namespace berth::test
