// SPDX-License-Identifier: Apache-2.0
// The lightest choice that suffices, compared with every other choice.
#include "controller/queue/cycle/lightest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace berth::queue {
namespace {

// Items with these weights on nodes; a choice suffices with enough weight on one node.
struct Case {
  std::vector<std::int64_t> weights;
  std::vector<int> nodes;
  std::int64_t wanted = 0;

  bool suffices(const std::vector<bool>& taken) const {
    std::vector<std::int64_t> free(4);
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (taken[i]) free[static_cast<std::size_t>(nodes[i])] += weights[i];
    return *std::ranges::max_element(free) >= wanted;
  }
  std::pair<std::int64_t, std::size_t> cost(const std::vector<bool>& taken) const {
    std::pair<std::int64_t, std::size_t> sum;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (taken[i]) sum.first += weights[i], ++sum.second;
    return sum;
  }
};

TEST(Lightest, IsNoHeavierThanAnyOtherChoiceThatSuffices) {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  int of_several = 0;
  for (int round = 0; round < 2'000; ++round) {
    Case things{.wanted = 1 + below(6)};
    for (int i = 0, n = 1 + below(6); i < n; ++i) things.weights.push_back(1 + below(5));
    std::ranges::sort(things.weights, std::greater());
    for (std::size_t i = 0; i < things.weights.size(); ++i) things.nodes.push_back(below(3));
    std::vector<bool> taken(things.weights.size(), true);
    if (!things.suffices(taken)) continue;

    const std::vector<bool> lightest =
        take_lightest({.weights = things.weights,
                       .move = [&](std::size_t i, bool is_taken) { taken[i] = is_taken; },
                       .suffices = [&] { return things.suffices(taken); }});
    EXPECT_EQ(taken, lightest) << "what was not chosen is put back";
    ASSERT_TRUE(things.suffices(lightest));
    of_several += things.cost(lightest).second > 1;
    for (unsigned other = 0; other < 1u << things.weights.size(); ++other) {
      std::vector<bool> choice(things.weights.size());
      for (std::size_t i = 0; i < choice.size(); ++i) choice[i] = (other >> i & 1u) != 0;
      if (things.suffices(choice)) {
        ASSERT_LE(things.cost(lightest), things.cost(choice));
      }
    }
  }
  EXPECT_GT(of_several, 200);
}

}  // namespace
}  // namespace berth::queue
