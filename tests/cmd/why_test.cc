// SPDX-License-Identifier: Apache-2.0
// `berth why` as a program: exit codes, output streams and error messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Ran why(std::vector<std::string> more) {
  std::vector<std::string> arguments = {"why", "--snapshot", golden("../why/pods/cluster.json")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_berth(arguments);
}

TEST(Why, AnswersAndSaysSoByItsExitCode) {
  for (const std::vector<std::string>& asked : {std::vector<std::string>{"vision/full-0"},
                                                {"full-0", "-n", "vision"},
                                                {"pod/full-0", "--namespace", "vision"},
                                                {"pod", "full-0", "-n", "vision"},
                                                {"-n", "vision", "pod", "full-0"}}) {
    const Ran ran = why(asked);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, StartsWith("Pod/vision/full-0: Pending, Unschedulable\n"));
    EXPECT_THAT(ran.err, IsEmpty());
  }
  EXPECT_THAT(why({"t1"}).out, StartsWith("Node/t1: "));
}

TEST(Why, WritesJSONForMachines) {
  const Ran ran = why({"vision/full-0", "-o", "json"});
  EXPECT_EQ(ran.exit_code, 0);
  std::ifstream file(golden("../why/pods/why.json"), std::ios::binary);
  EXPECT_EQ(ran.out,
            std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
}

TEST(Why, WritesYAMLOfTheSameDocument) {
  const Ran ran = why({"vision/full-0", "-o", "yaml"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("apiVersion: why.gpu.berth.dev/v1\nkind: Explanation\n"));
}

TEST(Why, WithoutASubjectListsWhatWaits) {
  const Ran here = why({"-n", "vision"});
  EXPECT_EQ(here.exit_code, 0) << here.err;
  EXPECT_THAT(here.out, HasSubstr("Pod/full-0"));
  EXPECT_THAT(here.out, testing::Not(HasSubstr("train-a"))) << "it runs";
  EXPECT_THAT(why({}).out, StartsWith("No pod waits for GPUs in namespace default.\n"));
  const Ran all = why({"-A", "-o", "json"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("\"kind\": \"ExplanationList\""));
}

struct WhyCase {
  std::vector<std::string> asked;
  const char* expected;
};

TEST(Why, AnErrorNamesWhatIsNearest) {
  const WhyCase cases[] = {
      {{"vision/ful-0"}, "berth why: pod/ful-0 in namespace vision: there is no such pod"},
      {{"vision/ful-0"}, "did you mean full-0?"},
      {{"node/t3"}, "berth why: node/t3: there is no such node"},
      {{"t1", "-A"}, "-A: goes without SUBJECT"},
      {{"crd", "x"}, "\"crd\" is no kind that berth explains"},
      {{"t1", "-o", "xml"}, "xml"},
  };
  for (const WhyCase& c : cases) {
    const Ran ran = why(c.asked);
    EXPECT_EQ(ran.exit_code, 1) << c.expected;
    EXPECT_THAT(ran.err, HasSubstr(c.expected));
    EXPECT_THAT(ran.out, IsEmpty());
  }
  const Ran ran = run_berth({"why", "t1", "--snapshot", "/nowhere.json"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("/nowhere.json: No such file"));
}

}  // namespace
}  // namespace berth::test
