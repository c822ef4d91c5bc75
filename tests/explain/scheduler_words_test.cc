// SPDX-License-Identifier: Apache-2.0
// Which field of a pod requests a resource, and which field the scheduler's message is about, as
// `berth why` names them.
#include "controller/explain/scheduler_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The fields in the scheduler's message, after "0/3 nodes are available: ", for a pod with two
// GPUs.
std::vector<std::string> fields_told(const std::string& clauses,
                                     std::vector<Toleration> tolerations = {}) {
  Pod pod;
  pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(2)}};
  pod.shape.edit()->node_selector = {{"tier", "prod"}};
  pod.shape.edit()->tolerations = std::move(tolerations);
  PodClues clues;
  clues.scheduler_says = "0/3 nodes are available: " + clauses;
  Explanation out;
  note_scheduler_fields(pod, clues, out);
  std::vector<std::string> told;
  for (const Explanation::Fact& fact : out.facts) {
    EXPECT_EQ(fact.topic, "field");
    if (fact.reason != reasons::kNotJudged) told.push_back(fact.message);
  }
  return told;
}

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

// Requests that a webhook or the pod's overhead adds are in no container.
TEST(FieldOfAResource, IsSomeContainersWhereNobodyKnowsWhose) {
  const PodClues none;
  EXPECT_EQ(field_of(&none, "cpu"), "spec.containers[].resources.limits[cpu]");
  EXPECT_EQ(field_of(nullptr, "cpu"), "spec.containers[].resources.limits[cpu]");
}

TEST(SchedulersTaint, IsNamedWhereItIsTold) {
  EXPECT_THAT(
      fields_told("1 node(s) had untolerated taint {gpu: lab}, 2 node(s) had untolerated taint "
                  "{spot: }. preemption: 0/3 nodes are available: 3 Preemption is not helpful."),
      ElementsAre("spec.tolerations: none for gpu, and 1 node is tainted gpu=lab",
                  "spec.tolerations: none for spot, and 2 nodes are tainted spot"));
  EXPECT_THAT(fields_told("1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }."),
              IsEmpty())
      << "nothing of the pod's";
}

TEST(SchedulersTaint, IsHeldAgainstTheTolerationOfItsKey) {
  const std::string says = "3 node(s) had untolerated taint {gpu: lab}.";
  EXPECT_THAT(
      fields_told(says, {{"other", "Exists", {}, {}}, {"gpu", "Equal", "prod", "NoSchedule"}}),
      ElementsAre("spec.tolerations[1].value: \"prod\", and 3 nodes are tainted gpu=lab"));
  const char* effect =
      "spec.tolerations[0].effect: NoExecute, which is not the effect of taint gpu=lab on 3 nodes";
  EXPECT_THAT(fields_told(says, {{"gpu", "Exists", {}, "NoExecute"}}), ElementsAre(effect));
  EXPECT_THAT(fields_told(says, {{"gpu", "Equal", "lab", "NoExecute"}}), ElementsAre(effect));
}

// The text of Kubernetes 1.36, and truncated or foreign texts.
TEST(SchedulersTaint, IsAnyWhereItIsNotTold) {
  for (const char* taint : {"taint(s)", "taint {gpu: lab", "taint gpu: lab}", "taint {gpu}",
                            "taint }gpu: lab{", "taint {}"})
    EXPECT_THAT(fields_told("3 node(s) had untolerated " + std::string(taint)),
                ElementsAre("spec.tolerations: has none, and 3 nodes have taints that it does not "
                            "tolerate"))
        << taint;
  EXPECT_THAT(fields_told("1 node(s) had taints that the pod didn't tolerate",
                          {{"node.kubernetes.io/unreachable", "Exists", {}, "NoExecute"},
                           {"gpu", "Equal", "lab", "NoSchedule"},
                           {"", "Exists", {}, "NoExecute"}}),
              ElementsAre("spec.tolerations: has gpu=lab:NoSchedule, every key:NoExecute, and 1 "
                          "node has taints that it does not tolerate"));
}

TEST(SchedulersWords, OfLabelsAndResourcesNameTheFieldThatAsks) {
  EXPECT_THAT(fields_told("1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node "
                          "affinity/selector."),
              ElementsAre("spec.containers[].resources.limits[nvidia.com/gpu]: 2; 1 node has not "
                          "so much of it left, or none",
                          "spec.nodeSelector[tier]: prod, which 2 nodes do not have"));
  EXPECT_THAT(fields_told("1 node(s) were unschedulable, some of nobody's taints."), IsEmpty());
}

}  // namespace
}  // namespace berth
