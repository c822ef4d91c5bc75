// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/admission_record.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AdmissionFact;

void QueueInvariants::take(const sim::Change& change, bool by_berth, Time wall,
                           std::chrono::nanoseconds news_takes) {
  const std::string_view plural = change.key.type->plural;
  if (plural == "gpuqueues") return take_queue(change, wall);
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const std::string name = change.key.namespace_ + "/" + change.key.name;
  const auto keep = [&](std::map<std::string, sim::ObjectPtr>& objects) {
    if (gone)
      objects.erase(name);
    else
      objects[name] = change.after;
  };
  if (change.key.name == names::kAdmissionsConfigMap) {
    ledger_ = gone ? nullptr : change.after;
    take_ledger(change);
    if (!by_berth) ledger_edited_ = wall;
  }
  const Time heard_of = wall - std::chrono::duration_cast<Time::duration>(news_takes);
  if (change.key.name == names::kSlotsConfigMap && by_berth && !gone)
    judge_claims(change, heard_of);
  if (plural == "poddisruptionbudgets") {
    if (gone)
      budgets_.erase(name);
    else
      budgets_[name] = {change.after, wall};
  }
  if (plural == "namespaces") keep(namespaces_);
  if (plural == "resourcequotas") keep(bounds_), take_bounds(change, by_berth);
  if (plural == "nodes" && !gone) nodes_[change.key.name] = change.after;
  if (plural == "nodes")
    node_pools_[change.key.name] = gone ? "" : label_at(change.after.get(), names::kPoolLabel);
  if (plural != "pods" && plural != "jobs") return;
  keep(plural == "pods" ? pods_ : jobs_);
  if (plural == "pods") take_binding(change, wall);
  if (plural == "pods") take_round(change, by_berth, wall, news_takes);
  if (plural == "pods" && by_berth) judge_removal(change, heard_of);
  if (plural == "jobs" && by_berth && !gone) judge_requeue(change, heard_of);
  if (!gone && change.before != nullptr) take_workload(change, by_berth, wall, news_takes);
}

void QueueInvariants::take_workload(const sim::Change& change, bool by_berth, Time wall,
                                    std::chrono::nanoseconds news_takes) {
  const json &before = *change.before, &after = *change.after;
  for (const char* key : {names::kAdmittedAnnotation, names::kHoldAnnotation})
    if (!by_berth && annotation_at(&before, key) != annotation_at(&after, key)) edited_ = wall;
  if (!by_berth && annotation_at(&before, names::kAdmittedAnnotation) !=
                       annotation_at(&after, names::kAdmittedAnnotation))
    forged_.insert(text_at(&after, {"metadata", "uid"}));
  if (change.key.type->plural == "pods") {
    if (!is_gated(before) || is_gated(after)) return;
    if (by_berth) return judge_release(change, wall, news_takes);
    opened_.insert(text_at(&after, {"metadata", "uid"}));
    edited_ = wall;
  } else {
    const Path suspend{"spec", "suspend"}, parallelism{"spec", "parallelism"};
    if (by_berth && true_at(&before, suspend) && !true_at(&after, suspend))
      judge_release(change, wall, news_takes);
    if (!by_berth && (true_at(&before, suspend) != true_at(&after, suspend) ||
                      number_at(&before, parallelism) != number_at(&after, parallelism)))
      edited_ = wall;
  }
}

void QueueInvariants::take_queue(const sim::Change& change, Time wall) {
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const json* before = at(change.before.get(), {"spec"});
  const json* after = gone ? nullptr : at(change.after.get(), {"spec"});
  if (before != nullptr && after != nullptr && *before == *after) return;
  edited_ = wall;
  if (after == nullptr) {
    queues_.erase(change.key.name);
    return;
  }
  Quota& queue = queues_[change.key.name] = {};
  queue.cohort = text_at(after, {"cohortName"});
  if (queue.cohort.empty()) queue.cohort = "of " + change.key.name;
  if (const json* quotas = at(after, {"quotas"}))
    for (const json& quota : *quotas) {
      queue.nominal += number_at(&quota, {"nominalQuota"});
      queue.keeps = queue.keeps || at(&quota, {"lendingLimit"}) != nullptr;
      queue.pools.push_back(text_at(&quota, {"pool"}));
    }
  queue.is_default = true_at(after, {"default"});
  const std::string& stops = text_at(after, {"stopPolicy"});
  queue.held = !stops.empty() && stops != "None";
  if (const json* labels = at(after, {"namespaceSelector", "matchLabels"}))
    queue.selected = *labels;
  const json* hard = at(after, {"namespaceQuota", "hard"});
  if (hard != nullptr && true_at(after, {"namespaceQuota", "enabled"})) queue.hard = *hard;
}

