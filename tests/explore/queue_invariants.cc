// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/names.h"
#include "controller/queue/admission_ledger.h"
#include "controller/queue/admission_record.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AdmissionFact;

namespace {

constexpr char kGpu[] = "nvidia.com/gpu";

bool is_gated(const json& pod) {
  const json* gates = at(&pod, {"spec", "schedulingGates"});
  return gates != nullptr && std::ranges::any_of(*gates, [](const json& gate) {
           return text_at(&gate, {"name"}) == names::kQueueGate;
         });
}

std::vector<std::string> others_gates(const json& pod) {
  std::vector<std::string> names;
  if (const json* gates = at(&pod, {"spec", "schedulingGates"}))
    for (const json& gate : *gates)
      if (text_at(&gate, {"name"}) != names::kQueueGate) names.push_back(text_at(&gate, {"name"}));
  return names;
}

bool has_ended(const json& pod) {
  const std::string& phase = text_at(&pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

std::int64_t gpus_of(const json& pod_spec) {
  std::int64_t gpus = 0;
  if (const json* containers = at(&pod_spec, {"containers"}))
    for (const json& container : *containers) {
      const json* asked = at(&container, {"resources", "limits", kGpu});
      if (asked == nullptr) continue;
      gpus += asked->is_string() ? std::stoll(asked->get<std::string>()) : asked->get<int>();
    }
  return gpus;
}

std::string owner_uid(const json& object) {
  const json* owners = at(&object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return "";
  for (const json& owner : *owners)
    if (true_at(&owner, {"controller"})) return text_at(&owner, {"uid"});
  return "";
}

std::int64_t asked_by_job(const json& job) {
  std::int64_t pods = number_at(&job, {"spec", "parallelism"});
  if (at(&job, {"spec", "completions"}) != nullptr)
    pods = std::min(
        pods, number_at(&job, {"spec", "completions"}) - number_at(&job, {"status", "succeeded"}));
  return pods * gpus_of(*at(&job, {"spec", "template", "spec"}));
}

// Nothing: it is charged to a quota of another unit.
std::optional<std::int64_t> recorded(const AdmissionFact& record) {
  std::optional<std::int64_t> gpus;
  for (const auto& [resource, amount] : record.amounts)
    if (resource == kGpu) gpus = gpus.value_or(0) + amount;
  return gpus;
}

// As the annotation has it, whoever it is for.
std::optional<AdmissionFact> record_of(const json& object) {
  return queue::decode_admission(annotation_at(&object, names::kAdmittedAnnotation));
}

// Whether a queue that selects these labels selects the namespace; null: it selects none.
bool selects(const json& labels, const json& home) {
  return !labels.is_null() && std::ranges::all_of(labels.items(), [&](const auto& label) {
    return label_at(&home, label.key()) == label.value().template get<std::string>();
  });
}

// As LeaderWorkerSet's controller makes its pods.
constexpr char kSet[] = "leaderworkerset.sigs.k8s.io/name";
constexpr char kSetsGroup[] = "leaderworkerset.sigs.k8s.io/group-index";
constexpr char kSetsSize[] = "leaderworkerset.sigs.k8s.io/size";

std::int64_t size_of_group(const json& pod) {
  const std::string& own = annotation_at(&pod, names::kPodGroupSizeAnnotation);
  const std::string& size = own.empty() ? annotation_at(&pod, kSetsSize) : own;
  return size.empty() ? 0 : std::stoll(size);
}

std::string group_of(const json& pod) {
  if (size_of_group(pod) == 0) return "";
  std::string group = label_at(&pod, names::kPodGroupLabel);
  if (group.empty() && !label_at(&pod, kSet).empty())
    group = fmt::format("LeaderWorkerSet:{}:{}", label_at(&pod, kSet), label_at(&pod, kSetsGroup));
  return group.empty() ? "" : text_at(&pod, {"metadata", "namespace"}) + "/" + group;
}

}  // namespace

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
  if (plural == "pods" && by_berth) judge_removal(change, heard_of);
  if (plural == "jobs" && by_berth && !gone) judge_requeue(change, heard_of);
  if (!gone && change.before != nullptr) take_workload(change, by_berth, wall, news_takes);
}

void QueueInvariants::take_binding(const sim::Change& change, Time wall) {
  const std::string name = change.key.namespace_ + "/" + change.key.name;
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const json& pod = gone ? *change.before : *change.after;
  const auto record = record_of(pod);
  if (gone && record && !is_gated(pod) && !group_of(pod).empty()) ran_[group_of(pod)] = wall;
  const std::string node = gone ? "" : text_at(&pod, {"spec", "nodeName"});
  if (node.empty())
    bound_.erase(name);
  else if (bound_.try_emplace(name, wall).second && record && !record->nodes.empty() &&
           std::ranges::find(record->nodes, node) == record->nodes.end())
    complain("Pin", fmt::format("{} is on {}, and was admitted to {}", name, node,
                                fmt::join(record->nodes, ", ")));
  if (!node.empty()) judge_domain(pod, node);
}

// Of a gang that requires one rack, each pod stands where those of it stand that are bound.
void QueueInvariants::judge_domain(const json& pod, const std::string& node) {
  const std::string& level = annotation_at(&pod, names::kRequiredTopologyAnnotation);
  const std::string group = group_of(pod);
  if (level.empty() || group.empty() || !record_of(pod)) return;
  for (const auto& [name, other] : pods_) {
    const std::string& beside = text_at(other.get(), {"spec", "nodeName"});
    if (group_of(*other) != group || beside.empty() || !record_of(*other) || has_ended(*other))
      continue;
    if (domain_of(beside, level) != domain_of(node, level))
      complain("Domain", fmt::format("{} is on {}, and one of its gang on {}: two of {}", name,
                                     beside, node, level));
  }
}

std::string QueueInvariants::domain_of(const std::string& node, const std::string& level) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? "" : label_at(found->second.get(), level.c_str());
}

void QueueInvariants::take_workload(const sim::Change& change, bool by_berth, Time wall,
                                    std::chrono::nanoseconds news_takes) {
  const json &before = *change.before, &after = *change.after;
  for (const char* key : {names::kAdmittedAnnotation, names::kHoldAnnotation})
    if (!by_berth && annotation_at(&before, key) != annotation_at(&after, key)) edited_ = wall;
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

void QueueInvariants::take_bounds(const sim::Change& change, bool by_berth) {
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const json* object = gone ? change.before.get() : change.after.get();
  if (!by_berth || annotation_at(object, names::kOwnerAnnotation).starts_with("GPUQueue/")) return;
  complain("Bounds", change.key.str() + " is not berth's to write");
}

// The queue that let the Job go and would let it go again; null: none.
const QueueInvariants::Quota* QueueInvariants::takes_back(const json& job) const {
  const auto record = record_of(job);
  if (!record || record->uid != text_at(&job, {"metadata", "uid"}) ||
      at(&job, {"metadata", "annotations", names::kHoldAnnotation}) != nullptr)
    return nullptr;
  const auto queue = queues_.find(record->queue);
  return queue == queues_.end() || queue->second.held ? nullptr : &queue->second;
}

// A pod that is marked for deletion, or gone at once.
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

// Of the slot ledger: what it has now and had not before.
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

// A name that somebody else has taken is left to them.
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

// How many requirements of each term name nodes; terms are alternatives.
std::vector<std::size_t> pins_in(const json* spec) {
  std::vector<std::size_t> pins;
  const json* required =
      at(spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr) return pins;
  for (const json& term : required->value("nodeSelectorTerms", json::array())) {
    pins.push_back(term.value("matchFields", json::array()).size());
    for (const json& requirement : term.value("matchExpressions", json::array()))
      pins.back() += requirement.value("key", "") == names::kHostnameLabel;
  }
  return pins;
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
  const bool job = change.key.type->plural == "jobs";
  const json* spec = job ? at(&object, {"spec", "template", "spec"}) : at(&object, {"spec"});
  const std::string& selected = text_at(spec, {"nodeSelector", names::kPoolLabel});
  if (record->pool != queue::kAnyPool && selected != record->pool)
    return complain("Record", fmt::format("{} goes to pool {}, and its selector says '{}'", name,
                                          record->pool, selected));
  if (!record->nodes.empty() && at(spec, {"affinity", "podAntiAffinity"}) != nullptr)
    return complain("Pin", name + " is pinned, and more decides where it can run");
  const std::vector<std::size_t> pins = pins_in(spec);
  const std::size_t wanted = record->nodes.empty() ? 0 : 1;
  if (pins.size() < wanted || std::ranges::any_of(pins, [&](auto n) { return n != wanted; }))
    return complain("Pin", fmt::format("{} goes with {} pins, and its record names {} nodes", name,
                                       fmt::join(pins, " or "), record->nodes.size()));
  // The version that was patched is the one that was decided on, whatever is news of it.
  if (const auto gpus = recorded(*record); job && gpus && asked_by_job(object) > *gpus)
    return complain("Record", name + " goes and asks for more than is recorded");
  if (!job && others_gates(*change.before) != others_gates(object))
    return complain("Gates", name + " loses a gate that is not berth's");
  // Whoever decided may not have heard of an edit yet; and what was on its way when somebody took
  // its entry out of the ledger arrives all the same.
  const Time decided = Time(std::chrono::microseconds(record->since));
  const auto late = std::chrono::duration_cast<Time::duration>(news_takes);
  if (!may_go(object, *record, wall - late) && !(ledger_edited_ && *ledger_edited_ >= decided))
    return complain("Entry", name + " goes without an entry");
  if (edited_ + late >= decided) return;
  const std::string cohort = cohort_of(*record);
  const std::int64_t holds = held(cohort) + came_past(cohort, decided - late);
  const std::int64_t most = promised(cohort);
  if (holds > most)
    complain("Held", fmt::format("{} goes, and {} holds {} of {} GPUs", name, cohort, holds, most));
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

// Pods that are let go and have not ended, and what Jobs that run are still to make.
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

// Of gangs of which some were let go: what those that wait or are not there ask at the least.
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
  const json* owners = at(&pod, {"metadata", "ownerReferences"});
  if (home == namespaces_.end() ||
      (owners != nullptr && std::ranges::any_of(*owners, [](const json& owner) {
         return text_at(&owner, {"kind"}) == "DaemonSet";
       })))
    return nullptr;
  const auto pool = node_pools_.find(text_at(&pod, {"spec", "nodeName"}));
  const Quota* host = nullptr;
  for (const auto& [name, queue] : queues_) {
    if ((named.empty() ? !queue.is_default : name != named) ||
        !selects(queue.selected, *home->second))
      continue;
    if (host != nullptr) return nullptr;  // whose it is, is contested
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
  if (const json* data = at(ledger_.get(), {"data"}); data != nullptr && !data->empty())
    return "the ledger of admissions still holds " + data->begin().key();
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
  return "";
}

void QueueInvariants::complain(std::string_view invariant, const std::string& what) {
  broken_.push_back(fmt::format("{}: {}", invariant, what));
}

}  // namespace berth::explore
