// SPDX-License-Identifier: Apache-2.0
// A scenario played to its end, as tests look at it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/scenario/rollout_times.h"
#include "controller/scenario/scenario.h"

namespace berth::test {

struct Played {
  std::string transcript;  // a line each, as `berth simulate` prints them
  std::string end;         // the tables
  std::string json;
  std::string unsettled;
  std::vector<NodeOut> outs;
  std::chrono::milliseconds elapsed{0};
};
Played play(const Scenario& scenario, std::uint64_t seed = 1);
// From YAML, which has to be right.
Played play(const std::string& yaml, std::uint64_t seed = 1);

// Nodes n1, n2, … with 4 A100-80GB; a layout `small` for all of them at 1 s.
std::string small_scenario(int nodes, const std::string& more = "");

}  // namespace berth::test
