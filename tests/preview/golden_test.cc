// SPDX-License-Identifier: Apache-2.0
// tests/golden/plan/CASE: cluster.json and layout.yaml in, plan.txt and plan.json out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "controller/preview/json.h"
#include "controller/preview/project.h"
#include "controller/preview/text.h"
#include "tests/preview/cases.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

void compare(const fs::path& path, const std::string& text) {
  if (std::getenv("BERTH_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(read_text(path), text) << path << ": the target update-goldens rewrites it";
}

class PlanGolden : public testing::TestWithParam<std::string> {};

TEST_P(PlanGolden, IsAsRecorded) {
  const GoldenCase golden = read_case(GetParam());
  const Projection projection =
      project(golden.dump.cluster, golden.layouts, Settings(), golden.dump.taken_at);
  compare(kGoldens / GetParam() / "plan.txt", print_text(projection));
  compare(kGoldens / GetParam() / "plan.json", print_json(projection));
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
