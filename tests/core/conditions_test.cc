// SPDX-License-Identifier: Apache-2.0
// When a condition counts as present, which decides whether berth continues.
#include "controller/core/conditions.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(FindTrue, IsTheConditionOfTheTypeWhileItIsTrue) {
  const std::vector<Condition> conditions = {{.type = "Reconciling", .status = "True"},
                                             {.type = "Ready", .status = "True", .reason = "Here"},
                                             {.type = "Stalled", .status = "False"},
                                             {.type = "Watching", .status = "Unknown"}};
  ASSERT_NE(find_true(conditions, "Ready"), nullptr);
  EXPECT_EQ(find_true(conditions, "Ready")->reason, "Here") << "not the first that is True";
  EXPECT_EQ(find_true(conditions, "Stalled"), nullptr);
  EXPECT_EQ(find_true(conditions, "Watching"), nullptr);
  EXPECT_EQ(find_true(conditions, "Other"), nullptr);
  EXPECT_EQ(find_true({}, "Ready"), nullptr);
}

}  // namespace
}  // namespace berth
