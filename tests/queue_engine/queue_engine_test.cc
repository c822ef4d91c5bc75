// SPDX-License-Identifier: Apache-2.0
// The queue decides by plain values: this program links neither Kubernetes' types nor their
// readers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "controller/queue/cycle/cycle.h"
#include "controller/queue/cycle/words.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;

constexpr char kGpu[] = "nvidia.com/gpu";

JobFact job(const std::string& name, std::int64_t gpus, std::int64_t created) {
  return {.workload = "Job/vision/" + name,
          .uid = name,
          .queue = "vision",
          .created = created,
          .requests = {{kGpu, gpus}}};
}

TEST(QueueEngine, DecidesWithoutKubernetesTypes) {
  FactsIndex index;
  index.put(NodeFact{.name = "gpu-1", .pool = "training", .offers = {{kGpu, 8}}});
  QueueFact queue{.name = "vision"};
  queue.quotas.push_back({.resource = kGpu, .pool = "training", .nominal = 8});
  index.put(queue);
  index.put(job("first", 6, 1));
  index.put(job("second", 4, 2));

  Cycle cycle(index);
  cycle.run(10);

  std::vector<std::string> admitted;
  for (const Admission& admission : cycle.admissions())
    admitted.push_back(*admission.workload->name);
  EXPECT_THAT(admitted, ElementsAre("Job/vision/first"));
  const Verdict why = cycle.why(*index.find("Job/vision/second"));
  EXPECT_EQ(why.reason, Reason::kWaitingForQuota) << describe(why, index.catalog());
}

}  // namespace
}  // namespace berth::queue
