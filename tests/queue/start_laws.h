// SPDX-License-Identifier: Apache-2.0
// start_laws: the distributions of a replayed day (start_replay.h): arrivals, requests, run times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/queue/facts/facts.h"

namespace berth::queue::test {

struct Team {
  std::string name;
  std::int64_t nominal;
  double least, most;  // bounds of the used part of the declared run time
};

struct GangSize {
  int pods, gpus;
};

inline constexpr int kNodes = 16, kGpusOfNode = 8;

extern const std::vector<Team> kTeams;
// Most are small, as in published traces.
extern const std::vector<GangSize> kSizes;
extern const std::vector<std::int64_t> kDeclared;  // microseconds

// Returns a number from 0 to 1.
using Chance = std::function<double()>;

// The used part of the declared run time. One in ten fails early.
double draw_share(const Team& team, const Chance& chance);

const Team& team_of(const std::string& workload);

// Three teams have a queue each, or share one.
std::string queue_of(const Team& team, bool one_queue);

// The workload is "Job/vision/NAME".
JobFact job_of(const Team& team, const GangSize& size, std::int64_t declared,
               const std::string& name, bool one_queue);

}  // namespace berth::queue::test
