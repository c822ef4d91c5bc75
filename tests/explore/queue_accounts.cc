// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "apis/base/names.h"
#include "apis/codec/decode_frame.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/recall.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;

namespace {

// The parts of a pod or a Job that decide what it holds.
std::string essence(const json* object) {
  if (object == nullptr) return "";
  return fmt::format(
      "{} {} {} {} {} {} {} {} {} {}", annotation_at(object, names::kAdmittedAnnotation),
      annotation_at(object, names::kHoldAnnotation), true_at(object, {"spec", "suspend"}),
      number_at(object, {"spec", "parallelism"}), number_at(object, {"spec", "completions"}),
      number_at(object, {"status", "succeeded"}), is_gated(*object), has_ended(*object),
      has_job_ended(*object), at(object, {"metadata", "deletionTimestamp"}) != nullptr);
}

std::map<std::string, queue::LedgerFact> read_ledger(const json* config_map) {
  std::map<std::string, queue::LedgerFact> entries;
  const json* data = at(config_map, {"data"});
  if (data == nullptr) return entries;
  for (const auto& [uid, text] : data->items())
    if (auto entry = queue::decode_entry(text.get<std::string>())) entries[uid] = *std::move(entry);
  return entries;
}

// By workload and the time of the ended admission.
std::set<std::pair<std::string, std::int64_t>> read_recalls(const json* config_map) {
  std::set<std::pair<std::string, std::int64_t>> recalls;
  const json* data = at(config_map, {"data"});
  if (data == nullptr) return recalls;
  for (const auto& [key, text] : data->items())
    if (const auto recall = queue::decode_recall(text.get<std::string>()))
      recalls.emplace(recall->workload, recall->since);
  return recalls;
}

}  // namespace

bool is_suspended(const json& job) { return true_at(&job, {"spec", "suspend"}); }

bool has_job_ended(const json& job) {
  const json* conditions = at(&job, {"status", "conditions"});
  return conditions != nullptr && std::ranges::any_of(*conditions, [](const json& condition) {
           const std::string& type = text_at(&condition, {"type"});
           return (type == "Complete" || type == "Failed") &&
                  text_at(&condition, {"status"}) == "True";
         });
}

void QueueAccounts::take(const sim::Change& change, Time wall) {
  const std::string_view plural = change.key.type->plural;
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const auto keep = [&](std::map<std::string, sim::ObjectPtr>& objects, const std::string& name) {
    if (gone)
      objects.erase(name);
    else
      objects[name] = change.after;
  };
  const std::string name = change.key.namespace_ + "/" + change.key.name;
  if (plural == "nodes") keep(nodes_, change.key.name);
  if (plural == "namespaces") keep(namespaces_, change.key.name);
  if (plural == "poddisruptionbudgets") keep(budgets_, name);
  if (plural == "priorityclasses")
    priorities_[change.key.name] = gone ? 0 : number_at(change.after.get(), {"value"});
  if (plural == "gpuclusterpolicies") {
    policy_classes_.clear();
    const json* made = gone ? nullptr : at(change.after.get(), {"spec", "priorityClasses"});
    if (made != nullptr)
      for (const json& one : *made) policy_classes_.insert(text_at(&one, {"name"}));
  }
  if (change.key.name == names::kAdmissionsConfigMap) {
    ledger_ = read_ledger(gone ? nullptr : change.after.get());
    recalls_ = read_recalls(gone ? nullptr : change.after.get());
  }
  if (plural == "pods" || plural == "jobs") {
    keep(plural == "pods" ? pods_ : jobs_, name);
    if (gone || essence(change.before.get()) != essence(change.after.get())) moved_ = wall;
  }
  if (plural != "gpuqueues") return;
  if (gone) return moved_ = wall, void(queues_.erase(change.key.name));
  std::optional<Error> error;
  GPUQueue queue;
  read(JsonCursor(change.after.get(), error), queue);
  auto& known = queues_[change.key.name];
  if (error || queue.spec == known.first.spec) return;
  known = {std::move(queue), wall};
  moved_ = wall;
}

const GPUQueue* QueueAccounts::queue(const std::string& name) const {
  const auto found = queues_.find(name);
  return found == queues_.end() ? nullptr : &found->second.first;
}

