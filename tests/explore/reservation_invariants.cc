// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/reservation_invariants.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;

namespace {

Time created(const json& object) {
  const Result<Time> time = parse_time(text_at(&object, {"metadata", "creationTimestamp"}));
  return time ? *time : Time::max();
}

}  // namespace

void ReservationInvariants::take(const sim::Change& change, bool by_berth,
                                 std::chrono::nanoseconds news_takes) {
  if (change.key.name != names::kAdmissionsConfigMap || !by_berth) return;
  const json* before = at(change.before.get(), {"data"});
  const json* after = at(change.after.get(), {"data"});
  if (after == nullptr) return;
  for (const auto& [uid, text] : after->items()) {
    if (before != nullptr && before->contains(uid)) continue;
    if (const auto entry = queue::decode_entry(text.get<std::string>()))
      judge_entry(*entry, news_takes);
  }
}

void ReservationInvariants::judge_entry(const queue::LedgerFact& entry,
                                        std::chrono::nanoseconds news_takes) {
  const queue::AdmissionFact& admission = entry.admission;
  const GPUQueue* queue = accounts_.queue(admission.queue);
  if (queue == nullptr || !queue->spec.reserve_after || is_ended(entry.workload)) return;
  const json* head = head_of(admission.queue);
  if (head == nullptr || !is_younger(entry.workload, *head)) return;
  const Time due = created(*head) + *queue->spec.reserve_after;
  const Time late = due + std::chrono::ceil<Time::duration>(news_takes);
  const Time decided{std::chrono::microseconds(admission.since)};
  if (decided < late || accounts_.queue_since(admission.queue) > late) return;
  std::int64_t past = 0;  // including the workload in question
  for (const QueueAccounts::Holder& holder : accounts_.holders())
    if (holder.pool == admission.pool && Time(std::chrono::microseconds(holder.since)) >= late &&
        !is_ended(holder.workload))
      past += holder.gpus;
  const std::int64_t asks = asked_by_job(*head), there = offered(admission.pool);
  if (asks <= there && past + asks > there)
    broken_.push_back(fmt::format(
        "Reserved: {} goes, and of {} GPUs {} are left for {}, which asks for {}", entry.workload,
        there, there - past, text_at(head, {"metadata", "name"}), asks));
}

bool ReservationInvariants::is_younger(const std::string& workload, const json& head) const {
  if (!workload.starts_with("Job/")) return true;
  const auto job = accounts_.jobs().find(workload.substr(4));
  return job != accounts_.jobs().end() && created(*job->second) > created(head);
}

const json* ReservationInvariants::head_of(const std::string& queue) const {
  const json* head = nullptr;
  for (const auto& [name, job] : accounts_.jobs()) {
    const std::string& uid = text_at(job.get(), {"metadata", "uid"});
    if (!true_at(job.get(), {"spec", "suspend"}) || accounts_.ledger().contains(uid) ||
        !annotation_at(job.get(), names::kHoldAnnotation).empty() ||
        !annotation_at(job.get(), names::kAdmittedAnnotation).empty() ||
        accounts_.queue_for(*job) != queue)
      continue;
    if (head == nullptr || created(*job) < created(*head)) head = job.get();
  }
  return head;
}

std::int64_t ReservationInvariants::offered(const std::string& pool) const {
  std::int64_t gpus = 0;
  for (const auto& [name, node] : accounts_.nodes()) {
    if (label_at(node.get(), names::kPoolLabel) != pool) continue;
    const std::string& upgrade = label_at(node.get(), names::kDriverUpgradeState);
    if (!upgrade.empty() && upgrade != "upgrade-done") continue;
    if (!true_at(node.get(), {"spec", "unschedulable"}))
      gpus += std::atoll(text_at(node.get(), {"status", "allocatable", "nvidia.com/gpu"}).c_str());
  }
  return gpus;
}

bool ReservationInvariants::is_ended(const std::string& workload) const {
  if (!workload.starts_with("Job/")) return false;
  const auto job = accounts_.jobs().find(workload.substr(4));
  return job != accounts_.jobs().end() &&
         number_at(job->second.get(), {"spec", "activeDeadlineSeconds"}) > 0;
}

}  // namespace berth::explore
