// SPDX-License-Identifier: Apache-2.0
// tests/golden/why/CASE: cluster.json and subjects in, why.txt and why.json out. Then what each
// answer has to hold whatever its words are: the remedies that name nodes do what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "controller/core/fit.h"
#include "controller/preview/dump.h"
#include "controller/preview/why_node.h"
#include "controller/preview/why_pod.h"
#include "controller/preview/why_subject.h"
#include "tests/preview/cases.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

const fs::path kWhy = fs::path(BERTH_SOURCE_DIR) / "tests/golden/why";

void compare(const fs::path& path, const std::string& text) {
  if (std::getenv("BERTH_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(read_text(path), text) << path << ": the target update-goldens rewrites it";
}

Dump read_cluster(const std::string& name) {
  Result<Dump> dump = load_dump(read_text(kWhy / name / "cluster.json"));
  if (!dump) throw std::runtime_error(describe(dump.error()));
  return *std::move(dump);
}

Explanation ask(const Dump& dump, const std::string& what) {
  const Answers answers;
  const Settings settings;
  const Snapshot snapshot{.cluster = dump.cluster,
                          .answers = answers,
                          .settings = settings,
                          .now = dump.taken_at,
                          .offline = true};
  const Result<Subject> subject = find_subject(dump.cluster, what, "default");
  if (!subject) throw std::runtime_error(describe(subject.error()));
  return subject->node != nullptr ? explain_node(snapshot, *subject->node)
                                  : explain_pod(snapshot, *subject->pod);
}

class WhyGolden : public testing::TestWithParam<std::string> {};

TEST_P(WhyGolden, IsAsRecorded) {
  const Dump dump = read_cluster(GetParam());
  std::istringstream subjects(read_text(kWhy / GetParam() / "subjects"));
  std::string text, json, what;
  while (std::getline(subjects, what)) {
    const Explanation explanation = ask(dump, what);
    text += "$ berth why " + what + "\n" + print_text(explanation) + "\n";
    if (json.empty()) json = print_json(explanation);
  }
  compare(kWhy / GetParam() / "why.txt", text);
  compare(kWhy / GetParam() / "why.json", json);
}

INSTANTIATE_TEST_SUITE_P(Golden, WhyGolden, testing::Values("nodes", "pods", "bound-pods"),
                         [](const auto& param) {
                           return param.param == "bound-pods" ? std::string("bound_pods")
                                                              : param.param;
                         });

const Explanation::Remedy& first_remedy(const Explanation& explanation) {
  if (explanation.remedies.empty()) throw std::runtime_error("there is no remedy");
  return explanation.remedies.front();
}

TEST(WhyPod, TheTolerationItTellsToWritePlacesThePod) {
  Dump dump = read_cluster("pods");
  const Explanation before = ask(dump, "vision/anywhere-0");
  EXPECT_EQ(before.reason, "Unschedulable");
  EXPECT_EQ(first_remedy(before).line,
            "tolerations: [{key: nvidia.com/gpu, operator: Equal, value: \"present\", effect: "
            "NoSchedule}]");
  EXPECT_EQ(first_remedy(before).nodes, std::vector<std::string>{"r1"});
  Pod pod = *dump.cluster.pods().find("vision", "anywhere-0");
  pod.tolerations = {{"nvidia.com/gpu", "Equal", "present", "NoSchedule"}};
  dump.cluster.upsert(pod, dump.taken_at);
  EXPECT_EQ(ask(dump, "vision/anywhere-0").reason, "AwaitsScheduler");
}

TEST(WhyPod, APoolForOtherNamespacesIsNoMatterOfTolerations) {
  Dump dump = read_cluster("pods");
  for (const Explanation::Remedy& remedy : ask(dump, "vision/anywhere-0").remedies)
    EXPECT_EQ(remedy.line.find("example.com/production"), std::string::npos) << remedy.line;
  Namespace trusted = *dump.cluster.namespaces().find("vision");
  trusted.meta.labels.set("team-risk", "trusted");
  dump.cluster.upsert(trusted, dump.taken_at);
  bool told = false;
  for (const Explanation::Remedy& remedy : ask(dump, "vision/anywhere-0").remedies)
    told |= remedy.line.find("example.com/production") != std::string::npos;
  EXPECT_TRUE(told) << "now it is";
}

bool tells_to_label(const Explanation& explanation) {
  return std::ranges::any_of(explanation.remedies, [](const Explanation::Remedy& remedy) {
    return remedy.line.starts_with("kubectl label namespace");
  });
}

TEST(WhyPod, OpeningAPoolIsAdvisedOnlyWhereThePodWouldThenGoThere) {
  Dump dump = read_cluster("pods");
  EXPECT_TRUE(tells_to_label(ask(dump, "vision/anywhere-0")));
  EXPECT_FALSE(tells_to_label(ask(dump, "vision/full-0"))) << "it asks for nodes of tier training";

  // Held to pools by its owner: nothing but the owner changes that. By the webhook: that would
  // choose anew.
  Pod pod = *dump.cluster.pods().find("vision", "anywhere-0");
  pod.required_node_affinity = {
      {.match_expressions = {{"gpu.berth.dev/pool", SelectorOperator::kIn, {"training"}}}}};
  dump.cluster.upsert(pod, dump.taken_at);
  EXPECT_FALSE(tells_to_label(ask(dump, "vision/anywhere-0")));
  pod.meta.annotations.set("gpu.berth.dev/mutations",
                           "limits nvidia.com/gpu; poolAffinity training");
  dump.cluster.upsert(pod, dump.taken_at);
  EXPECT_TRUE(tells_to_label(ask(dump, "vision/anywhere-0")));
  pod.required_node_affinity.front().match_expressions.push_back(
      {"node.example.com/tier", SelectorOperator::kIn, {"training"}});
  dump.cluster.upsert(pod, dump.taken_at);
  EXPECT_FALSE(tells_to_label(ask(dump, "vision/anywhere-0")));
}

TEST(WhySubject, OfAJobIsThePodThatWaitsElseTheNewest) {
  Dump dump = read_cluster("pods");
  const auto put = [&](const char* name, Duration age, const char* node, PodPhase phase) {
    Pod pod;
    pod.meta.namespace_ = "vision";
    pod.meta.name = name;
    pod.meta.uid = name;
    pod.meta.owner_references = {{.kind = "Job", .name = "night", .controller = true}};
    pod.meta.creation_timestamp = dump.taken_at - age;
    pod.node_name = node;
    pod.phase = phase;
    dump.cluster.upsert(pod, dump.taken_at);
  };
  const auto found = [&] {
    const Result<Subject> subject = find_subject(dump.cluster, "job/night", "vision");
    return subject.has_value() ? subject->pod->meta.name : describe(subject.error());
  };
  EXPECT_NE(found().find("kubectl describe job -n vision night"), std::string::npos) << found();
  using std::chrono::hours;
  put("a", hours(5), "t1", PodPhase::kFailed);
  put("b", hours(3), "t1", PodPhase::kRunning);
  put("c", hours(4), "t1", PodPhase::kRunning);
  put("d", hours(1), "t1", PodPhase::kFailed);
  EXPECT_EQ(found(), "b");
  put("e", hours(6), "", PodPhase::kPending);
  EXPECT_EQ(found(), "e");
  EXPECT_EQ(find_subject(dump.cluster, "jobs/vision/night", "x").value().pod->meta.name, "e");
  EXPECT_NE(describe(find_subject(dump.cluster, "job/nigth", "vision").error())
                .find("did you mean night?"),
            std::string::npos);
}

struct Asked {
  const char* what;
  const char* expected;  // of the error
};

TEST(WhySubject, IsFoundByAnyNameOrTheNearestIsTold) {
  const Dump dump = read_cluster("pods");
  for (const char* name : {"vision/full-0", "pod/vision/full-0", "Pod/vision/full-0"})
    EXPECT_EQ(find_subject(dump.cluster, name, "default").value().pod->meta.name, "full-0") << name;
  for (const char* name : {"full-0", "pod/full-0", "po/full-0"})
    EXPECT_EQ(find_subject(dump.cluster, name, "vision").value().pod->meta.name, "full-0") << name;
  for (const char* name : {"t1", "node/t1", "Node/t1"})
    EXPECT_EQ(find_subject(dump.cluster, name, "vision").value().node->meta.name, "t1") << name;
  const Asked cases[] = {
      {"node/t11", "node/t11: there is no such node; did you mean t1?"},
      {"vision/ful-0", "did you mean full-0?"},
      {"full-0", "there is vision/full-0"},
      {"vision/train", "there is train-a, train-b"},
      {"", "there is no such node"},
      {"pod/", "there is no such pod"},
      {"/", "there is no such pod"},
      {"a/b/c/d", "there is no such pod"},
  };
  for (const Asked& c : cases) {
    const Result<Subject> subject = find_subject(dump.cluster, c.what, "default");
    ASSERT_FALSE(subject.has_value()) << c.what;
    EXPECT_NE(describe(subject.error()).find(c.expected), std::string::npos)
        << describe(subject.error());
  }
}

}  // namespace
}  // namespace berth
