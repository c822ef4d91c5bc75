// SPDX-License-Identifier: Apache-2.0
// Which nodes a pod selects, where the characters of a label or the cordon decide.
#include "controller/fleet/pod_selects.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/builders.h"

namespace berth::test {
namespace {

// On a node without the label, NotIn matches for every readable value.
bool is_read(const std::string& value) {
  Pod made = pod("p");
  made.shape.edit()->required_node_affinity = {
      {{{"zone", SelectorOperator::kNotIn, {Text(value)}}}, {}}};
  return selects(made, node("n1"));
}

TEST(PodSelects, ATermWithAValueThatNoLabelCouldHaveMatchesNothing) {
  for (const char* value : {"", "a", "z", "A", "Z", "0", "9", "a-b", "a_b", "a.b", "a-_.b"})
    EXPECT_TRUE(is_read(value)) << value;
  // ASCII's neighbours of letters and digits, and characters that may only be in between.
  for (const char* value :
       {"/",   ":",   "@", "[",  "`",  "{",  "a/b", "a:b", "a@b", "a[b",     "a`b",
        "a{b", "a b", "-", "-a", "a-", "_a", "a_",  ".a",  "a.",  "\xC3\xA4"})
    EXPECT_FALSE(is_read(value)) << value;
  EXPECT_TRUE(is_read(std::string(63, 'a')));
  EXPECT_FALSE(is_read(std::string(64, 'a')));
}

TEST(PodSelects, ATolerationOfTheCordonIsOne) {
  const auto tolerating = [](const Toleration& toleration) {
    Pod made = pod("p");
    made.shape.edit()->tolerations = {toleration};
    return tolerates_cordon(made);
  };
  EXPECT_FALSE(tolerates_cordon(pod("p")));
  EXPECT_TRUE(tolerating({.key = "node.kubernetes.io/unschedulable", .op = "Exists"}));
  EXPECT_TRUE(tolerating({.op = "Exists"})) << "whatever it is";
  EXPECT_FALSE(tolerating(
      {.key = "node.kubernetes.io/unschedulable", .op = "Exists", .effect = "NoExecute"}));
  EXPECT_FALSE(tolerating({.key = "node.kubernetes.io/not-ready", .op = "Exists"}));
}

}  // namespace
}  // namespace berth::test
