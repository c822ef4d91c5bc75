// SPDX-License-Identifier: Apache-2.0
// Answers of `berth why` where NVIDIA's components, the driver or the kubelet are the cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/explain/explain_node.h"
#include "controller/explain/explain_pod.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentsWhy : public ::testing::Test {
 protected:
  AgentsWhy() {
    Node node = test::node("n1").a100_80(4).label("nvidia.com/cuda.runtime-version.full", "12.2");
    offer(std::move(node), 4);
    waiting_ = pod("train").gpu(1).phase(PodPhase::kPending);
    waiting_.node_name = {};
  }
  void offer(Node node, std::int64_t gpus) {
    node.ready = true;
    node.capacity.set("nvidia.com/gpu", Quantity::whole(4));
    node.allocatable.set("nvidia.com/gpu", Quantity::whole(gpus));
    cluster_.upsert(std::move(node), now_);
  }
  void offer(std::int64_t gpus) { offer(*cluster_.nodes().find("n1"), gpus); }
  // The device plugin's pod on n1.
  void plugin(const std::string& trouble) {
    Pod plugin = pod("plugin-x")
                     .in("gpu-operator")
                     .on("n1")
                     .owner("DaemonSet", "nvidia-device-plugin-daemonset");
    plugin.trouble = trouble;
    cluster_.upsert(std::move(plugin), now_);
  }
  std::string why(const Pod& pod, const Clues& clues = no_clues()) {
    cluster_.upsert(pod, now_);
    return print_text(explain_pod(snapshot(), pod, clues));
  }
  std::string why_node() {
    return print_text(explain_node(snapshot(), *cluster_.nodes().find("n1")));
  }
  Snapshot snapshot() const {
    return {.cluster = cluster_, .answers = answers_, .settings = settings_, .now = now_};
  }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
  Pod waiting_;
};

TEST_F(AgentsWhy, ADevicePluginThatCrashesIsTheReasonOfANodeThatOffersNothing) {
  plugin("CrashLoopBackOff");
  EXPECT_THAT(why_node(), Not(HasSubstr("device plugin"))) << "it offers its GPUs still";
  offer(0);
  EXPECT_THAT(why_node(), AllOf(HasSubstr("NVIDIA's device plugin does not run (CrashLoopBackOff)"),
                                HasSubstr("kubectl logs --previous -n gpu-operator plugin-x")));
  EXPECT_THAT(why(waiting_), HasSubstr("n1: NVIDIA's device plugin does not run"));
  plugin("");
  EXPECT_THAT(why_node(), Not(HasSubstr("does not run")));
}

TEST_F(AgentsWhy, SoIsOneThatIsNotThere) {
  offer(0);
  EXPECT_THAT(why(waiting_), Not(HasSubstr("DaemonSet"))) << "nobody knows of one";
  DaemonSet set;
  set.meta.namespace_ = "gpu-operator";
  set.meta.name = "nvidia-device-plugin-daemonset";
  cluster_.upsert(std::move(set), now_);
  EXPECT_THAT(why(waiting_), HasSubstr("n1: no pod of DaemonSet nvidia-device-plugin-daemonset"));
  EXPECT_THAT(why_node(),
              HasSubstr("no pod of DaemonSet nvidia-device-plugin-daemonset runs there, "
                        "so that the GPUs are not offered"));
  plugin("");
  EXPECT_THAT(why_node(), Not(HasSubstr("no pod of DaemonSet")));
}

TEST_F(AgentsWhy, TheTopologyManagersRefusalIsExplained) {
  Pod refused = pod("train").gpu(4).on("n1").phase(PodPhase::kFailed);
  refused.trouble = "TopologyAffinityError";
  EXPECT_THAT(why(refused), AllOf(HasSubstr("Failed, TopologyAffinityError"),
                                  HasSubstr("the kubelet of n1 has refused it"),
                                  HasSubstr("no more GPUs and CPUs than one NUMA node has")));
  refused.trouble = "OutOfnvidia.com/gpu";
  EXPECT_THAT(why(refused), AllOf(HasSubstr("Failed, RejectedByKubelet"),
                                  HasSubstr("the node had less left than it asks for"),
                                  HasSubstr("see by berth why node what the node offers")));
  refused.trouble = "UnexpectedAdmissionError";
  EXPECT_THAT(why(refused), HasSubstr("a device that it asks for was not to be had"));
  refused.trouble = "NodeAffinity";
  EXPECT_THAT(why(refused), HasSubstr("the node's labels are not any more what it requires"));
  refused.trouble = "Evicted";
  EXPECT_THAT(why(refused), HasSubstr("it has ended (Evicted) and holds nothing"));
  refused.trouble = {};
  EXPECT_THAT(why(refused), HasSubstr("it has ended and holds nothing"));
}

TEST_F(AgentsWhy, APodThatDoesNotStartSaysWhy) {
  Pod starting = pod("train").gpu(1).on("n1").phase(PodPhase::kPending);
  starting.trouble = "ImagePullBackOff";
  EXPECT_THAT(why(starting), HasSubstr("a container of it waits: ImagePullBackOff"));
}

TEST_F(AgentsWhy, ADriverThatIsTooOldForItsImageIsToldBeforeAndAfter) {
  Clues clues;
  clues.pods[key_of(waiting_.meta)].containers = {{.require_cuda = "cuda>=12.4"}};
  EXPECT_THAT(why(waiting_, clues),
              HasSubstr("n1: needs cuda>=12.4, and the driver there has CUDA 12.2"));
  Pod bound = waiting_;
  bound.node_name = "n1";
  EXPECT_THAT(why(bound, clues), HasSubstr("needs cuda>=12.4"));

  Pod annotated = waiting_;
  annotated.meta.annotations.set(names::kRequiredCudaAnnotation, "12.6");
  EXPECT_THAT(why(annotated), HasSubstr("needs cuda>=12.6"));
  annotated.meta.annotations.set(names::kRequiredCudaAnnotation, "12.1");
  EXPECT_THAT(why(annotated), Not(HasSubstr("needs cuda")));
}

TEST_F(AgentsWhy, GpusThatAreTooSmallForWhatItLoadsAreToldBeforeAndAfter) {
  Pod loading = waiting_;
  loading.meta.annotations.set(names::kRequiredGpuMemoryAnnotation, "133Gi");
  const auto told = AllOf(HasSubstr("needs 133Gi of GPU memory, and what it asks for has 72.0GiB"),
                          HasSubstr("ask for 2 nvidia.com/gpu"));
  EXPECT_THAT(why(loading), told);
  Pod bound = loading;
  bound.node_name = "n1";
  EXPECT_THAT(why(bound), told) << "as it crashes there";
  loading.meta.annotations.set(names::kRequiredGpuMemoryAnnotation, "72Gi");
  EXPECT_THAT(why(loading), Not(HasSubstr("GPU memory")));
}

}  // namespace
}  // namespace berth::test
