// SPDX-License-Identifier: Apache-2.0
// tests/golden/plan/CASE: cluster.json and layout.yaml in, plan.txt and plan.json out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apis/codec/manifest.h"
#include "controller/preview/json.h"
#include "controller/preview/project.h"
#include "controller/preview/text.h"
#include "controller/preview/yaml.h"
#include "tests/preview/cases.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void compare(const fs::path& path, const std::string& text) {
  if (std::getenv("BERTH_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(read_text(path), text) << path << ": the target update-goldens rewrites it";
}

// As kubectl would read it.
Json read_back(const std::string& yaml) {
  const Manifest manifest = parse_manifest(yaml, "plan.yaml");
  for (const Finding& finding : manifest.findings) ADD_FAILURE() << format(finding);
  if (manifest.documents.size() != 1) return nullptr;
  return Json::parse(manifest.documents.front().json);
}

class PlanGolden : public testing::TestWithParam<std::string> {};

TEST_P(PlanGolden, IsAsRecorded) {
  const GoldenCase golden = read_case(GetParam());
  const Given given{golden.layouts, golden.policies, golden.queues, golden.workloads};
  const Projection projection =
      project(golden.dump.cluster, given, Settings(), golden.dump.taken_at);
  compare(kGoldens / GetParam() / "plan.txt", print_text(projection));
  compare(kGoldens / GetParam() / "plan.json", print_json(projection));
  EXPECT_EQ(read_back(print_yaml(projection)), Json::parse(print_json(projection)));
}

TEST(PlanYAML, AStringThatLooksLikeAnotherThingStaysAString) {
  const std::string json = R"({"kind": "Plan",
    "words": ["true", "No", "ON", "y", "null", "~", "", "Nope", "yes-man"],
    "numbers": ["1", "-1", "1e3", "0x1F", "010", "1_000", ".5", "+.inf", ".nan", "1:30", "12:30:45"],
    "times": ["2026-11-21", "2026-11-21T12:00:00Z"],
    "marks": ["- a", "a: b", "a #b", "#", "@x", "`x`", "*x", "&x", "!x", "%x", "|", ">", "{}", "[",
              "a,b", "'a'", "\"a\"", "a\\b", "a\tb", "a\nb\n", " a", "a ", "\u007f", "---", "...", "? x"],
    "unicode": ["1g.10gb ×7", "naïve…", "😀"],
    "real": [true, false, null, 0, -7, 9007199254740993],
    "nested": [[], {}, [[1, [2]], []], {"a": {"b": [{"c": "d", "e": []}]}}, [{"f": 1}, {"g": {}}]],
    "no": {"1": "key", "a b": "key", "true": 1}})";
  EXPECT_EQ(read_back(json_to_yaml(json)), Json::parse(json)) << json_to_yaml(json);
}

TEST(PlanYAML, ReadsLikeAManifest) {
  EXPECT_EQ(json_to_yaml(R"({"kind":"Plan","nodes":[{"node":"n1","pods":[{"pod":"a/b"}]},)"
                         R"({"node":"007","pods":[]}],"capacity":{"before":32,"why":"a: b"}})"),
            R"(kind: Plan
nodes:
- node: n1
  pods:
  - pod: a/b
- node: "007"
  pods: []
capacity:
  before: 32
  why: "a: b"
)");
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kGoldens))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Golden, PlanGolden, testing::ValuesIn(cases()), test_name);

}  // namespace
}  // namespace berth
