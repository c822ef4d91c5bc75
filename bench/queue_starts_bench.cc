// SPDX-License-Identifier: Apache-2.0
// queue_starts_bench: how many of the ranges that are told of starts hold, and how wide they are,
// over simulated days; and beside it what could be told by who knew the laws that these days are
// drawn from, and by who knew even how long each Job runs that is there. `queue_starts_bench 12 1`:
// twelve days from the first on. Prints one JSON object.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "tests/queue/start_score.h"

namespace berth::queue::test {
namespace {

constexpr int kJobs = 250;

std::string text_of(const StartScore& score) {
  return fmt::format("{{\"held\": {:.3f}, \"width\": {:.0f}, \"wait\": {:.0f}}}",
                     score.held_share(), score.width(), score.wait());
}

std::string play(ReplayedCluster cluster, Knowing knowing, int days, std::uint64_t first) {
  cluster.knowing = knowing;
  cluster.looks_again = true;
  StartScores scores;
  for (int day = 0; day < days; ++day)
    scores.add(StartReplay(first + static_cast<std::uint64_t>(day), cluster).run(kJobs));
  return fmt::format("{{\"first\": {}, \"standing\": {}}}", text_of(scores.first),
                     text_of(scores.standing));
}

int run(int days, std::uint64_t first) {
  std::string cases;
  for (const bool strict : {true, false}) {
    for (const double load : {0.9, 1.1, 1.4}) {
      const ReplayedCluster cluster{.load = load, .strict_fifo = strict, .one_queue = strict};
      cases += fmt::format("{}\"{}_{}\": {{\"berth\": {}, \"laws\": {}, \"run_times\": {}}}",
                           cases.empty() ? "" : ",\n ", strict ? "strict" : "best_effort", load,
                           play(cluster, Knowing::kWhatItSees, days, first),
                           play(cluster, Knowing::kLaws, days, first),
                           play(cluster, Knowing::kRunTimes, days, first));
    }
  }
  fmt::print("{{{}}}\n", cases);
  return 0;
}

}  // namespace
}  // namespace berth::queue::test

int main(int argc, char** argv) {
  const int days = argc > 1 ? std::atoi(argv[1]) : 4;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return berth::queue::test::run(days, first);
}
