// SPDX-License-Identifier: Apache-2.0
// Which object `berth why` takes an argument for, and its message if there is none.
#include "controller/explain/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queue/queue_objects.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Kind = SubjectName::Kind;

class Subjects : public ::testing::Test {
 protected:
  Subjects() { cluster_.upsert<Node>(node("n1").a100_80(4), now_); }
  void add(Pod pod) { cluster_.upsert(std::move(pod), now_); }
  void unread(const char* resource, const char* instead = "") {
    clues_.unread.push_back({.resource = resource,
                             .namespace_ = {},
                             .instead = instead,
                             .reason = "Forbidden",
                             .message = "no rule grants it"});
  }
  // The found object, or the message.
  std::string find(const std::vector<std::string>& words) const {
    const Result<SubjectName> name = parse_subject(words, "team-a");
    if (!name) return describe(name.error());
    const Result<Subject> found = find_subject(cluster_, clues_, *name);
    if (!found) return describe(found.error());
    if (found->node != nullptr) return "Node " + found->node->meta.name;
    if (found->layout != nullptr) return "MIGLayout " + found->layout->meta.name;
    if (found->pod != nullptr) return "Pod " + found->pod->meta.name;
    return found->workload->kind + " " + found->workload->name;
  }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Clues clues_;
};

TEST(SubjectNames, KindsAreCalledAsKubectlCallsThem) {
  struct Row {
    Kind kind;
    const char* workload;
    std::vector<const char*> words;
  };
  for (const Row& row : {
           Row{Kind::kPod, "", {"pod", "pods", "po", "Pod"}},
           Row{Kind::kNode, "", {"node", "nodes", "no", "NODE"}},
           Row{Kind::kLayout,
               "",
               {"miglayout", "MIGLayouts", "migl", "miglayout.gpu.berth.dev",
                "miglayouts.gpu.berth.dev"}},
           Row{Kind::kWorkload,
               "Deployment",
               {"deployment", "deployments", "deploy", "deployment.apps", "Deployments.apps"}},
           Row{Kind::kWorkload,
               "ReplicaSet",
               {"replicaset", "replicasets", "rs", "replicaset.apps", "replicasets.apps"}},
           Row{Kind::kWorkload,
               "StatefulSet",
               {"statefulset", "statefulsets", "sts", "statefulset.apps", "statefulsets.apps"}},
           Row{Kind::kWorkload, "Job", {"job", "jobs", "job.batch", "jobs.batch"}},
       })
    for (const char* word : row.words)
      for (const std::vector<std::string>& typed :
           {std::vector<std::string>{word, "x"},
            std::vector<std::string>{std::string(word) + "/x"}}) {
        const Result<SubjectName> name = parse_subject(typed, "here");
        ASSERT_TRUE(name.has_value()) << word;
        EXPECT_EQ(name->kind, row.kind) << word;
        EXPECT_EQ(name->workload, row.workload) << word;
        EXPECT_EQ(name->namespace_ + "/" + name->name, "here/x") << word;
      }
}

TEST(SubjectNames, ANamespaceMayStandBeforeTheName) {
  for (const std::vector<std::string>& typed :
       {std::vector<std::string>{"pod", "there/x"}, std::vector<std::string>{"pod/there/x"},
        std::vector<std::string>{"there/x"}}) {
    const Result<SubjectName> name = parse_subject(typed, "here");
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(name->kind, Kind::kPod);
    EXPECT_EQ(name->namespace_ + "/" + name->name, "there/x");
  }
  EXPECT_EQ(parse_subject({"x"}, "here")->kind, Kind::kAny);
}

TEST_F(Subjects, WordsThatNameNothingAreRefused) {
  EXPECT_EQ(find({}), "SUBJECT: name a pod, a workload, a node or a layout");
  EXPECT_EQ(find({"pod", "x", "y"}),
            "SUBJECT: \"y\" is one word too many: KIND NAME, with KIND pod, node, deploy, rs, sts, "
            "job, cronjob or migl");
  EXPECT_EQ(find({"secret", "x"}),
            "SUBJECT: \"secret\" is no kind that berth explains; write pod, node, deploy, rs, sts, "
            "job, cronjob or migl");
}

TEST_F(Subjects, NodesAndLayoutsAreFoundOrTheNearestIsNamed) {
  cluster_.upsert<MIGLayout>(layout("mixed"), now_);
  EXPECT_EQ(find({"node", "n1"}), "Node n1");
  EXPECT_EQ(find({"n1"}), "Node n1");
  EXPECT_EQ(find({"migl/mixed"}), "MIGLayout mixed");
  EXPECT_EQ(find({"node/n2"}), "node/n2: there is no such node; did you mean n1?");
  EXPECT_EQ(find({"migl/mixd"}), "miglayout/mixd: there is no such MIGLayout; did you mean mixed?");
  unread("nodes");
  unread("miglayouts.gpu.berth.dev");
  EXPECT_EQ(find({"node/n2"}),
            "node/n2: is not known; this account may not read nodes: no rule grants it");
  EXPECT_EQ(find({"migl/mixd"}),
            "miglayout/mixd: is not known; this account may not read "
            "miglayouts.gpu.berth.dev: no rule grants it");
}