void QueueInvariants::take_ledger(const sim::Change& change) {
  const json* before = at(change.before.get(), {"data"});
  const json* after = at(ledger_.get(), {"data"});
  if (before == nullptr || after == nullptr) return;
  for (const auto& [uid, text] : before->items()) {
    const auto was = queue::decode_entry(text.get<std::string>());
    if (!was || was->ahead.empty() || !after->contains(uid)) continue;
    const auto is = queue::decode_entry((*after)[uid].get<std::string>());
    if (is && is->ahead.empty()) begun_[is->admission.since] = was->admission.since;
  }
}

void QueueInvariants::take_bounds(const sim::Change& change, bool by_berth) {
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const json* object = gone ? change.before.get() : change.after.get();
  if (!by_berth || annotation_at(object, names::kOwnerAnnotation).starts_with("GPUQueue/")) return;
  complain("Bounds", change.key.str() + " is not berth's to write");
}

// A namespace name that another client uses is left to it.
std::string QueueInvariants::unbounded() const {
  for (const auto& [name, queue] : queues_)
    for (const auto& [home, object] : namespaces_) {
      const bool wanted = !queue.hard.is_null() && selects(queue.selected, *object);
      const std::string where = text_at(object.get(), {"metadata", "name"}) + "/berth-" + name;
      const auto found = bounds_.find(where);
      if (found == bounds_.end()) {
        if (wanted) return "there is no ResourceQuota " + where;
        continue;
      }
      if (annotation_at(found->second.get(), names::kOwnerAnnotation).empty()) continue;
      if (!wanted) return "ResourceQuota " + where + " is still there";
      const json* hard = at(found->second.get(), {"spec", "hard"});
      bool same = hard != nullptr && hard->size() == queue.hard.size();
      for (const auto& [key, most] : queue.hard.items())
        same = same && hard->contains(key) && (*hard)[key] == std::to_string(most.get<int>());
      if (!same) return "ResourceQuota " + where + " has other bounds than its queue";
    }
  return "";
}

void QueueInvariants::judge_release(const sim::Change& change, Time wall,
                                    std::chrono::nanoseconds news_takes) {
  const json& object = *change.after;
  const std::string name = change.key.str();
  const std::string& uid = text_at(&object, {"metadata", "uid"});
  const std::optional<AdmissionFact> record = record_of(object);
  if (!record || record->uid != uid) return complain("Record", name + " goes without a record");
  if (!annotation_at(&object, names::kPendingReasonAnnotation).empty())
    return complain("Reason", name + " goes and says what it waits for");
  if (!text_at(change.before.get(), {"metadata", "deletionTimestamp"}).empty())
    return complain("Deleted", name + " goes, and is being deleted");
  const bool job = change.key.type->plural == "jobs";
  const json* spec = job ? at(&object, {"spec", "template", "spec"}) : at(&object, {"spec"});
  const std::string& selected = text_at(spec, {"nodeSelector", names::kPoolLabel});
  if (record->pool != queue::kAnyPool && selected != record->pool)
    return complain("Record", fmt::format("{} goes to pool {}, and its selector says '{}'", name,
                                          record->pool, selected));
  const bool forged = forged_.contains(uid);
  if (!forged && !judge_pins(name, spec, *record)) return;
  // The decision was about the patched version, however late news is.
  if (const auto gpus = recorded(*record); job && gpus && asked_by_job(object) > *gpus)
    return complain("Record", name + " goes and asks for more than is recorded");
  if (!job && !forged) judge_cover(name, object, *record);
  if (!job && others_gates(*change.before) != others_gates(object))
    return complain("Gates", name + " loses a gate that is not berth's");
  // The leader may not know of an edit yet; and a release that was in flight when a user removed
  // its entry from the ledger still arrives.
  const auto begun = begun_.find(record->since);
  const Time decided{
      std::chrono::microseconds(begun == begun_.end() ? record->since : begun->second)};
  const auto late = std::chrono::duration_cast<Time::duration>(news_takes);
  if (!may_go(object, *record, wall - late) && !(ledger_edited_ && *ledger_edited_ >= decided))
    return complain("Entry", name + " goes without an entry");
  if (edited_ + late >= decided) return;
  const std::string cohort = cohort_of(*record);
  const std::int64_t holds = held(cohort) + came_past(cohort, decided - late);
  const std::int64_t most = promised(cohort);
  if (holds > most)
    complain("Held", fmt::format("{} goes, and {} holds {} of {} GPUs", name, cohort, holds, most));
  const std::int64_t kept = awaited(cohort, group_of(object), wall);
  if (kept > 0 && holds + kept > most)
    complain("Restart", fmt::format("{} goes, and {} holds {} of {} GPUs and awaits {}", name,
                                    cohort, holds, most, kept));
}

