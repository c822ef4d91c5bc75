// SPDX-License-Identifier: Apache-2.0
// start_laws: what a replayed day draws from (start_replay.h): who asks, how much, for how long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/queue/facts.h"

namespace berth::queue::test {

struct Team {
  std::string name;
  std::int64_t nominal;
  double least, most;  // the part of what it declares that its Jobs take
};

struct GangSize {
  int pods, gpus;
};

inline constexpr int kNodes = 16, kGpusOfNode = 8;

extern const std::vector<Team> kTeams;
// Most are small, as in clusters that have published theirs.
extern const std::vector<GangSize> kSizes;
extern const std::vector<std::int64_t> kDeclared;  // microseconds

// A number from 0 to 1.
using Chance = std::function<double()>;

// Of what it has declared. One in ten fails soon.
double draw_share(const Team& team, const Chance& chance);

const Team& team_of(const std::string& workload);

// Three teams have a queue each, or all one.
std::string queue_of(const Team& team, bool one_queue);

// "Job/vision/NAME".
JobFact job_of(const Team& team, const GangSize& size, std::int64_t declared,
               const std::string& name, bool one_queue);

}  // namespace berth::queue::test
