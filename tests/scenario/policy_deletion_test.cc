// SPDX-License-Identifier: Apache-2.0
// The GPUClusterPolicy is deleted by mistake while nodes may not be taken, and applied again: no
// node changes. Under deletionPolicy Remove it waits, and takes one node after the other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/scenario/play.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kBlackout[] = R"(blackouts: [{schedule: "* * * * *", duration: 12h}])";

// Six nodes that share one GPU each, two pods on each of them, and from 30 minutes on a blackout.
std::string shared_nodes(const std::string& deletion_policy, const std::string& then) {
  return fmt::format(R"(
nodes: [{{count: 6, name: lab, product: A30, gpus: 1, labels: {{node.example.com/tier: lab}}}}]
workloads: [{{name: notebook, namespace: lab, replicas: 12, count: 1}}]
timeline:
- at: 5s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: GPUClusterPolicy
    metadata: {{name: cluster}}
    spec:
      deletionPolicy: {}
      disruption: {{maxUnavailable: 1}}
      pools: &pools
      - name: lab
        nodeSelector: {{matchLabels: {{node.example.com/tier: lab}}}}
        taints: [{{key: nvidia.com/gpu, value: present, effect: NoSchedule}}]
        sharing: {{strategy: TimeSlicing, replicas: 4}}
- {{at: 30m, edit: gpuclusterpolicy/cluster, patch: {{spec: {{disruption: {{{}}}}}}}}}
{}limit: 5h
patience: 4h
)",
                     deletion_policy, kBlackout, then);
}

// What happened to nodes from a line of the transcript on: their lines that say one of the words.
std::vector<std::string> node_lines(const Played& played, const std::string& from,
                                    const std::vector<std::string>& words) {
  std::istringstream text(played.transcript.substr(played.transcript.find(from)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    if (std::ranges::any_of(words, [&](const std::string& w) { return line.find(w) != line.npos; }))
      lines.push_back(line);
  return lines;
}
constexpr char kDeletion[] = "kubectl delete GPUClusterPolicy/cluster";
const std::vector<std::string> kChanges = {"leaves pool", "enters pool", "device-plugin.config"};

TEST(PolicyDeletion, ByMistakeInABlackoutChangesNothingAndNorDoesItsReturn) {
  const Played played = play(shared_nodes("Retain", fmt::format(R"(
- {{at: 31m, delete: gpuclusterpolicy/cluster}}
- at: 32m
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: GPUClusterPolicy
    metadata: {{name: cluster}}
    spec: {{disruption: {{maxUnavailable: 1, {}}}, pools: *pools}}
expect: {{gpuclusterpolicy/cluster: True}}
)",
                                                                kBlackout)));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(node_lines(played, kDeletion, kChanges), IsEmpty()) << played.transcript;
}

TEST(PolicyDeletion, ThatRemovesWaitsForTheEndOfTheBlackoutAndTakesOneNodeAtATime) {
  const Played played = play(shared_nodes("Remove", R"(
- {at: 31m, delete: gpuclusterpolicy/cluster}
- {at: 2h, edit: gpuclusterpolicy/cluster, patch: {spec: {disruption: {blackouts: []}}}}
expect: {gpuclusterpolicy/cluster: Gone}
)"));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  const std::vector<std::string> lines = node_lines(played, kDeletion, kChanges);
  ASSERT_EQ(lines.size(), 12u) << played.transcript;
  // A node loses its sharing, then its labels and taints. Only then it is the turn of the next.
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_THAT(lines[i], AllOf(HasSubstr(i % 2 == 0 ? "device-plugin.config" : "leaves pool"),
                                Not(HasSubstr("00:31:"))))
        << played.transcript;
}

TEST(PolicyDeletion, AnEditThatRemovesAPoolInABlackoutChangesNoNodeWithPods) {
  const Played played = play(shared_nodes("Retain", R"(
- {at: 31m, edit: gpuclusterpolicy/cluster, patch: {spec: {pools: []}}}
- {at: 3h, annotate: lab1, set: {x.example.com/y: z}}
expect: {gpuclusterpolicy/cluster: False DisruptionWindow}
)"));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  EXPECT_THAT(node_lines(played, "31:00", kChanges), IsEmpty()) << played.transcript;
}

}  // namespace
}  // namespace berth::test