bool QueueInvariants::may_go(const json& object, const AdmissionFact& record, Time heard_of) const {
  if (ledger_ != nullptr) {
    const json* data = at(ledger_.get(), {"data"});
    if (data != nullptr && data->contains(record.uid)) return true;
  }
  const std::string group = group_of(object);
  if (group.empty()) return false;
  // The gang's entry has the uid of its first member.
  if (const json* data = at(ledger_.get(), {"data"}))
    for (const auto& [uid, text] : data->items()) {
      const auto entry = queue::decode_entry(text.get<std::string>());
      if (entry && entry->workload == "PodGroup/" + group) return true;
    }
  const auto ran = ran_.find(group);
  if (ran != ran_.end() && ran->second >= heard_of) return true;
  return std::ranges::any_of(pods_, [&](const auto& other) {
    return group_of(*other.second) == group && other.second.get() != &object &&
           !is_gated(*other.second) && record_of(*other.second);
  });
}

// Released pods that have not ended, and pods that running Jobs will still create.
std::int64_t QueueInvariants::held(const std::string& cohort) const {
  std::map<std::string, std::int64_t> live;  // pods, by their Job's uid
  std::int64_t gpus = 0;
  for (const auto& [name, pod] : pods_) {
    if (is_gated(*pod) || has_ended(*pod)) continue;
    const auto record = record_of(*pod);
    if (!record || cohort_of(*record) != cohort) continue;
    gpus += gpus_of(*at(pod.get(), {"spec"}));
    ++live[owner_uid(*pod)];
  }
  for (const auto& [name, job] : jobs_) {
    const auto record = record_of(*job);
    if (!record || cohort_of(*record) != cohort || true_at(job.get(), {"spec", "suspend"}))
      continue;
    const json* conditions = at(job.get(), {"status", "conditions"});
    const bool ended =
        conditions != nullptr && std::ranges::any_of(*conditions, [](const json& c) {
          const std::string& type = text_at(&c, {"type"});
          return (type == "Complete" || type == "Failed") && text_at(&c, {"status"}) == "True";
        });
    if (ended) continue;
    const json* completions = at(job.get(), {"spec", "completions"});
    const json* parallelism = at(job.get(), {"spec", "parallelism"});
    std::int64_t wanted = parallelism == nullptr ? 1 : parallelism->get<std::int64_t>();
    if (completions != nullptr)
      wanted = std::min(
          wanted, completions->get<std::int64_t>() - number_at(job.get(), {"status", "succeeded"}));
    const std::int64_t missing = wanted - live[text_at(job.get(), {"metadata", "uid"})];
    gpus +=
        std::max<std::int64_t>(0, missing) * gpus_of(*at(job.get(), {"spec", "template", "spec"}));
  }
  return gpus + held_for_members(cohort);
}

