// SPDX-License-Identifier: Apache-2.0
// Outline: the recorded usage, and whether it is still the base of the count; the usage up to now;
// one write.
#include <algorithm>
#include <chrono>

#include "apis/base/names.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/status/gpu_holdings.h"
#include "controller/queue/status/usage_meter.h"

namespace berth::queue {
namespace {

using namespace std::chrono_literals;

constexpr Duration kBetweenCheckpoints = 1min;

Periods periods_of(const Snapshot& snapshot) {
  Periods periods;
  for (const auto& queue : snapshot.cluster.gpu_queues())
    if (queue->spec.budget)
      periods[queue->meta.name] = period_at(*queue->spec.budget, snapshot.zones, snapshot.now);
  return periods;
}

// Whether more than the time has changed.
bool says_more(const GpuHours& now, const GpuHours& written) {
  return now.days != written.days || now.months != written.months || now.budgets != written.budgets;
}

}  // namespace

// Another writer may have changed the ConfigMap: an earlier leader whose write was late, or a user.
void UsageMeter::begin_anew_if_edited(const ConfigMap* standing, const GpuHours& written) {
  static const UsageTexts kNone;
  const UsageTexts& stands = standing == nullptr ? kNone : standing->data;
  if (looked_ && stands == written_) read_ = stands;
  if (looked_ && stands == read_) return;
  hours_ = seeded(SeededBug::kForgetUse) ? GpuHours() : written;
  held_.clear();
  looked_ = false;
  read_ = written_ = stands;
}

std::optional<Duration> UsageMeter::until_next(const Snapshot& snapshot,
                                               const GpuHours& written) const {
  std::optional<Duration> next;
  const auto at = [&](Time time) {
    const Duration wait = std::max<Duration>(std::chrono::ceil<Duration>(time - snapshot.now), 1s);
    next = next ? std::min(*next, wait) : wait;
  };
  for (const auto& [queue, account] : hours_.budgets) at(account.period.until);
  if (!held_.empty() || says_more(hours_, written))
    at(written.at ? *written.at + kBetweenCheckpoints : snapshot.now);
  return next;
}

Plan UsageMeter::reconcile(const Snapshot& snapshot) {
  Plan plan;
  if (snapshot.offline || snapshot.cluster.gpu_queues().size() == 0) return plan;
  const ConfigMap* standing = snapshot.cluster.config_maps().find(snapshot.settings.berth_namespace,
                                                                  names::kUsageConfigMap);
  const GpuHours& written = gpu_hours_in(snapshot.cluster, snapshot.settings);
  begin_anew_if_edited(standing, written);

  const auto& facts = snapshot.cluster.view<ClusterIndex>().facts();
  const std::vector<Holding> holdings = gpu_holdings(facts);
  count_until(snapshot.now, looked_ ? &held_ : nullptr, holdings, periods_of(snapshot), hours_);
  held_ = sum_of(holdings);
  looked_ = true;

  const bool due =
      !written.at || std::chrono::abs(snapshot.now - *written.at) >= kBetweenCheckpoints;
  if (due && says_more(hours_, written)) {
    written_ = encode_usage(hours_);
    Write step = write_usage(snapshot.settings, standing, written_, "what GPUQueues have used");
    step.in_history = false;
    const ObjectRef object = step.object;
    plan.add(object, std::move(step));
    plan.requeue_in(kBetweenCheckpoints);
  } else if (const auto next = until_next(snapshot, written)) {
    plan.requeue_in(*next);
  }
  return plan;
}

}  // namespace berth::queue
