// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/start_laws.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/queue/units.h"

namespace berth::queue::test {

const std::vector<Team> kTeams = {
    {"vision", 56, 0.6, 1.0}, {"nlp", 40, 0.3, 0.8}, {"lab", 32, 0.1, 0.95}};

const std::vector<GangSize> kSizes = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 2}, {1, 2}, {1, 4},
                                      {1, 4}, {1, 8}, {1, 8}, {2, 8}, {2, 4}, {4, 8}};

const std::vector<std::int64_t> kDeclared = {30 * kMinute,  60 * kMinute,  60 * kMinute,
                                             120 * kMinute, 120 * kMinute, 240 * kMinute,
                                             480 * kMinute};

double draw_share(const Team& team, const Chance& chance) {
  const bool fails = chance() < 0.1;
  return fails ? 0.1 * chance() : team.least + chance() * (team.most - team.least);
}

const Team& team_of(const std::string& workload) {
  return *std::ranges::find_if(kTeams, [&](const Team& team) {
    return workload.starts_with(fmt::format("Job/{}/", team.name));
  });
}

std::string queue_of(const Team& team, bool one_queue) { return one_queue ? "shared" : team.name; }

JobFact job_of(const Team& team, const GangSize& size, std::int64_t declared,
               const std::string& name, bool one_queue) {
  return {.workload = fmt::format("Job/{}/{}", team.name, name),
          .uid = fmt::format("{}-{}", team.name, name),
          .queue = queue_of(team, one_queue),
          .requests = {{kGpu, size.gpus}},
          .parallelism = size.pods,
          .lasts = declared};
}

}  // namespace berth::queue::test