// For partly released gangs: the least that pending and missing members request.
std::int64_t QueueInvariants::held_for_members(const std::string& cohort) const {
  struct Gang {
    std::int64_t lacks = 0, least = 0;
    bool runs = false;
  };
  std::map<std::string, Gang> gangs;
  for (const auto& [name, pod] : pods_) {
    const std::string group = group_of(*pod);
    if (group.empty()) continue;
    const std::int64_t asked = gpus_of(*at(pod.get(), {"spec"}));
    Gang& gang = gangs.try_emplace(group, Gang{size_of_group(*pod), asked}).first->second;
    gang.least = std::min(gang.least, asked);
    if (text_at(pod.get(), {"status", "phase"}) == "Succeeded") --gang.lacks;
    const auto record = record_of(*pod);
    if (is_gated(*pod) || has_ended(*pod) || !record || cohort_of(*record) != cohort) continue;
    --gang.lacks;
    gang.runs = true;
  }
  std::int64_t gpus = 0;
  for (const auto& [group, gang] : gangs)
    if (gang.runs) gpus += std::max<std::int64_t>(0, gang.lacks) * gang.least;
  return gpus;
}

std::int64_t QueueInvariants::promised(const std::string& cohort) const {
  std::int64_t gpus = 0;
  for (const auto& [name, queue] : queues_)
    if (queue.cohort == cohort) gpus += queue.nominal;
  return gpus;
}

std::int64_t QueueInvariants::came_past(const std::string& cohort, Time by) const {
  const auto keeps = [&](const auto& queue) {
    return queue.second.cohort == cohort && queue.second.keeps;
  };
  if (std::ranges::any_of(queues_, keeps)) return 0;
  std::int64_t gpus = 0;
  for (const auto& [name, since] : bound_) {
    const json& pod = *pods_.at(name);
    if (since > by || has_ended(pod) || record_of(pod)) continue;
    const Quota* host = host_of(pod);
    if (host != nullptr && host->cohort == cohort) gpus += gpus_of(*at(&pod, {"spec"}));
  }
  return gpus;
}

const QueueInvariants::Quota* QueueInvariants::host_of(const json& pod) const {
  const std::string& named = label_at(&pod, names::kQueueLabel);
  const auto home = namespaces_.find("/" + text_at(&pod, {"metadata", "namespace"}));
  if (home == namespaces_.end()) return nullptr;
  const auto pool = node_pools_.find(text_at(&pod, {"spec", "nodeName"}));
  const Quota* host = nullptr;
  for (const auto& [name, queue] : queues_) {
    if ((named.empty() ? !queue.is_default : name != named) ||
        !selects(queue.selected, *home->second))
      continue;
    if (host != nullptr) return nullptr;  // ambiguous: two queues claim it
    host = &queue;
  }
  if (host == nullptr || pool == node_pools_.end()) return nullptr;
  const bool here = std::ranges::any_of(host->pools, [&](const std::string& one) {
    return one == queue::kAnyPool || one == pool->second;
  });
  return here ? host : nullptr;
}

std::string QueueInvariants::cohort_of(const AdmissionFact& record) const {
  const auto queue = queues_.find(record.queue);
  if (queue != queues_.end()) return queue->second.cohort;
  return record.cohort.empty() ? "of " + record.queue : record.cohort;
}

std::string QueueInvariants::unstill() const {
  if (std::string bounds = unbounded(); !bounds.empty()) return bounds;
  struct Gang {
    std::int64_t gated = 0, free = 0, size = 0;
  };
  std::map<std::string, Gang> gangs;
  for (const auto& [name, pod] : pods_) {
    const std::string group = group_of(*pod);
    const bool opened = opened_.contains(text_at(pod.get(), {"metadata", "uid"}));
    if (group.empty() || has_ended(*pod) || opened) continue;
    Gang& gang = gangs[group];
    gang.size = size_of_group(*pod);
    ++(is_gated(*pod) ? gang.gated : gang.free);
  }
  for (const auto& [name, gang] : gangs)
    if (gang.gated > 0 && gang.free > 0 && gang.gated + gang.free <= gang.size)
      return fmt::format("of gang {} {} wait and {} were let go", name, gang.gated, gang.free);
  return gang_left_behind();
}

void QueueInvariants::complain(std::string_view invariant, const std::string& what) {
  broken_.push_back(fmt::format("{}: {}", invariant, what));
}

}  // namespace berth::explore
