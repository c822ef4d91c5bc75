// SPDX-License-Identifier: Apache-2.0
// `berth plan -f` reports pods whose GPUs have less memory than the pods need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kTwoGpus[] = R"json({
  "apiVersion": "snapshot.gpu.berth.dev/v1", "kind": "Snapshot",
  "takenAt": "2026-11-25T12:00:00Z", "items": [
  {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "u1", "labels": {
     "nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
     "nvidia.com/gpu.count": "2", "nvidia.com/gpu.memory": "81920"}},
   "status": {"allocatable": {"nvidia.com/gpu": "2"},
              "conditions": [{"type": "Ready", "status": "True"}]}}]})json";

std::string noted(const std::string& manifest) {
  return run_berth({"plan", "-f", scratch_file("loads.yaml", manifest), "--snapshot",
                    scratch_file("two-gpus.json", kTwoGpus)})
      .err;
}

TEST(PlanMemory, OfAPodAndOfAJobsTemplate) {
  const auto pod = [](const char* size) {
    return std::string(
               "apiVersion: v1\nkind: Pod\nmetadata:\n  name: llama\n  annotations: {"
               "gpu.berth.dev/required-gpu-memory: ") +
           size +
           "}\nspec:\n  containers:\n  - {name: c, image: i, resources: {limits: {nvidia.com/gpu: "
           "1}}}\n";
  };
  EXPECT_THAT(noted(pod("133Gi")), HasSubstr("Pod/default/llama: needs 133Gi of GPU memory, and "
                                             "what it asks for has 72.0GiB for it there; ask for "
                                             "2 nvidia.com/gpu"));
  EXPECT_THAT(noted(pod("72Gi")), Not(HasSubstr("GPU memory")));
  EXPECT_THAT(
      noted("apiVersion: batch/v1\nkind: Job\nmetadata: {name: tune}\nspec:\n  template:\n"
            "    metadata: {annotations: {gpu.berth.dev/required-gpu-memory: 500Gi}}\n"
            "    spec:\n      restartPolicy: Never\n      containers:\n"
            "      - {name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}\n"),
      HasSubstr("Job/default/tune: needs 500Gi of GPU memory, and what it asks for has 144.0GiB "
                "for it there; no node that its namespace may use has so much"));
}

}  // namespace
}  // namespace berth::test
