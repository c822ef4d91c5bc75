// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_standstill.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_look.h"
#include "tests/explore/whole_store.h"

namespace berth::explore {
namespace {

using namespace std::chrono_literals;

// The longest grace period of the scenarios, a minute, a new leader, and a cycle.
constexpr Duration kPatience = 3min;
constexpr Duration kSoon = 15s;
constexpr Duration kSeldom = 10min;

bool releases(const sim::Change& change) {
  if (change.before == nullptr || change.after == nullptr) return false;
  if (change.key.type->plural == "pods")
    return is_gated(*change.before) && !is_gated(*change.after);
  return change.key.type->plural == "jobs" && true_at(change.before.get(), {"spec", "suspend"}) &&
         !true_at(change.after.get(), {"spec", "suspend"});
}

// Entries that wait for others hold nothing, and are decided again.
void forget_waiting(ClusterState& cluster, const Settings& settings, Time wall) {
  const ConfigMap* stored =
      cluster.config_maps().find(settings.berth_namespace, names::kAdmissionsConfigMap);
  if (stored == nullptr) return;
  ConfigMap ledger = *stored;
  for (const auto& [uid, entry] : queue::read_admissions(*stored).entries)
    if (!entry.ahead.empty()) ledger.data.erase(uid);
  cluster.upsert(std::move(ledger), wall);
}

bool half_is_free(const queue::FactsIndex& facts) {
  const queue::ResourceId* gpu = facts.catalog().find_resource("nvidia.com/gpu");
  if (gpu == nullptr) return false;
  std::int64_t offered = 0, free = 0;
  for (const queue::NodeId id : facts.room().in_order()) {
    const queue::NodeRoom::Node& node = facts.room().node_at(id);
    if (!node.in_service || *gpu >= node.offers.size()) continue;
    offered += node.offers[*gpu];
    free += std::max<std::int64_t>(0, node.left_of_bound(*gpu));
  }
  return offered > 0 && 2 * free >= offered;
}

// The first workload that would be released at once; empty: none.
std::string first_that_fits(const sim::Store& store, const Settings& settings, Time wall) {
  ClusterState cluster;
  read_whole(store, wall, cluster);
  if (cluster.gpu_queues().size() == 0) return "";
  forget_waiting(cluster, settings, wall);
  const auto& facts = cluster.view<queue::ClusterIndex>().facts();
  if (!half_is_free(facts)) return "";
  const Answers answers;
  const Snapshot snapshot{cluster, answers, settings, wall};
  const queue::Survey survey(facts, 0, queue::preemption_terms(snapshot));
  for (const queue::Admission& admission : survey.cycle().admissions())
    if (!admission.after_others && !admission.to_come) return *admission.workload->name;
  return "";
}

}  // namespace

void QueueStandstill::take(const sim::Change& change, bool by_berth, bool runs,
                           const sim::Store& store, Time wall,
                           std::chrono::nanoseconds news_takes) {
  const bool lease = change.key.type->plural == "leases";
  if (!runs || (by_berth && releases(change))) since_.reset();
  if (!lease) look_at_ = std::min(look_at_, wall + kSoon), between_looks_ = kSoon;
  if (wall < look_at_) return;
  look(store, wall);
  const Duration patience = kPatience + 2 * std::chrono::duration_cast<Duration>(news_takes);
  if (since_ && wall - *since_ > patience)
    broken_.push_back(fmt::format(
        "Standstill: half of the GPUs are free, {} waits and would fit, and nothing was released "
        "for {} s",
        fits_, (wall - *since_) / 1s));
}

void QueueStandstill::look(const sim::Store& store, Time wall) {
  fits_ = first_that_fits(store, settings_, wall);
  if (fits_.empty())
    since_.reset();
  else if (!since_)
    since_ = wall;
  between_looks_ =
      since_ ? kSoon : std::min<Duration>(kSeldom, 2 * std::max(between_looks_, kSoon));
  look_at_ = wall + between_looks_;
}

}  // namespace berth::explore