TEST_F(Subjects, APodThatIsNotThereIsItsWorkloadsOrItsNeighbours) {
  add(pod("web-5d9-x2").in("team-a").owner("RayCluster", "web"));
  add(pod("lone").in("team-b"));
  EXPECT_EQ(find({"pod/web"}),
            "pod/web in namespace team-a: there is no such pod; there is web-5d9-x2");
  EXPECT_EQ(find({"pod/lone"}),
            "pod/lone in namespace team-a: there is no such pod; there is team-b/lone");
  EXPECT_EQ(find({"pod/web-5d9-y2"}),
            "pod/web-5d9-y2 in namespace team-a: there is no such pod; "
            "did you mean web-5d9-x2?");
  clues_.workloads.push_back({.kind = "Deployment", .namespace_ = "team-a", .name = "web"});
  clues_.workloads.push_back({.kind = "Deployment", .namespace_ = "team-b", .name = "lone"});
  cluster_.upsert(queue::job_of("team-a", "web", 1), now_);
  add(pod("web-0").in("team-a").owner("StatefulSet", "web"));
  add(pod("web-1").in("team-a").owner("StatefulSet", "web"));
  EXPECT_EQ(find({"pod/web"}),
            "pod/web in namespace team-a: there is no such pod; there is deployment/web, job/web, "
            "statefulset/web: berth why -n team-a deployment/web");
  EXPECT_THAT(find({"pod/lone"}), EndsWith("; there is team-b/lone")) << "of its own namespace";
}

TEST_F(Subjects, PodsThatAreNotReadAreNotSaidToBeAbsent) {
  unread("pods", "team-a");
  EXPECT_EQ(find({"pod/x"}), "pod/x in namespace team-a: there is no such pod");
  EXPECT_EQ(find({"pod/team-b/x"}),
            "pod/x in namespace team-b: is not known; this account may not "
            "read pods: no rule grants it");
}

TEST_F(Subjects, OfAWorkloadItIsThePodThatWaitsElseTheNewest) {
  const auto of_web = [&](const char* name, const char* on, int minute, PodPhase phase) {
    Pod made = pod(name).owner("StatefulSet", "web").phase(phase);
    made.node_name = on;
    made.meta.creation_timestamp =
        *parse_time("2026-11-21T12:00:00Z") + std::chrono::minutes(minute);
    add(made);
  };
  of_web("web-1", "n1", 1, PodPhase::kRunning);
  of_web("web-2", "n1", 2, PodPhase::kRunning);
  of_web("web-3", "n1", 3, PodPhase::kSucceeded);
  EXPECT_EQ(find({"sts/web"}), "Pod web-2") << "of those that run";
  of_web("web-0", "", 0, PodPhase::kPending);
  EXPECT_EQ(find({"sts/web"}), "Pod web-0");
}

TEST_F(Subjects, AWorkloadWhosePodsAreRefusedIsItself) {
  add(pod("web-1").on("n1").owner("StatefulSet", "web"));
  clues_.workloads.push_back(
      {.kind = "StatefulSet", .namespace_ = "team-a", .name = "web", .failure = "exceeded quota"});
  EXPECT_EQ(find({"sts/web"}), "StatefulSet web") << "what runs says nothing of it";
  clues_.workloads[0].failure.clear();
  EXPECT_EQ(find({"sts/web"}), "Pod web-1");
  cluster_.erase<Pod>("team-a", "web-1");
  EXPECT_EQ(find({"sts/web"}), "StatefulSet web") << "it has no pods";
}

TEST_F(Subjects, AWorkloadThatIsNotKnownIsSaidToBeSoWithTheNearest) {
  cluster_.upsert(queue::job_of("team-a", "train", 1), now_);
  cluster_.upsert(queue::job_of("team-b", "trian", 1), now_);
  EXPECT_EQ(find({"job/train"}), "Job train");
  EXPECT_EQ(find({"job/trayn"}),
            "Job trayn in namespace team-a: there is no such Job, or nothing of it is known here; "
            "did you mean train?; if there is one, its events say more: kubectl describe job -n "
            "team-a trayn");
  add(pod("db-0").owner("StatefulSet", "database"));
  EXPECT_THAT(find({"sts/databas"}), HasSubstr("; did you mean database?"));
  EXPECT_THAT(find({"deploy/databas"}), Not(HasSubstr("did you mean"))) << "another kind's";
  clues_.workloads.push_back({.kind = "Deployment", .namespace_ = "team-a", .name = "server"});
  EXPECT_THAT(find({"deploy/servr"}), HasSubstr("; did you mean server?"));
  unread("jobs.batch");
  unread("deployments.apps");
  EXPECT_THAT(find({"job/other"}), EndsWith("; this account may not read jobs.batch: no rule "
                                            "grants it"));
  EXPECT_THAT(find({"deploy/other"}), EndsWith("; this account may not read deployments.apps: no "
                                               "rule grants it"));
}

TEST_F(Subjects, ABareNameIsANodesOrAPods) {
  add(pod("web"));
  EXPECT_EQ(find({"web"}), "Pod web");
  EXPECT_EQ(find({""}), "node/: there is no such node");
  EXPECT_EQ(find({"n11"}),
            "n11 is no node's name, and pod/n11 in namespace team-a: there is no such pod; did you "
            "mean n1?");
  EXPECT_THAT(find({"wbe"}), EndsWith("; did you mean web?")) << "the pod, and no node besides";
  unread("nodes");
  EXPECT_THAT(find({"n11"}), StartsWith("pod/n11 in namespace team-a"));
}

}  // namespace
}  // namespace berth::test
