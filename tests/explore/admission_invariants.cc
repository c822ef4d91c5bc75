// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/admission_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode_policy.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using sim::Change;

namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr std::string_view kSystem[] = {"kube-system", "kube-node-lease", "kube-public"};

template <class Is>
bool any_of(const json* list, Is is) {
  return list != nullptr && list->is_array() && std::ranges::any_of(*list, is);
}

bool wants_gpu(const json& pod) {
  return any_of(at(&pod, {"spec", "containers"}), [](const json& container) {
    return at(&container, {"resources", "limits", kGpu}) != nullptr;
  });
}

const json* required_terms(const json& pod) {
  return at(&pod, {"spec", "affinity", "nodeAffinity",
                   "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
}

bool is_of_pool(const json& expression) {
  return text_at(&expression, {"key"}) == names::kPoolLabel;
}

// Pods that choose nodes or pools themselves, mirror pods and terminating pods are left out.
bool is_judged(const json& pod) {
  return wants_gpu(pod) && at(&pod, {"spec", "nodeSelector"}) == nullptr &&
         annotation_at(&pod, names::kMirrorAnnotation).empty();
}

bool tolerates(const json& pod, const Taint& taint) {
  return any_of(at(&pod, {"spec", "tolerations"}), [&](const json& one) {
    const std::string& key = text_at(&one, {"key"});
    const std::string& effect = text_at(&one, {"effect"});
    const bool exists = text_at(&one, {"operator"}) == "Exists";
    return (key.empty() ? exists : key == taint.key.view()) &&
           (effect.empty() || effect == taint.effect.view()) &&
           (exists || text_at(&one, {"value"}) == taint.value.view());
  });
}

bool is_held_to_pools(const json& pod) {
  const json* terms = required_terms(pod);
  return terms != nullptr && !terms->empty() && std::ranges::all_of(*terms, [](const json& term) {
           return any_of(at(&term, {"matchExpressions"}), is_of_pool);
         });
}

bool has_twice(const json* list) {
  return list != nullptr && std::set<json>(list->begin(), list->end()).size() < list->size();
}

StringMap labels_of(const json& object) {
  StringMap labels;
  if (const json* found = at(&object, {"metadata", "labels"}))
    for (const auto& [key, value] : found->items())
      if (value.is_string()) labels.set(key, value.get<std::string>());
  return labels;
}

bool offers_gpus(const json& node) {
  return !text_at(&node, {"status", "allocatable", kGpu}).empty() &&
         text_at(&node, {"status", "allocatable", kGpu}) != "0";
}

std::string namespace_of(const json& pod) { return text_at(&pod, {"metadata", "namespace"}); }

}  // namespace

void AdmissionInvariants::complain(std::string_view invariant, const std::string& what) {
  broken_.push_back(fmt::format("{}: {}", invariant, what));
}

void AdmissionInvariants::take(const Change& change, MonotonicTime now,
                               std::chrono::nanoseconds news_takes) {
  const std::string_view plural = change.key.type->plural;
  if (change.user.starts_with("webhook-"))
    complain("Silent", fmt::format("{} writes {}", change.user, change.key.str()));
  if (plural == "pods") return take_pod(change, now, news_takes);
  if (plural == "events") return take_event(change, now, news_takes);
  if (plural == "gpuclusterpolicies" || plural == "nodes" || plural == "namespaces")
    take_rules(change, now);
}

void AdmissionInvariants::take_rules(const Change& change, MonotonicTime now) {
  const std::string_view plural = change.key.type->plural;
  const std::string& name = change.key.name;
  const bool gone = change.kind == Change::Kind::kDeleted;
  Rules next = rules_.empty() ? Rules() : rules_.back();
  next.since = now;
  if (plural == "gpuclusterpolicies") {
    next.policy.reset();
    std::optional<Error> error;
    GPUClusterPolicy policy;
    read(JsonCursor(change.after.get(), error), policy);
    if (!gone && !error) next.policy = std::move(policy);
  } else if (plural == "namespaces") {
    next.namespaces.erase(name);
    if (!gone) next.namespaces[name] = labels_of(*change.after);
  } else {
    const KnownNode node{labels_of(*change.after), offers_gpus(*change.after)};
    const auto known = next.nodes.find(name);
    if (known != next.nodes.end() && known->second.labels == node.labels &&
        known->second.has_gpus == node.has_gpus && !gone)
      return;  // only a heartbeat
    next.nodes.erase(name);
    if (!gone) next.nodes[name] = node;
  }
  rules_.push_back(std::move(next));
}

std::vector<const AdmissionInvariants::Rules*> AdmissionInvariants::in_force(
    MonotonicTime from, MonotonicTime until) const {
  std::vector<const Rules*> found;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (rules_[i].since <= until && (i + 1 == rules_.size() || rules_[i + 1].since >= from))
      found.push_back(&rules_[i]);
  return found;
}

bool AdmissionInvariants::is_managed(const Rules& rules, const std::string& name) const {
  const auto labels = rules.namespaces.find(name);
  if (labels == rules.namespaces.end() || !rules.policy ||
      rules.policy->spec.admission.enforcement == Enforcement::kOff ||
      std::ranges::find(kSystem, name) != std::end(kSystem) || name == settings_.berth_namespace ||
      name == settings_.agents_namespace || labels->second.get(names::kManagedLabel) != "true")
    return false;
  const auto& selector = rules.policy->spec.admission.namespace_selector;
  return !selector || selector->matches(labels->second);
}

std::string AdmissionInvariants::lack(const Rules& rules, const json& pod) const {
  if (!is_judged(pod) || !is_managed(rules, namespace_of(pod))) return "";
  const GPUClusterPolicySpec& spec = rules.policy->spec;
  std::set<std::string> pools;  // with GPUs
  for (const auto& [name, node] : rules.nodes) {
    const auto first = std::ranges::find_if(
        spec.pools, [&](const PoolSpec& pool) { return pool.node_selector.matches(node.labels); });
    if (first != spec.pools.end() && node.has_gpus) pools.insert(first->name);
  }
  const StringMap& labels = rules.namespaces.at(namespace_of(pod));
  std::erase_if(pools, [&](const std::string& name) {
    const auto pool = std::ranges::find(spec.pools, name, &PoolSpec::name);
    return pool->eligible_namespaces && !pool->eligible_namespaces->matches(labels);
  });
  if (pools.empty()) return "";
  for (const PoolSpec& pool : spec.pools)
    for (const Taint& taint : pool.taints)
      if (spec.admission.defaults.tolerations && pools.contains(pool.name) &&
          !tolerates(pod, taint))
        return "a toleration of " + taint.key.str();
  if (spec.admission.defaults.pool_affinity && !is_held_to_pools(pod))
    return "what holds it to its pools";
  return "";
}

// The pod is on a node of a pool that its namespace may not use.
bool AdmissionInvariants::is_intruder(const Rules& rules, const json& pod) const {
  const auto node = rules.nodes.find(text_at(&pod, {"spec", "nodeName"}));
  if (!wants_gpu(pod) || node == rules.nodes.end() || !is_managed(rules, namespace_of(pod)))
    return false;
  const std::vector<PoolSpec>& pools = rules.policy->spec.pools;
  const auto pool = std::ranges::find_if(
      pools, [&](const PoolSpec& one) { return one.node_selector.matches(node->second.labels); });
  return pool != pools.end() && pool->eligible_namespaces &&
         !pool->eligible_namespaces->matches(rules.namespaces.at(namespace_of(pod)));
}

void AdmissionInvariants::take_pod(const Change& change, MonotonicTime now,
                                   std::chrono::nanoseconds news_takes) {
  const std::string& uid = text_at(change.after.get(), {"metadata", "uid"});
  KnownPod& pod = pods_[uid];
  pod.gone = change.kind == Change::Kind::kDeleted;
  if (change.kind != Change::Kind::kAdded) {
    if (!pod.gone) pod.object = change.after;
    return;
  }
  pod.name = fmt::format("{}/{}", change.key.namespace_, change.key.name);
  pod.object = change.after;
  pod.created = now;
  judge_marks(pod);
  const std::optional<sim::Passage> passage = std::exchange(passage_, std::nullopt);
  if (passage && passage->reviewed && passage->key == change.key)
    judge_new_pod(pod, passage->asked - news_takes);
}

// Complains if no rules that the webhook may have applied allow the pod as it is.
void AdmissionInvariants::judge_new_pod(const KnownPod& pod, MonotonicTime from) {
  const json& object = *pod.object;
  std::string lacks;
  bool always_managed = true;
  for (const Rules* rules : in_force(from, pod.created)) {
    lacks = lack(*rules, object);
    always_managed = always_managed && is_managed(*rules, namespace_of(object));
    if (lacks.empty()) break;
  }
  if (!lacks.empty())
    complain("Complete", fmt::format("{} came through the webhook, and lacks {}", pod.name, lacks));
  const bool privileged = any_of(at(&object, {"spec", "containers"}), [](const json& container) {
    return true_at(&container, {"securityContext", "privileged"});
  });
  if (privileged && wants_gpu(object) && always_managed)
    complain("Refused", fmt::format("{} is privileged, and came through the webhook", pod.name));
}

void AdmissionInvariants::judge_marks(const KnownPod& pod) {
  const json& object = *pod.object;
  if (has_twice(at(&object, {"spec", "tolerations"})))
    complain("Once", fmt::format("{} has a toleration twice", pod.name));
  if (const json* terms = required_terms(object))
    for (const json& term : *terms)
      if (const json* expressions = at(&term, {"matchExpressions"});
          expressions != nullptr && std::ranges::count_if(*expressions, is_of_pool) > 1)
        complain("Once", fmt::format("{} is held to its pools twice", pod.name));
  const std::string& mark = annotation_at(&object, names::kMutationsAnnotation);
  if (mark.empty()) return;
  // The policy may have narrowed the selection a moment ago.
  const bool ever = std::ranges::any_of(
      rules_, [&](const Rules& rules) { return is_managed(rules, namespace_of(object)); });
  if (!ever)
    complain("Spared",
             fmt::format("{} is of no managed namespace, and was changed: {}", pod.name, mark));
  if (mark.find("poolAffinity") != mark.npos && !is_held_to_pools(object))
    complain("Marked", fmt::format("{} is not held to its pools, and says: {}", pod.name, mark));
  const std::size_t from = mark.find("tolerations ");
  if (from == mark.npos) return;
  const std::string key = mark.substr(from + 12, mark.find_first_of(",;", from) - from - 12);
  if (!any_of(at(&object, {"spec", "tolerations"}),
              [&](const json& one) { return text_at(&one, {"key"}) == key; }))
    complain("Marked",
             fmt::format("{} lacks the toleration of {}, and says: {}", pod.name, key, mark));
}

void AdmissionInvariants::take_event(const Change& change, MonotonicTime now,
                                     std::chrono::nanoseconds news_takes) {
  const json* event = change.after.get();
  if (change.kind == Change::Kind::kDeleted || text_at(event, {"reason"}) != "SlippedPastAdmission")
    return;
  const std::string& uid = text_at(event, {"regarding", "uid"});
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return complain("Reported", "an event is about no pod there was");
  if (++reported_[uid] > 1) return;
  const std::vector<const Rules*> since = in_force(pod->second.created - news_takes, now);
  if (std::ranges::all_of(since, [&](const Rules* rules) {
        const json& object = *pod->second.object;
        return lack(*rules, object).empty() && !is_intruder(*rules, object);
      }))
    complain("Reported",
             fmt::format("{} is reported, and never lacked anything", pod->second.name));
}

std::string AdmissionInvariants::unstill() const {
  if (rules_.empty()) return "";
  for (const auto& [uid, pod] : pods_) {
    const json& object = *pod.object;
    const std::string& phase = text_at(&object, {"status", "phase"});
    if (pod.gone || !text_at(&object, {"spec", "nodeName"}).empty() || phase == "Succeeded" ||
        phase == "Failed" || reported_.contains(uid) ||
        !annotation_at(&object, names::kMutationsAnnotation).empty() ||
        !text_at(&object, {"metadata", "deletionTimestamp"}).empty())
      continue;
    std::string lacks;
    for (const Rules* rules : in_force(pod.created, rules_.back().since)) {
      lacks = lack(*rules, object);
      if (lacks.empty()) break;
    }
    if (!lacks.empty())
      return fmt::format("{} lacks {}, and nobody has been told", pod.name, lacks);
  }
  return "";
}

}  // namespace berth::explore