Time QueueAccounts::queue_since(const std::string& name) const {
  const auto found = queues_.find(name);
  return found == queues_.end() ? Time::max() : found->second.second;
}

std::string QueueAccounts::cohort_of(const std::string& name) const {
  const GPUQueue* of = queue(name);
  return of == nullptr || of->spec.cohort_name.empty() ? "of " + name : of->spec.cohort_name;
}

std::int64_t QueueAccounts::nominal(const std::string& name, const std::string& pool) const {
  std::int64_t gpus = 0;
  if (const GPUQueue* of = queue(name))
    for (const QuotaSpec& quota : of->spec.quotas)
      if (quota.resource == "nvidia.com/gpu" && quota.pool == pool) gpus += quota.nominal_quota;
  return gpus;
}

std::string QueueAccounts::queue_for(const json& object) const {
  const std::string& named = label_at(&object, names::kQueueLabel);
  if (!named.empty()) return named;
  const auto home = namespaces_.find(text_at(&object, {"metadata", "namespace"}));
  std::string found;
  for (const auto& [name, known] : queues_) {
    const GPUQueueSpec& spec = known.first.spec;
    if (home == namespaces_.end() || !spec.default_queue || !spec.namespace_selector) continue;
    StringMap labels;
    if (const json* all = at(home->second.get(), {"metadata", "labels"}))
      for (const auto& [key, value] : all->items()) labels.set(key, value.get<std::string>());
    if (!spec.namespace_selector->matches(labels)) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

bool QueueAccounts::accepts(const json& object, const std::string& priority_class) const {
  const GPUQueue* of = queue(queue_for(object));
  if (of == nullptr) return true;
  const auto& listed = of->spec.priority_classes;
  return listed ? std::ranges::find(*listed, priority_class) != listed->end()
                : policy_classes_.contains(priority_class);
}

// A class that the queue does not accept does not count; no scenario has a default class.
std::int64_t QueueAccounts::priority_on(const json& object, const json* spec) const {
  for (const std::string& name :
       {label_at(&object, names::kPriorityClassLabel), text_at(spec, {"priorityClassName"})})
    if (const auto known = priorities_.find(name);
        known != priorities_.end() && accepts(object, name))
      return known->second;
  const auto own = priorities_.find(text_at(spec, {"priorityClassName"}));
  if (own == priorities_.end()) return number_at(spec, {"priority"});
  return std::min<std::int64_t>(0, own->second);
}

std::int64_t QueueAccounts::priority_of(const std::string& workload) const {
  if (workload.starts_with("Job/")) {
    const auto job = jobs_.find(workload.substr(4));
    if (job == jobs_.end()) return 0;
    return priority_on(*job->second, at(job->second.get(), {"spec", "template", "spec"}));
  }
  for (const auto& [name, pod] : pods_)
    if (workload_of(*pod) == workload) return priority_on(*pod, at(pod.get(), {"spec"}));
  return 0;
}

bool QueueAccounts::is_taken_back(const std::string& workload, std::int64_t since) const {
  if (recalls_.contains({workload, since})) return true;
  return std::ranges::any_of(ledger_, [&](const auto& entry) {
    return std::ranges::any_of(entry.second.ahead, [&](const queue::AheadFact& ahead) {
      return ahead.evicted && ahead.workload == workload && ahead.since == since;
    });
  });
}

void QueueAccounts::add_jobs(std::vector<Holder>& holders) const {
  for (const auto& [name, job] : jobs_) {
    const auto record = record_of(*job);
    const std::string& uid = text_at(job.get(), {"metadata", "uid"});
    if (!record || record->uid != uid || is_suspended(*job) || has_job_ended(*job)) continue;
    holders.push_back({.workload = "Job/" + name,
                       .uid = uid,
                       .queue = record->queue,
                       .pool = record->pool,
                       .since = record->since,
                       .gpus = asked_by_job(*job)});
    Holder& holder = holders.back();
    const auto most = recorded(*record);
    holder.holds_too_much = most && std::max(holder.gpus, living_gpus(uid)) > *most;
  }
}

std::int64_t QueueAccounts::living_gpus(const std::string& job_uid) const {
  std::int64_t gpus = 0;
  for (const auto& [name, pod] : pods_)
    if (owner_uid(*pod) == job_uid && !has_ended(*pod)) gpus += gpus_of(*at(pod.get(), {"spec"}));
  return gpus;
}

// A gang is charged as a whole, a single pod as long as it exists.
void QueueAccounts::add_pods(std::vector<Holder>& holders) const {
  std::map<std::string, Holder> found;
  std::map<std::string, std::int64_t> members;
  for (const auto& [name, pod] : pods_) {
    const auto record = record_of(*pod);
    const std::string workload = workload_of(*pod);
    if (!record || is_gated(*pod) || has_ended(*pod) || workload.starts_with("Job/")) continue;
    const bool alone = group_of(*pod).empty();
    if (alone && at(pod.get(), {"metadata", "deletionTimestamp"}) != nullptr) continue;
    Holder& holder = found[workload];
    if (holder.uid.empty()) holder.uid = record->uid;
    holder.workload = workload, holder.queue = record->queue, holder.pool = record->pool;
    holder.since = holder.since == 0 ? record->since : std::min(holder.since, record->since);
    holder.gpus += gpus_of(*at(pod.get(), {"spec"}));
    const auto most = recorded(*record);
    holder.holds_too_much = most && holder.gpus > *most;
    ++members[workload];
  }
  for (auto& [workload, holder] : found) holders.push_back(std::move(holder));
}

void QueueAccounts::add_in_flight(std::vector<Holder>& holders) const {
  for (const auto& [uid, entry] : ledger_) {
    const bool shown = std::ranges::any_of(
        holders, [&](const Holder& holder) { return holder.workload == entry.workload; });
    const auto gpus = recorded(entry.admission);
    if (shown || !entry.refused.empty() || !gpus) continue;
    holders.push_back({.workload = entry.workload,
                       .uid = uid,
                       .queue = entry.admission.queue,
                       .pool = entry.admission.pool,
                       .since = entry.admission.since,
                       .gpus = *gpus,
                       .in_flight = true});
  }
}

void QueueAccounts::look_at_makers(Holder& holder) const {
  if (holder.workload.starts_with("Job/")) return;
  holder.remade = true;
  for (const auto& [name, pod] : pods_) {
    if (workload_of(*pod) != holder.workload) continue;
    std::string maker;
    if (const json* owners = at(pod.get(), {"metadata", "ownerReferences"}))
      for (const json& owner : *owners)
        if (true_at(&owner, {"controller"})) maker = text_at(&owner, {"kind"});
    const auto record = record_of(*pod);
    const bool lost = record && !record->maker.empty() && maker.empty();
    holder.bare = holder.bare || (maker.empty() && !lost);
    holder.remade = holder.remade && (maker == "ReplicaSet" || maker == "StatefulSet");
  }
}

std::vector<QueueAccounts::Holder> QueueAccounts::holders() const {
  std::vector<Holder> holders;
  add_jobs(holders);
  add_pods(holders);
  std::erase_if(holders, [&](const Holder& of) { return is_taken_back(of.workload, of.since); });
  add_in_flight(holders);
  for (Holder& holder : holders) {
    holder.priority = priority_of(holder.workload);
    look_at_makers(holder);
  }
  std::ranges::sort(holders, {}, [](const Holder& of) {
    return std::tuple(!of.bare, of.holds_too_much, -of.priority, of.since,
                      std::string_view(of.uid));
  });
  return holders;
}

std::set<std::string> QueueAccounts::funded(const std::vector<Holder>& holders) const {
  std::map<std::pair<std::string, std::string>, std::int64_t> held;  // by queue and pool
  std::set<std::string> names;
  for (const Holder& holder : holders) {
    std::int64_t& sum = held[{holder.queue, holder.pool}];
    const bool fits = sum + holder.gpus <= nominal(holder.queue, holder.pool);
    if (fits || holder.bare) sum += holder.gpus;
    if (fits) names.insert(holder.workload);
  }
  return names;
}

bool QueueAccounts::somebody_came_past() const {
  return std::ranges::any_of(pods_, [](const auto& pod) {
    return !text_at(pod.second.get(), {"spec", "nodeName"}).empty() && !has_ended(*pod.second) &&
           gpus_of(*at(pod.second.get(), {"spec"})) > 0 && !record_of(*pod.second);
  });
}

}  // namespace berth::explore
