// SPDX-License-Identifier: Apache-2.0
// The effects of a MIGLayout on admitted workloads: requeue Jobs, evict pods, claim nodes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/admission_record.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_invariants.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AdmissionFact;

// The queue that admitted the Job and would admit it again; null: none.
const QueueInvariants::Quota* QueueInvariants::takes_back(const json& job) const {
  const auto record = record_of(job);
  if (!record || record->uid != text_at(&job, {"metadata", "uid"})) return nullptr;
  const auto queue = queues_.find(record->queue);
  return queue == queues_.end() || queue->second.held ? nullptr : &queue->second;
}

// A pod that is marked for deletion, or deleted at once.
void QueueInvariants::judge_removal(const sim::Change& change, Time heard_of) {
  if (change.before == nullptr || at(change.before.get(), {"metadata", "deletionTimestamp"}))
    return;
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  if (!gone && at(change.after.get(), {"metadata", "deletionTimestamp"}) == nullptr) return;
  if (edited_ >= heard_of) return;
  for (const auto& [name, job] : jobs_)
    if (text_at(job.get(), {"metadata", "uid"}) == owner_uid(*change.before) &&
        !true_at(job.get(), {"spec", "suspend"}) && takes_back(*job) != nullptr)
      complain("Requeue", fmt::format("{} is evicted, and the queue would take Job {} back",
                                      change.key.str(), name));
}

void QueueInvariants::judge_requeue(const sim::Change& change, Time heard_of) {
  const json& job = *change.after;
  const bool requeued = change.before != nullptr && true_at(&job, {"spec", "suspend"}) &&
                        !true_at(change.before.get(), {"spec", "suspend"});
  if (!requeued || takes_back(job) == nullptr || edited_ >= heard_of) return;
  for (const auto& [name, budget] : budgets_) {
    const json* labels = at(budget.first.get(), {"spec", "selector", "matchLabels"});
    if (labels == nullptr || budget.second >= heard_of) continue;
    std::int64_t ready = 0;
    for (const auto& [pod_name, pod] : pods_)
      ready += owner_uid(*pod) == text_at(&job, {"metadata", "uid"}) && selects(*labels, *pod) &&
                       at(pod.get(), {"metadata", "deletionTimestamp"}) == nullptr &&
                       !has_ended(*pod)
                   ? 1
                   : 0;
    const std::int64_t healthy = number_at(budget.first.get(), {"status", "currentHealthy"});
    const std::int64_t least = number_at(budget.first.get(), {"status", "desiredHealthy"});
    if (ready > 0 && healthy > 0 && healthy - ready < least)
      complain("Requeue", fmt::format("{} is taken back, and budget {} keeps {} of {} healthy pods",
                                      change.key.str(), name, least, healthy));
  }
}

// The new slots of the ledger.
void QueueInvariants::judge_claims(const sim::Change& change, Time heard_of) {
  const json* slots = at(change.after.get(), {"data"});
  const json* before = at(change.before.get(), {"data"});
  const json* entries = at(ledger_.get(), {"data"});
  if (slots == nullptr || entries == nullptr) return;
  for (const auto& [uid, text] : entries->items()) {
    const auto entry = queue::decode_entry(text.get<std::string>());
    if (!entry || !entry->refused.empty() ||
        Time(std::chrono::microseconds(entry->admission.since)) >= heard_of)
      continue;
    for (const std::string& node : entry->admission.nodes)
      if (slots->contains(node) && (before == nullptr || !before->contains(node)))
        complain("Flight",
                 fmt::format("{} is taken, and {} is on its way there", node, entry->workload));
  }
}

}  // namespace berth::explore
