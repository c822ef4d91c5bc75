// SPDX-License-Identifier: Apache-2.0
// `berth simulate` and `berth plan --simulate` as programs: exit codes and output streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/program.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string example(const std::string& name) {
  return source_dir() + "/examples/simulation/" + name;
}

TEST(Simulate, TheHeadlineTellsWhatTheReadmePromises) {
  const Ran ran = run_berth({"simulate", "-f", example("headline.yaml")});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("says PodDisruptionBudget team-a/train"),
                             HasSubstr("crashes: killed between two instructions"),
                             HasSubstr("waits (Held)"), HasSubstr("8 of 8 nodes updated"),
                             HasSubstr("Ended as expected")));
  EXPECT_THAT(ran.err, StartsWith("It took ")) << "what differs from run to run";
}

TEST(Simulate, TheOtherExamplesEndAsTheySay) {
  for (const char* name :
       {"wedged-agent.yaml", "two-berths.yaml", "failed-node.yaml", "gang-in-line.yaml"}) {
    const Ran ran = run_berth({"simulate", "-f", example(name)});
    EXPECT_EQ(ran.exit_code, 0) << name << "\n" << ran.out << ran.err;
  }
}

TEST(Simulate, WritesJSONForMachinesTheSameEachTime) {
  const std::string yaml =
      "nodes: [{count: 2}]\nworkloads: [{name: a, replicas: 2}]\n"
      "timeline: [{at: 5s, crash: leader}, {at: 10s, cordon: n1}]\n";
  const auto run = [&](const std::string& seed) {
    return run_berth({"simulate", "-f", "-", "-o", "json", "--seed", seed}, yaml);
  };
  const Ran first = run("3"), again = run("3"), other = run("4");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, StartsWith("{\n  \"apiVersion\": \"simulation.gpu.berth.dev/v1\""));
  EXPECT_EQ(first.out, again.out);
  EXPECT_NE(first.out, other.out);
}

TEST(Simulate, SaysWhatIsWrong) {
  Ran ran = run_berth({"simulate"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("name the scenario to play"));

  ran = run_berth({"simulate", "-f", "/nowhere.yaml"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("/nowhere.yaml: No such file"));

  ran = run_berth({"simulate", "-f", "-"}, "nodes: [{count: 1}]\ntimelin: []\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("stdin:2: timelin: unknown field; did you mean timeline?"));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Simulate, AManifestIsNotTakenForAScenario) {
  const Ran ran = run_berth({"simulate", "-f", golden("rollout/layout.yaml")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr(": this is a MIGLayout, not a scenario; berth plan -f reads it"));
  EXPECT_THAT(ran.err, Not(HasSubstr("unknown field")));
}

TEST(Simulate, ExitsWith1WhereItDoesNotEndAsExpected) {
  const Ran ran =
      run_berth({"simulate", "-f", "-"}, "nodes: [{count: 1}]\nlimit: 2m\nexpect: {a: True}\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("Did not end as expected: layout a: is not there"));
}

TEST(PlanSimulate, CarriesThePlanOutOnACopyOfTheCluster) {
  const Ran ran = run_berth({"plan", "--simulate", "-f", golden("rollout/layout.yaml"),
                             "--snapshot", golden("rollout/cluster.json")});
  EXPECT_EQ(ran.exit_code, 2) << ran.out << ran.err;
  EXPECT_THAT(ran.out, StartsWith("Plan: "));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Carried out on a simulated copy"), HasSubstr("in sum"),
                             HasSubstr("From the first cordon to the last return: ")));
  EXPECT_THAT(ran.out, Not(HasSubstr("does not finish")));
}

TEST(PlanSimulate, SaysWhereAChangeGetsStuck) {
  const Ran ran = run_berth({"plan", "--simulate", "-f", golden("budget/layout.yaml"), "--snapshot",
                             golden("budget/cluster.json")});
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("It does not finish: layout "));
}

TEST(PlanSimulate, WritesJSONAndNoYAML) {
  const std::string layout = golden("rollout/layout.yaml");
  const std::string cluster = golden("rollout/cluster.json");
  Ran ran = run_berth({"plan", "--simulate", "-f", layout, "--snapshot", cluster, "-o", "json"});
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"kind\": \"SimulationReport\""));
  ran = run_berth({"plan", "--simulate", "-f", layout, "--snapshot", cluster, "-o", "yaml"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("--simulate can't write yaml"));
}

}  // namespace
}  // namespace berth::test
