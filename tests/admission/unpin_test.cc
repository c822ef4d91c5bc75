// SPDX-License-Identifier: Apache-2.0
// Node pins that the webhook removes from new pods and Jobs.
#include "tests/admission/queue_hold_fixture.h"

namespace berth::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kRequiredAffinity[] =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";

// A pod that the Job controller creates for a running Job that was admitted to n1 and n2.
class Unpin : public QueueHold {
 protected:
  Unpin() {
    for (const char* name : {"n1", "n2"}) {
      add_node(cluster, name, {{"kubernetes.io/hostname", name}}, "nvidia.com/gpu", 8);
      set_ready(name, true);
    }
  }
  static Request replacement() {
    const std::string record = queue::encode_admission(
        {.uid = "owner", .queue = "vision", .pool = "*", .nodes = {"n1", "n2"}});
    const json pin = {
        {"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {"n1", "n2"}}};
    const json term = {{"matchExpressions", json::array({pin})}};
    Request pod = owned(gpu_pod(), "Job");
    pod = with(pod, (std::string(kRequiredAffinity) + "/nodeSelectorTerms").c_str(),
               json::array({term}));
    return with(pod, "/metadata/annotations", {{names::kAdmittedAnnotation, record}});
  }
  void set_ready(const char* name, bool ready) {
    Node node = *cluster.nodes().find(name);
    node.ready = ready;
    cluster.upsert(node, Time{});
  }
  bool is_pinned(const Request& pod) const {
    return at(mutated(pod).object, kRequiredAffinity) != "absent";
  }
};

TEST_F(Unpin, AReplacementIsNotPinnedToANodeThatIsNotReady) {
  EXPECT_TRUE(is_pinned(replacement())) << "while both nodes are in service";
  set_ready("n2", false);
  EXPECT_FALSE(is_pinned(replacement()));
  EXPECT_NE(at(mutated(replacement()).object, "/metadata/annotations"), "absent")
      << "it keeps the record of its Job's admission";
}

TEST_F(Unpin, AReplacementIsNotPinnedToANodeThatIsGone) {
  cluster.erase<Node>("", "n1");
  EXPECT_FALSE(is_pinned(replacement()));
}

TEST_F(Unpin, APodThatHasToShareATopologyDomainKeepsItsPin) {
  set_ready("n2", false);
  const std::string annotation =
      std::string("/metadata/annotations/gpu.berth.dev~1required-topology");
  EXPECT_TRUE(is_pinned(with(replacement(), annotation.c_str(), "rack")));
  GPUQueue queue = queue_of("vision", "team-a", true);
  queue.spec.topology.required = "rack";
  add(queue);
  EXPECT_TRUE(is_pinned(replacement())) << "its queue requires one domain of all its workloads";
}

// Such an object comes from a backup, or is a copy of a running Job.
TEST_F(Unpin, AnObjectWithTheRecordOfAnotherLosesItsPinAndItsPoolAndIsQueued) {
  const json terms = {
      {{"matchExpressions",
        {{{"key", "tier"}, {"operator", "Exists"}},
         {{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {"h7", "h8"}}}}}},
      {{"matchFields",
        {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {"old-n7", "old-n8"}}}}}}};
  const json record = {{"uid", "of another"},
                       {"queue", "vision"},
                       {"pool", "training"},
                       {"nodes", {"old-n7", "old-n8"}},
                       {"selectsPool", true}};
  for (const bool is_job : {true, false}) {
    const std::string spec = is_job ? "/spec/template/spec" : "/spec";
    const std::string required =
        spec + "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    Request restored = is_job ? gpu_job() : gpu_pod();
    restored = with(restored, (required + "/nodeSelectorTerms").c_str(), terms);
    restored = with(restored, (spec + "/nodeSelector").c_str(),
                    {{names::kPoolLabel, "training"}, {"disk", "fast"}});
    restored = with(restored, "/metadata/annotations",
                    {{names::kAdmittedAnnotation, record.dump()}, {"example.com/a", "b"}});
    const Answer answer = mutated(restored);
    EXPECT_EQ(at(answer.object, "/metadata/annotations"), R"({"example.com/a":"b"})");
    EXPECT_EQ(at(answer.object, required + "/nodeSelectorTerms"),
              R"([{"matchExpressions":[{"key":"tier","operator":"Exists"}]}])");
    EXPECT_EQ(at(answer.object, spec + "/nodeSelector"), R"({"disk":"fast"})");
    EXPECT_THAT(answer.warnings, Contains(HasSubstr("is the admission of another object")));
    EXPECT_EQ(at(answer.object, is_job ? "/spec/suspend" : "/spec/schedulingGates/0/name"),
              is_job ? "true" : R"("gpu.berth.dev/queue")");
    restored = with(restored, (required + "/nodeSelectorTerms").c_str(), json::array({terms[1]}));
    EXPECT_EQ(at(mutated(restored).object, required), "absent") << "the pin was all there was";
  }
}

}  // namespace
}  // namespace berth::test
