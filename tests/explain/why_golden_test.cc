// SPDX-License-Identifier: Apache-2.0
// tests/golden/why/CASE: cluster.json and subjects in, why.txt and why.json out. Then properties of
// every answer, whatever its text: remedies that name nodes have the stated effect.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "controller/dump/dump.h"
#include "controller/explain/explain_layout.h"
#include "controller/explain/explain_node.h"
#include "controller/explain/explain_pod.h"
#include "controller/explain/explain_workload.h"
#include "controller/explain/subject.h"
#include "controller/explain/waiting_list.h"
#include "controller/fleet/fit.h"
#include "tests/support/places.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// As a user types it, in a namespace.
Result<Subject> find_subject(const Dump& dump, const std::string& text,
                             const std::string& namespace_) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) words.push_back("");
  const Result<SubjectName> name = parse_subject(words, namespace_);
  if (!name) return name.error();
  return berth::find_subject(dump.cluster, dump.clues, *name);
}

const fs::path kWhy = fs::path(test::source_dir()) / "tests/golden/why";

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

const Settings kSettings;
const Answers kAnswers;

Snapshot snapshot_of(const Dump& dump) {
  return {.cluster = dump.cluster,
          .answers = kAnswers,
          .settings = kSettings,
          .now = dump.taken_at,
          .offline = true};
}

// "SUBJECT", "SUBJECT -n NAMESPACE".
Explanation ask(const Dump& dump, const std::string& what) {
  const Snapshot snapshot = snapshot_of(dump);
  const std::size_t flag = what.find(" -n ");
  const Result<Subject> subject = find_subject(
      dump, what.substr(0, flag), flag == what.npos ? "default" : what.substr(flag + 4));
  if (!subject) throw std::runtime_error(describe(subject.error()));
  if (subject->node != nullptr) return explain_node(snapshot, *subject->node, dump.clues);
  if (subject->layout != nullptr) return explain_layout(snapshot, *subject->layout, dump.clues);
  if (subject->workload) return explain_workload(snapshot, *subject->workload, dump.clues);
  return explain_pod(snapshot, *subject->pod, dump.clues);
}

class WhyGolden : public testing::TestWithParam<std::string> {};

TEST_P(WhyGolden, IsAsRecorded) {
  const Dump dump = read_cluster(GetParam());
  std::istringstream subjects(read_text(kWhy / GetParam() / "subjects"));
  std::string text, json, what;
  while (std::getline(subjects, what)) {
    text += "$ berth why " + what + "\n";
    if (what.starts_with("-")) {
      const WaitingList list =
          list_waiting(snapshot_of(dump), what == "-A" ? "" : what.substr(3), dump.clues);
      text += print_text(list) + "\n";
      continue;
    }
    try {
      const Explanation explanation = ask(dump, what);
      text += print_text(explanation) + "\n";
      if (json.empty()) json = print_json(explanation);
    } catch (const std::runtime_error& error) {
      text += std::string("berth why: ") + error.what() + "\n\n";
    }
  }
  compare(kWhy / GetParam() / "why.txt", text);
  compare(kWhy / GetParam() / "why.json", json);
}

