// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/preemption_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/queue/model.h"

namespace berth::queue::test {

void LittleCluster::add_node(const std::string& name, std::int64_t gpus, const std::string& pool) {
  nodes.push_back(
      {.name = name, .pool = pool, .offers = {{kGpu, gpus}}, .gpu_weights = {{kGpu, kWholeGpu}}});
}

QueueFact& LittleCluster::add_queue(const std::string& name, std::int64_t nominal) {
  return queues.emplace_back(
      QueueFact{.name = name,
                .cohort = "c",
                .quotas = {{.resource = kGpu, .pool = "training", .nominal = nominal}},
                .preemption = {.own = true, .others = Reclaims::kAny}});
}

JobFact& LittleCluster::add_waiting(const std::string& name, const std::string& queue,
                                    std::int64_t gpus, std::int32_t priority, std::int64_t size) {
  return jobs.emplace_back(JobFact{.workload = name,
                                   .uid = "uid-" + name,
                                   .queue = queue,
                                   .priority = priority,
                                   .created = std::ssize(jobs),
                                   .requests = {{kGpu, gpus}},
                                   .parallelism = size});
}

JobFact& LittleCluster::add_running(const std::string& name, const std::string& queue,
                                    std::int64_t gpus, const std::vector<std::string>& on,
                                    std::int32_t priority) {
  JobFact& job = add_waiting(name, queue, gpus, priority, std::ssize(on));
  job.suspended = false;
  job.admitted = AdmissionFact{.uid = job.uid,
                               .queue = queue,
                               .cohort = "c",
                               .pool = "training",
                               .pods = job.parallelism,
                               .amounts = {{kGpu, gpus * job.parallelism}},
                               .since = job.created};
  for (const std::string& node : on)
    pods.push_back({.uid = fmt::format("{}-{}", name, pods.size()),
                    .workload = name,
                    .requests = job.requests,
                    .state = PodState::kBound,
                    .node = node});
  return job;
}

void LittleCluster::add_running(const std::string& queue, int count, const std::string& node) {
  for (int i = 1; i <= count; ++i) add_running(fmt::format("{}{}", queue, i), queue, 1, {node});
}

void LittleCluster::stop(const std::string& name) {
  for (JobFact& job : jobs)
    if (job.workload == name) job.suspended = true;
}

namespace {

std::vector<std::string> admitted_lines(const ClusterFacts& facts, std::int64_t now) {
  FactsIndex index;
  fill(facts, index);
  const Outcome outcome = decide(index, 1000, now);
  EXPECT_EQ(print(outcome), print(decide_by_the_book(facts, 1000, now))) << print(facts);
  return outcome.admitted;
}

}  // namespace

std::vector<std::string> awaited(const ClusterFacts& facts, std::int64_t now) {
  std::vector<std::string> lines;
  for (const std::string& line : admitted_lines(facts, now)) {
    const std::size_t awaits = line.find(" awaits ");
    lines.push_back(line.substr(0, line.find(' ')));
    if (awaits != std::string::npos) lines.back() += line.substr(awaits);
  }
  return lines;
}

std::vector<std::string> decided(const ClusterFacts& facts, std::int64_t now) {
  std::vector<std::string> lines;
  for (const std::string& whole : admitted_lines(facts, now)) {
    const std::string line = whole.substr(0, whole.find(" awaits "));
    const std::size_t after = line.find(" after ");
    lines.push_back(line.substr(0, line.find(' ')));
    if (after != std::string::npos) lines.back() += line.substr(after);
    if (lines.back().ends_with(' ')) lines.back() += "others";
  }
  return lines;
}

}  // namespace berth::queue::test
