// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cmd/program.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kQueue[] =
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec:\n"
    "  namespaceSelector: {}\n  resourceGroups:\n  - flavors:\n    - name: f\n"
    "      resources: [{name: nvidia.com/gpu, nominalQuota: 4}]\n"
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n"
    "spec: {nodeLabels: {example.com/gpu: f}}\n";

TEST(Import, WhatItPrintsIsValid) {
  const std::string root = source_dir();
  std::vector<std::string> places = {root + "/examples/import"};
  for (const auto& entry : fs::directory_iterator(root + "/tests/golden/import"))
    places.push_back(entry.path() / "in");
  std::size_t seen = 0;
  for (const std::string& place : places) {
    const Ran made = run_berth({"import", "--policy", "-f", place});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    if (made.out.empty()) continue;
    const Ran judged = run_berth({"validate", "-f", "-"}, made.out);
    EXPECT_EQ(judged.exit_code, 0) << place << "\n" << judged.out << judged.err;
    ++seen;
  }
  EXPECT_GE(seen, 6U);
}

TEST(Import, ObjectsAndWhatIsToBeKnownGoApart) {
  const Ran ran = run_berth({"import", "-f", "-"}, kQueue);
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("# The queues need this of the GPUClusterPolicy"),
                             HasSubstr("\n---\n# From ClusterQueue/q (stdin:1).\n")));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("stdin:5: ClusterQueue/q: spec.namespaceSelector: "),
                             HasSubstr("1 GPUQueue and 0 MIGLayouts; not carried over or changed: "
                                       "0; to do: 1\n")));
}

TEST(Import, AsJsonItIsAList) {
  const Ran ran = run_berth({"import", "-f", "-", "-o", "json", "--policy"}, kQueue);
  const nlohmann::json list = nlohmann::json::parse(ran.out);
  EXPECT_EQ(list["kind"], "List");
  ASSERT_EQ(list["items"].size(), 2U);
  EXPECT_EQ(list["items"][0]["kind"], "GPUClusterPolicy");
  EXPECT_EQ(list["items"][1]["kind"], "GPUQueue");
}

TEST(Import, OfBadInputNothingIsPrinted) {
  const std::string queue = kQueue;
  const std::pair<std::string, const char*> cases[] = {
      {queue + "---\na: [b\n", "stdin:"},
      {queue + "---\na: 1\na: 2\n", "stdin:17: a: is listed twice"},
      {queue + "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: x}\n",
       "stdin:18: LocalQueue/x: metadata.namespace: is required"},
      {"# nothing\n", "there is no object in it"},
  };
  for (const auto& [text, said] : cases) {
    const Ran ran = run_berth({"import", "-f", "-"}, text);
    EXPECT_EQ(ran.exit_code, 1) << said;
    EXPECT_THAT(ran.err, HasSubstr(said));
    EXPECT_THAT(ran.out, IsEmpty()) << said;
  }
}

TEST(Import, FlagsAreChecked) {
  EXPECT_THAT(run_berth({"import"}).err, HasSubstr("-f: name at least one file"));
  const Ran ran = run_berth({"import", "-f", "-", "--label-domain", "nvidia.com"}, kQueue);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("--label-domain: labels of nvidia.com are not for people"));
}

}  // namespace
}  // namespace berth::test
