// SPDX-License-Identifier: Apache-2.0
// Which part of a pod's selection a node does not match, and the node's own value.
#include "controller/explain/unmet.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth::test {
namespace {

using Term = NodeSelectorTerm;

Term tier_in(std::vector<Text> values) {
  return {.match_expressions = {{"tier", SelectorOperator::kIn, std::move(values)}}};
}

Unmet unmet_by_n1(std::vector<Term> terms) {
  const Node n1 = node("n1").label("tier", "lab");
  Pod asks = pod("web");
  asks.shape.edit()->required_node_affinity = std::move(terms);
  return unmet_of(asks, n1);
}

TEST(UnmetAffinity, IsToldWithWhatTheNodeHas) {
  const Unmet unmet = unmet_by_n1({tier_in({"prod"})});
  EXPECT_EQ(unmet.asked, "node affinity tier in (prod)");
  EXPECT_EQ(unmet.found, "tier=lab");
  EXPECT_EQ(unmet.key + "=" + unmet.value, "tier=prod") << "for which a slip could be meant";
  EXPECT_EQ(unmet_by_n1({tier_in({"prod", "test"})}).key, "") << "which of them is meant?";
}

TEST(UnmetAffinity, OfSeveralTermsAllAreToldAndWhatIsFoundOnce) {
  const Unmet same = unmet_by_n1({tier_in({"prod"}), tier_in({"test"})});
  EXPECT_EQ(told(same),
            "not selected: the pod asks for node affinity tier in (prod) or tier in (test), and "
            "here it is tier=lab");
  EXPECT_EQ(same.key + same.value, "") << "no single value is asked for";
  const Unmet other = unmet_by_n1(
      {tier_in({"prod"}), {.match_expressions = {{"zone", SelectorOperator::kExists, {}}}}});
  EXPECT_EQ(other.asked, "node affinity tier in (prod) or zone");
  EXPECT_EQ(other.found, "tier=lab, no zone");
}

TEST(UnmetAffinity, ATermOfNothingSelectsNoNode) {
  const Unmet alone = unmet_by_n1({Term{}});
  EXPECT_EQ(alone.asked, "node affinity nothing, which selects no node");
  EXPECT_EQ(alone.found, "");
  const Unmet both = unmet_by_n1({Term{}, tier_in({"prod"})});
  EXPECT_EQ(both.asked, "node affinity nothing, which selects no node or tier in (prod)");
  EXPECT_EQ(both.found, "tier=lab");
}

}  // namespace
}  // namespace berth::test
