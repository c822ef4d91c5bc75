// SPDX-License-Identifier: Apache-2.0
// Which field of a pod asks for a resource, as `berth why` names it.
#include "controller/explain/scheduler_words.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(FieldOfAResource, IsOfTheFirstContainerThatAsksForIt) {
  const PodClues clues{.scheduler_reason = {},
                       .scheduler_says = {},
                       .containers = {{.field = "spec.initContainers[0]",
                                       .requests = {{"cpu", "1"}, {"memory", "1Gi"}},
                                       .visible_devices = {},
                                       .require_cuda = {}},
                                      {.field = "spec.containers[1]",
                                       .requests = {{"cpu", "4"}, {"nvidia.com/gpu", "2"}},
                                       .visible_devices = {},
                                       .require_cuda = {}}}};
  EXPECT_EQ(field_of(&clues, "nvidia.com/gpu"),
            "spec.containers[1].resources.limits[nvidia.com/gpu]");
  EXPECT_EQ(field_of(&clues, "cpu"), "spec.initContainers[0].resources.limits[cpu]");
}

// What a webhook or the pod's overhead adds stands in no container.
TEST(FieldOfAResource, IsSomeContainersWhereNobodyKnowsWhose) {
  const PodClues none;
  EXPECT_EQ(field_of(&none, "cpu"), "spec.containers[].resources.limits[cpu]");
  EXPECT_EQ(field_of(nullptr, "cpu"), "spec.containers[].resources.limits[cpu]");
}

}  // namespace
}  // namespace berth
