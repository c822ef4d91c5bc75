// SPDX-License-Identifier: Apache-2.0
#include "tests/kstatus/state_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace berth::test {
namespace {

using nlohmann::json;

// Removes the files of an earlier run.
struct EmptyFolder : ::testing::Environment {
  void SetUp() override {
    std::filesystem::remove_all(BERTH_STATES);
    std::filesystem::create_directories(BERTH_STATES);
  }
};
[[maybe_unused]] const auto* const kEmptied =
    ::testing::AddGlobalTestEnvironment(new EmptyFolder);  // gtest deletes it

std::string reason(const json& object, const std::string& type) {
  for (const json& condition : object["status"]["conditions"])
    if (condition["type"] == type) return condition["reason"];
  return "";
}

}  // namespace

void write_state(const std::string& name, const json& object, const std::string& kstatus,
                 const std::string& argo) {
  const std::string file =
      fmt::format("{}/{}-{}.json", BERTH_STATES, object["kind"].get<std::string>(), name);
  std::ofstream(file) << json{{"kstatus", kstatus}, {"argo", argo}, {"object", object}}.dump(1);
}

void expect_state(const State& state, const json& object) {
  EXPECT_EQ(reason(object, "Ready"), state.reason) << object.dump(1);
  std::string beside;
  for (const char* type : {"Reconciling", "Stalled"})
    if (const std::string why = reason(object, type); !why.empty())
      beside += fmt::format("{} {}", type, why);
  EXPECT_EQ(beside, state.beside) << object.dump(1);
  write_state(state.name, object, state.kstatus, state.argo);
}

}  // namespace berth::test
