// SPDX-License-Identifier: Apache-2.0
// The required results once berth is at rest.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_displacements.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AheadFact;
using queue::LedgerFact;

namespace {

bool is_of(const json& pod, const AheadFact& ahead) {
  if (ahead.workload.starts_with("Job/")) return owner_uid(pod) == ahead.uid;
  if (workload_of(pod) != ahead.workload) return false;
  const auto record = record_of(pod);
  return record ? record->since == ahead.since : text_at(&pod, {"metadata", "uid"}) == ahead.uid;
}

std::int64_t offered_by(const json& node) {
  const json* gpus = at(&node, {"status", "allocatable", "nvidia.com/gpu"});
  return gpus == nullptr ? 0 : std::stoll(gpus->get<std::string>());
}

}  // namespace

// A Job that a user resumed runs under its old admission; a Job that was released again no longer
// counts.
bool QueueDisplacements::runs(const AheadFact& ahead) const {
  if (ahead.workload.starts_with("Job/")) {
    const auto job = accounts_.jobs().find(ahead.workload.substr(4));
    if (job != accounts_.jobs().end() && !is_suspended(*job->second)) return false;
  }
  return std::ranges::any_of(accounts_.pods(), [&](const auto& pod) {
    return is_of(*pod.second, ahead) && !text_at(pod.second.get(), {"spec", "nodeName"}).empty() &&
           !has_ended(*pod.second);
  });
}

// For an entry that is deleted although its workload is still pending.
void QueueDisplacements::judge_whole(const LedgerFact& entry) {
  const std::string& uid = entry.admission.uid;
  const Time decided{std::chrono::microseconds(entry.admission.since)};
  const auto until = stopped_waiting_.find(uid);
  if ((until != stopped_waiting_.end() && until->second > decided) || nodes_moved_ > decided)
    return;
  for (const AheadFact& ahead : entry.ahead) {
    const std::string victim = fmt::format("{} of {}", ahead.workload, ahead.since);
    const bool stopped = std::ranges::any_of(
        stops_, [&](const Stop& stop) { return stop.uid == uid && stop.victim == victim; });
    const bool stays = std::ranges::any_of(accounts_.pods(), [&](const auto& pod) {
      return is_of(*pod.second, ahead) && !is_gated(*pod.second) && !has_ended(*pod.second) &&
             at(pod.second.get(), {"metadata", "deletionTimestamp"}) == nullptr;
    });
    if (stopped && stays && ahead.workload.starts_with("PodGroup/"))
      complain("Whole", fmt::format("some of {} are stopped for {}, and others run", ahead.workload,
                                    entry.workload));
  }
}

bool QueueDisplacements::waits(const LedgerFact& entry) const {
  return std::ranges::any_of(entry.ahead, [&](const AheadFact& ahead) { return runs(ahead); });
}

std::string QueueDisplacements::unstill(Time wall) const {
  for (const auto& [uid, entry] : accounts_.ledger())
    if (!waits(entry)) return "the ledger of admissions still holds " + uid;
  if (std::string debt = unpaid(); !debt.empty()) return debt;
  return unreclaimed(wall);
}

bool QueueDisplacements::is_waiting(const std::string& uid) const {
  const auto is = [&](const auto& object) {
    return text_at(object.second.get(), {"metadata", "uid"}) == uid;
  };
  if (const auto job = std::ranges::find_if(accounts_.jobs(), is); job != accounts_.jobs().end())
    return is_suspended(*job->second) &&
           at(job->second.get(), {"metadata", "annotations", names::kHoldAnnotation}) == nullptr;
  const auto pod = std::ranges::find_if(accounts_.pods(), is);
  return pod != accounts_.pods().end() && is_gated(*pod->second);
}

// Unless it was edited, held or released since, or nodes or quotas have changed.
std::string QueueDisplacements::unpaid() const {
  for (const Stop& stop : stops_) {
    const auto until = stopped_waiting_.find(stop.uid);
    const bool since = until != stopped_waiting_.end() && until->second >= stop.at;
    const bool held_up = std::ranges::any_of(accounts_.ledger(), [&](const auto& entry) {
      return entry.first == stop.uid && waits(entry.second);
    });
    if (since || held_up || nodes_moved_ >= stop.at || !is_waiting(stop.uid)) continue;
    return fmt::format("{} was stopped for {}, which waits", stop.victim, stop.preemptor);
  }
  return "";
}

std::string QueueDisplacements::unreclaimed(Time wall) const {
  for (const auto& [uid, name] : owed(wall))
    if (!accounts_.ledger().contains(uid))
      return fmt::format("Job/{} waits for its queue's own quota, and others have borrowed it",
                         name);
  return "";
}

// Only Jobs that fit on a single node, and whose place nothing else restricts.
std::map<std::string, std::string> QueueDisplacements::owed(Time wall) const {
  std::map<std::string, std::string> names;
  for (const auto& [name, job] : accounts_.jobs()) {
    const std::string queue = accounts_.queue_for(*job);
    const GPUQueue* of = accounts_.queue(queue);
    const std::string& uid = text_at(job.get(), {"metadata", "uid"});
    if (of == nullptr || of->spec.quotas.size() != 1 || of->spec.stop_policy != StopPolicy::kNone ||
        of->spec.preemption.reclaim_within_cohort != ReclaimWithinCohort::kAny ||
        !is_suspended(*job) || !is_waiting(uid) || number_at(job.get(), {"status", "active"}) > 0 ||
        number_at(job.get(), {"status", "terminating"}) > 0 || accounts_.somebody_came_past())
      continue;
    if (has_room(*job, queue, wall)) names[uid] = name;
  }
  return names;
}

// Within its nominal quota, without the borrowing work that can be reclaimed.
bool QueueDisplacements::has_room(const json& job, const std::string& queue, Time wall) const {
  const GPUQueueSpec& spec = accounts_.queue(queue)->spec;
  const std::string& pool = spec.quotas.front().pool;
  const std::vector<Holder> holders = accounts_.holders();
  const std::set<std::string> funded = accounts_.funded(holders);
  std::int64_t used = 0;
  std::set<std::string> borrowers;
  const std::string& uid = text_at(&job, {"metadata", "uid"});
  for (const Holder& holder : holders) {
    if (holder.queue == queue && holder.pool == pool && holder.uid != uid) used += holder.gpus;
    const Time from{std::chrono::microseconds(holder.since)};
    // For other controllers it is unknown here whether they would fail.
    const bool goes = holder.workload.starts_with("Job/") || holder.remade;
    if (holder.queue != queue && holder.pool == pool && !holder.in_flight &&
        accounts_.cohort_of(holder.queue) == accounts_.cohort_of(queue) &&
        !funded.contains(holder.workload) && goes &&
        wall - from > spec.preemption.reclaim_min_runtime + std::chrono::minutes(1))
      borrowers.insert(holder.workload);
  }
  const std::int64_t asked = asked_by_job(job);
  if (borrowers.empty() || used + asked > accounts_.nominal(queue, pool)) return false;
  return std::ranges::any_of(accounts_.nodes(), [&](const auto& node) {
    if (!is_in_service(*node.second) || label_at(node.second.get(), names::kPoolLabel) != pool)
      return false;
    std::int64_t free = offered_by(*node.second);
    for (const auto& [name, pod] : accounts_.pods())
      if (text_at(pod.get(), {"spec", "nodeName"}) == node.first && !has_ended(*pod) &&
          !borrowers.contains(workload_of(*pod)))
        free -= gpus_of(*at(pod.get(), {"spec"}));
    return free >= asked;
  });
}

}  // namespace berth::explore
