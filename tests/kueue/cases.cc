// SPDX-License-Identifier: Apache-2.0
// kueue_cases N: writes N random cases with berth's decisions, one JSON object per line, which
// judge/ compares with Kueue's scheduler. Fails where engine and model disagree.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/kueue/random_case.h"
#include "tests/queue/model.h"

namespace berth::kueue {
namespace {

using nlohmann::json;
using queue::test::ClusterFacts;
using queue::test::Outcome;

json json_of(const queue::QueueFact& queue) {
  json out = {{"name", queue.name},
              {"cohort", queue.cohort},
              {"strictFIFO", queue.strict_fifo},
              {"held", queue.held},
              {"weightThousandths", queue.weight_thousandths}};
  if (queue.quotas.empty()) return out;
  const queue::QuotaFact& quota = queue.quotas.front();
  out["quota"] = {{"nominal", quota.nominal}};
  if (quota.borrowing_limit) out["quota"]["borrowingLimit"] = *quota.borrowing_limit;
  if (quota.lending_limit) out["quota"]["lendingLimit"] = *quota.lending_limit;
  return out;
}

json json_of(const queue::JobFact& job) {
  return {{"name", job.workload},
          {"queue", job.queue},
          {"priority", job.priority},
          {"createdSeconds", job.created / 1'000'000},
          {"pods", job.parallelism},
          {"gpusPerPod", job.requests.front().second},
          {"runs", job.admitted.has_value()}};
}

std::string first_word(const std::string& line) { return line.substr(0, line.find(' ')); }

json json_of(std::uint64_t seed, const ClusterFacts& facts, const Outcome& outcome) {
  json out = {{"seed", seed},
              {"queues", json::array()},
              {"workloads", json::array()},
              {"admitted", json::array()},
              {"waiting", json::object()}};
  for (const queue::QueueFact& queue : facts.queues) out["queues"].push_back(json_of(queue));
  for (const queue::JobFact& job : facts.jobs) out["workloads"].push_back(json_of(job));
  for (const std::string& line : outcome.admitted) out["admitted"].push_back(first_word(line));
  for (const auto& [name, line] : outcome.waiting) out["waiting"][name] = first_word(line);
  return out;
}

int write_cases(std::uint64_t wanted) {
  for (std::uint64_t seed = 0; wanted > 0; ++seed) {
    const ClusterFacts facts = RandomCase(seed).cluster();
    if (has_tie_by_rounding(facts)) continue;
    queue::FactsIndex index;
    fill(facts, index);
    const Outcome engine = queue::test::decide(index, 1'000'000);
    const Outcome model = queue::test::decide_by_the_book(facts, 1'000'000);
    if (!(engine == model)) {
      std::cerr << fmt::format("seed {}: the engine decides\n{}but by the book\n{}of\n{}", seed,
                               print(engine), print(model), print(facts));
      return 1;
    }
    std::cout << json_of(seed, facts, engine).dump() << "\n";
    --wanted;
  }
  return 0;
}

}  // namespace
}  // namespace berth::kueue

int main(int argc, char** argv) {
  if (argc != 2 || std::atoll(argv[1]) <= 0) {
    std::cerr << "usage: kueue_cases NUMBER\n";
    return 2;
  }
  return berth::kueue::write_cases(static_cast<std::uint64_t>(std::atoll(argv[1])));
}
