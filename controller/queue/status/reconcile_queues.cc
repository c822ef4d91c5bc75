// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "controller/core/bug.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/recall/unbound_pins.h"
#include "controller/queue/status/late_news.h"
#include "controller/queue/status/namespace_quotas.h"
#include "controller/queue/status/newer_records.h"
#include "controller/queue/status/queue_funding.h"
#include "controller/queue/status/queue_status.h"
#include "controller/queue/status/reconcile.h"

namespace berth::queue {
namespace {

// Whether an answer of the API server about a workload to displace may change a status.
bool depends_on_answers(const Cycle& cycle) {
  return !cycle.kept().empty() ||
         std::ranges::any_of(cycle.admissions(), [](const Admission& admission) {
           return std::ranges::any_of(admission.ahead, &Ahead::evicted);
         });
}

Plan plan_statuses(const Snapshot& snapshot) {
  Plan plan;
  const auto& index = snapshot.cluster.view<ClusterIndex>();
  const Survey survey(index.facts(), limits::kMaxPendingWorkloads, preemption_terms(snapshot));
  const QueueFunding funding(index);
  BlockedPins pins = find_blocked_pins(snapshot);
  if (pins.again) plan.requeue_in(std::chrono::ceil<Duration>(*pins.again - snapshot.now));
  LateNews news = find_late_news(snapshot);
  if (news.again) plan.requeue_in(*news.again);
  std::optional<Cause> newer = find_newer_ledger(snapshot);
  const QueueFindings findings{index,
                               survey,
                               funding,
                               index.namespaces(),
                               index.choice().lost_defaults(),
                               find_unmet_quotas(snapshot, index),
                               std::move(pins.by_queue),
                               newer ? std::move(newer) : std::move(news.cause)};
  if (depends_on_answers(survey.cycle())) plan.requeue_in(snapshot.settings.answer_ttl);
  for (const auto& queue : snapshot.cluster.gpu_queues())
    plan.statuses.push_back(compute_queue_status(snapshot, *queue, findings));
  return plan;
}

#ifndef NDEBUG
// Checks that the incrementally updated index gives the same plan as a new one. The copied state
// has no index yet.
void check_index(const Snapshot& snapshot, const Plan& plan) {
  const ClusterState anew(snapshot.cluster);
  const Snapshot copy{.cluster = anew,
                      .answers = snapshot.answers,
                      .settings = snapshot.settings,
                      .now = snapshot.now,
                      .epoch = snapshot.epoch,
                      .zones = snapshot.zones,
                      .samples = snapshot.samples,
                      .attention = snapshot.attention};
  if (plan_statuses(copy) != plan) bug("the queues' index differs from one made anew");
}
#endif

}  // namespace

Plan reconcile_queues(const Snapshot& snapshot) {
  // A cluster without queues does not need the index.
  if (snapshot.cluster.gpu_queues().size() == 0) return {};
  Plan plan = plan_statuses(snapshot);
#ifndef NDEBUG
  check_index(snapshot, plan);
#endif
  return plan;
}

Plan reconcile_namespace_quotas(const Snapshot& snapshot) {
  if (snapshot.offline || snapshot.cluster.gpu_queues().size() == 0) return {};
  return plan_namespace_quotas(snapshot, snapshot.cluster.view<ClusterIndex>());
}

}  // namespace berth::queue
