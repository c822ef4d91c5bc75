// SPDX-License-Identifier: Apache-2.0
// The examples' manifests: every one is valid except the one that must be refused, and the
// scenarios with them end as they claim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "controller/scenario/run_report.h"
#include "tests/examples/example.h"
#include "tests/support/manifest_cases.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kExamples = source_dir() + "/examples/";

TEST(ExampleManifests, AreValidButTheOneThatIsRefused) {
  std::size_t seen = 0;
  std::string refused;
  for (const auto& entry : fs::recursive_directory_iterator(kExamples)) {
    const std::string path = fs::relative(entry.path(), kExamples).string();
    if (!path.ends_with(".yaml") || path.starts_with("simulation/")) continue;
    for (const Example& example : read_examples(path)) {
      const std::string& kind = example.document.kind;
      std::vector<Finding> findings;
      if (kind == "MIGLayout") findings = decode_strict(example.document, path).findings;
      if (kind == "GPUClusterPolicy")
        findings = decode_strict_policy(example.document, path).findings;
      if (kind == "GPUQueue") findings = decode_strict_queue(example.document, path).findings;
      std::string text;
      for (const Finding& finding : findings) text += finding.field + ": " + finding.message;
      if (!text.empty()) refused += path;
      const bool ours = kind == "MIGLayout" || kind == "GPUClusterPolicy";
      EXPECT_EQ(text, ours ? example.claim("refused") : "") << path;
      ++seen;
    }
  }
  EXPECT_EQ(refused, "mistakes/policies/no-execute.yaml");
  EXPECT_GE(seen, 30U);
}

Scenario read_scenario(const std::string& name) {
  const std::string path = kExamples + "simulation/" + name;
  Result<Scenario> scenario = parse_scenario(read_file(path), path);
  if (!scenario) throw std::runtime_error(describe(scenario.error()));
  return *std::move(scenario);
}

struct Played {
  RunReport report;
  std::string transcript;
  const NodeEnd& node(const std::string& name) const {
    for (const NodeEnd& node : report.end.nodes)
      if (node.name == name) return node;
    throw std::runtime_error("no node " + name);
  }
};

Played play(const Scenario& scenario) {
  Played played;
  played.report = play_scenario(scenario, 1, [&](const TranscriptEntry& entry) {
    played.transcript += format(entry) + "\n";
  });
  return played;
}

Played play_example(const std::string& name) {
  Played played = play(read_scenario(name));
  EXPECT_THAT(played.report.unsettled, IsEmpty()) << played.transcript;
  return played;
}

TEST(ExampleScenarios, FourNotebooksShareAGpuAndTheFifthWaits) {
  const Played played = play_example("time-slicing-lab.yaml");
  EXPECT_EQ(played.node("lab-1").offers, "gpu ×4") << played.transcript;
  EXPECT_EQ(played.node("lab-1").gpu_pods, 4);
  EXPECT_THAT(played.report.end.waiting, ElementsAre("lab/notebook-5"));
}

TEST(ExampleScenarios, AGangsPlaceIsKeptFromWhatIsSmallAndCameLater) {
  const Played played = play_example("gang-in-line.yaml");
  EXPECT_THAT(played.report.end.waiting, IsEmpty()) << played.transcript;
  EXPECT_EQ(played.node("n4").gpu_pods, 0) << "what is left over";
  const auto first = [&](const std::string& words) {
    const std::size_t found = played.transcript.find(words);
    EXPECT_NE(found, std::string::npos) << words << " in\n" << played.transcript;
    return found;
  };
  const std::size_t room = first("ends on n1: Succeeded");
  EXPECT_LT(first("nlp/probe-"), room) << "its team lends, and gets its own back";
  EXPECT_GT(first("vision/pretrain-"), room);
  EXPECT_GT(first("vision/evaluate-"), room) << "it would have fitted on n4 for six minutes";
}

TEST(ExampleScenarios, EachTierHasItsPool) {
  const Played played = play_example("tiers.yaml");
  EXPECT_THAT(played.report.end.waiting, IsEmpty()) << played.transcript;
  for (const char* name : {"t1", "t2"}) {
    EXPECT_EQ(played.node(name).offers, "gpu ×8");
    EXPECT_EQ(played.node(name).gpu_pods, 2);
  }
  EXPECT_EQ(played.node("i1").offers, "gpu.shared ×16");
  EXPECT_EQ(played.node("i1").gpu_pods + played.node("i2").gpu_pods, 20);
  EXPECT_EQ(played.node("d1").offers, "gpu.shared ×16");
  EXPECT_EQ(played.node("d1").gpu_pods, 12);
}

TEST(ExampleScenarios, ThePoolIsFormedAndItsLayoutCutsIt) {
  const Played played = play_example("mig-inference.yaml");
  EXPECT_THAT(played.report.end.waiting, IsEmpty()) << played.transcript;
  for (const char* name : {"n1", "n2", "n3"})
    EXPECT_EQ(played.node(name).offers, "1g.10gb ×18, 2g.20gb ×2, 3g.40gb ×2");
  EXPECT_EQ(played.node("train").offers, "gpu ×8");
  EXPECT_THAT(played.transcript, HasSubstr("n1                  enters pool inference"));
}

TEST(ExampleScenarios, ATaintThatAgentsDoNotTolerateIsHeldBack) {
  Scenario scenario = read_scenario("taint-held-back.yaml");
  EXPECT_THAT(play(scenario).report.unsettled, IsEmpty());
  // The claim is part of the message about why the policy is not Ready.
  const std::string claim =
      read_examples("mistakes/policies/unknown-taint.yaml").front().claim("stalled");
  EXPECT_THAT(claim, HasSubstr("held back"));
  scenario.expect["gpuclusterpolicy/cluster"] = "True";
  scenario.limit = std::chrono::minutes(5);
  EXPECT_THAT(play(scenario).report.unsettled, HasSubstr(claim));
}

}  // namespace
}  // namespace berth::test
