// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a Job whose ledger entry names workloads that must leave first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_workload.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

TEST(AwaitedWhy, NamesThoseThatItWaitsForAndWhomItDisplaces) {
  ClusterState cluster;
  const Time now = *parse_time("2026-11-21T12:00:00Z");
  const auto add = [&](auto object) { cluster.upsert(std::move(object), now); };
  add(queue::policy_with("training")), add(queue::node_of("n1", 8));
  add(queue::namespace_of("ns", "vision")), add(queue::queue_of("vision", 8));
  add(queue::job_of("ns", "train", 8));
  const queue::LedgerFact entry{
      .workload = "Job/ns/train",
      .admission = {.uid = "train",
                    .queue = "vision",
                    .cohort = "research",
                    .pool = "training",
                    .amounts = {{"nvidia.com/gpu", 8}},
                    .nodes = {"n1"}},
      .ahead = {{.workload = "Pod/ns/stuck", .uid = "stuck"},
                {.workload = "Job/ns/eval", .uid = "eval", .evicted = true}}};
  const Settings settings;
  ConfigMap ledger;
  ledger.meta.name = names::kAdmissionsConfigMap;
  ledger.meta.namespace_ = settings.berth_namespace;
  ledger.data["train"] = encode_entry(entry);
  add(ledger);

  const Answers answers;
  const Explanation why = explain_workload(Snapshot{cluster, answers, settings, now},
                                           {"Job", "ns", "train"}, no_clues());
  EXPECT_EQ(why.reason, "WaitingForOthers");
  EXPECT_THAT(why.message, HasSubstr("it is admitted, and starts once Pod/ns/stuck, Job/ns/eval "
                                     "(displaced for it) have gone"));
}

}  // namespace
}  // namespace berth
