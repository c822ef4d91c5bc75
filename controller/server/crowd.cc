// SPDX-License-Identifier: Apache-2.0
#include "controller/server/crowd.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace berth {
namespace {

std::optional<PeerAddress> crowding_peer(const std::vector<Standing>& all) {
  std::map<PeerAddress, std::size_t> counts;
  for (const Standing& one : all)
    if (++counts[one.peer] > all.size() / 2) return one.peer;
  return std::nullopt;
}

}  // namespace

std::size_t choose_who_goes(const std::vector<Standing>& all) {
  const std::optional<PeerAddress> crowding = crowding_peer(all);
  const auto may_stay = [&](const Standing& one) { return crowding && one.peer != *crowding; };
  std::size_t fresh = 0, known = 0;
  for (const Standing& one : all)
    if (!may_stay(one) && one.state != Standing::State::kTold)
      ++(one.state == Standing::State::kNew ? fresh : known);
  const auto of_the_fewer = [&](const Standing& one) {
    return one.state != Standing::State::kTold &&
           (one.state == Standing::State::kNew) == (known > fresh);
  };
  const auto rank = [&](const Standing& one) {
    return std::tuple(may_stay(one), of_the_fewer(one), one.state, one.since_ms);
  };
  const auto goes = std::min_element(
      all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return static_cast<std::size_t>(goes - all.begin());
}

}  // namespace berth