INSTANTIATE_TEST_SUITE_P(Golden, WhyGolden,
                         testing::Values("nodes", "pods", "bound-pods", "view-only", "workloads",
                                         "abandoned", "queues", "queues-placed"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
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
  pod.shape.edit()->tolerations = {{"nvidia.com/gpu", "Equal", "present", "NoSchedule"}};
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

TEST(WhyPod, WhatItTellsToWriteTogetherPlacesThePodAndNeitherAloneDoes) {
  Dump dump = read_cluster("pods");
  const Explanation::Remedy remedy = first_remedy(ask(dump, "vision/slip-0"));
  EXPECT_EQ(remedy.line,
            "nodeSelector: {node.example.com/tier: research}\ntolerations: [{key: nvidia.com/gpu, "
            "operator: Equal, value: \"present\", effect: NoSchedule}]");
  EXPECT_EQ(remedy.nodes, std::vector<std::string>{"r1"});
  EXPECT_NE(remedy.message.find("did you mean research?"), std::string::npos) << remedy.message;

  const Pod before = *dump.cluster.pods().find("vision", "slip-0");
  const auto reason_of = [&](bool select, bool tolerate) {
    Pod pod = before;
    if (select) pod.shape.edit()->node_selector.set("node.example.com/tier", "research");
    if (tolerate)
      pod.shape.edit()->tolerations = {{"nvidia.com/gpu", "Equal", "present", "NoSchedule"}};
    dump.cluster.upsert(pod, dump.taken_at);
    return ask(dump, "vision/slip-0").reason;
  };
  EXPECT_EQ(reason_of(true, false), "Unschedulable");
  EXPECT_EQ(reason_of(false, true), "Unschedulable");
  EXPECT_EQ(reason_of(true, true), "AwaitsScheduler");
}

TEST(WhyPod, APoolWithoutNodesIsStillGuessed) {
  Dump dump = read_cluster("pods");
  Pod pod = *dump.cluster.pods().find("vision", "slip-0");
  pod.shape.edit()->node_selector = {{Text("gpu.berth.dev/pool"), Text("inferense")}};
  dump.cluster.upsert(pod, dump.taken_at);
  bool told = false;
  for (const Explanation::Remedy& remedy : ask(dump, "vision/slip-0").remedies)
    told |= remedy.message.find("did you mean inference?") != std::string::npos;
  EXPECT_TRUE(told);
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

  // If the owner restricts it to pools, only the owner can change that. If the webhook did, it
  // would choose again.
  Pod pod = *dump.cluster.pods().find("vision", "anywhere-0");
  pod.shape.edit()->required_node_affinity = {
      {.match_expressions = {{"gpu.berth.dev/pool", SelectorOperator::kIn, {"training"}}}}};
  dump.cluster.upsert(pod, dump.taken_at);
  EXPECT_FALSE(tells_to_label(ask(dump, "vision/anywhere-0")));
  pod.meta.annotations.set("gpu.berth.dev/mutations",
                           "limits nvidia.com/gpu; poolAffinity training");
  dump.cluster.upsert(pod, dump.taken_at);
  EXPECT_TRUE(tells_to_label(ask(dump, "vision/anywhere-0")));
  pod.shape.edit()->required_node_affinity.front().match_expressions.push_back(
      {"node.example.com/tier", SelectorOperator::kIn, {"training"}});
  dump.cluster.upsert(pod, dump.taken_at);
  EXPECT_FALSE(tells_to_label(ask(dump, "vision/anywhere-0")));
}

TEST(WhyQueue, NoPlaceIsWorkedOutFromHalfACluster) {
  Dump dump = read_cluster("queues");
  EXPECT_EQ(ask(dump, "job/eval-3 -n nlp").reason, "WaitingForQuota");
  dump.clues.unread.push_back({.resource = "jobs.batch", .instead = "nlp", .message = "forbidden"});
  const Explanation told = ask(dump, "job/eval-3 -n nlp");
  EXPECT_EQ(told.reason, "Suspended");
  EXPECT_EQ(told.facts.front().message, "nlp") << "and no place";
  EXPECT_NE(told.message.find("and waits in queue nlp; why is not known"), std::string::npos);
  const WaitingList list = list_waiting(snapshot_of(dump), "nlp", dump.clues);
  EXPECT_EQ(std::ranges::count_if(
                list.items, [](const Explanation& item) { return item.subject.kind == "Job"; }),
            3);
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
    const Result<Subject> subject = find_subject(dump, "job/night", "vision");
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
  EXPECT_EQ(find_subject(dump, "jobs/vision/night", "x").value().pod->meta.name, "e");
  EXPECT_NE(describe(find_subject(dump, "job/nigth", "vision").error()).find("did you mean night?"),
            std::string::npos);
}

TEST(WhySubject, IsNamedAsKubectlNamesIt) {
  const Dump dump = read_cluster("workloads");
  for (const char* name : {"deploy/nb", "deployment/nb", "Deployment nb", "deployments.apps nb",
                           "deploy research/nb"}) {
    const Result<Subject> subject = find_subject(dump, name, "research");
    ASSERT_TRUE(subject.has_value() && subject->workload) << name;
    EXPECT_EQ(subject->workload->kind + "/" + subject->workload->name, "Deployment/nb");
  }
  for (const char* name : {"migl inference-a100", "miglayouts.gpu.berth.dev/inference-a100"})
    EXPECT_NE(find_subject(dump, name, "x").value().layout, nullptr) << name;
  EXPECT_NE(find_subject(dump, "node t1", "x").value().node, nullptr);
  EXPECT_NE(find_subject(dump, "pod train-77-a", "research").value().pod, nullptr);

  const auto error = [&](const char* name) {
    const Result<Subject> subject = find_subject(dump, name, "research");
    return subject ? std::string("found") : describe(subject.error());
  };
  EXPECT_NE(error("nb").find("there is deployment/nb: berth why -n research deployment/nb"),
            std::string::npos)
      << error("nb");
  EXPECT_EQ(error("nb").find("did you mean"), std::string::npos) << error("nb");
  EXPECT_NE(error("daemonset nb").find("\"daemonset\" is no kind that berth explains"),
            std::string::npos)
      << error("daemonset nb");
  EXPECT_NE(error("cronjob nb").find("no Job of such a CronJob is known here"), std::string::npos)
      << error("cronjob nb");
  EXPECT_NE(error("deploy n").find("kubectl describe deployment -n research n"), std::string::npos);
  EXPECT_NE(error("pod a b").find("one word too many"), std::string::npos);
}

struct Asked {
  const char* what;
  const char* expected;  // of the error
};

TEST(WhySubject, IsFoundByAnyNameOrTheNearestIsTold) {
  const Dump dump = read_cluster("pods");
  for (const char* name : {"vision/full-0", "pod/vision/full-0", "Pod/vision/full-0"})
    EXPECT_EQ(find_subject(dump, name, "default").value().pod->meta.name, "full-0") << name;
  for (const char* name : {"full-0", "pod/full-0", "po/full-0"})
    EXPECT_EQ(find_subject(dump, name, "vision").value().pod->meta.name, "full-0") << name;
  for (const char* name : {"t1", "node/t1", "Node/t1"})
    EXPECT_EQ(find_subject(dump, name, "vision").value().node->meta.name, "t1") << name;
  const Asked cases[] = {
      {"node/t11", "node/t11: there is no such node; did you mean t1?"},
      {"vision/ful-0", "did you mean full-0?"},
      {"full-0", "there is vision/full-0"},
      {"vision/train", "there is replicaset/train: berth why -n vision replicaset/train"},
      {"ds/x/y", "there is no such pod"},
      {"", "there is no such node"},
      {"pod/", "there is no such pod"},
      {"/", "there is no such pod"},
      {"a/b/c/d", "there is no such pod"},
  };
  for (const Asked& c : cases) {
    const Result<Subject> subject = find_subject(dump, c.what, "default");
    ASSERT_FALSE(subject.has_value()) << c.what;
    EXPECT_NE(describe(subject.error()).find(c.expected), std::string::npos)
        << describe(subject.error());
  }
}

}  // namespace
}  // namespace berth
