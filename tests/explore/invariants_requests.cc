// SPDX-License-Identifier: Apache-2.0
// Writes to pods and layouts, and requests.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/parse_json.h"
#include "tests/explore/invariants.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using sim::Change;

namespace {

constexpr std::chrono::minutes kTold{5};
constexpr std::string_view kPodsIn = "/api/v1/namespaces/";
constexpr std::string_view kWrittenOnPods[] = {
    names::kAdmittedAnnotation,         names::kPendingReasonAnnotation,
    names::kPreemptionNoticeAnnotation, names::kIdleSinceAnnotation,
    names::kReclaimAfterAnnotation,     names::kOnDeadNodeSinceAnnotation};

// "/api/v1/namespaces/NS/pods/NAME[/eviction]" → "NS/NAME"; empty for any other path.
std::string pod_of(std::string_view path) {
  if (!path.starts_with(kPodsIn)) return "";
  path.remove_prefix(kPodsIn.size());
  const std::size_t at = path.find("/pods/");
  if (at == path.npos) return "";
  const std::string_view name = path.substr(at + 6);
  return fmt::format("{}/{}", path.substr(0, at), name.substr(0, name.find('/')));
}

const json* find_condition(const json* object, const std::string& type) {
  const json* conditions = at(object, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const json& condition : *conditions)
    if (text_at(&condition, {"type"}) == type) return &condition;
  return nullptr;
}

}  // namespace

// An eviction marks a pod for deletion, and may end it; berth may write nothing else of a pod.
void Invariants::judge_pod(const Change& change) {
  if (change.kind == Change::Kind::kAdded)
    return complain("Fields", change.key.str() + " is created");
  if (change.kind == Change::Kind::kDeleted) return;
  for (Path path : {Path{"metadata", "labels"}, Path{"metadata", "finalizers"},
                    Path{"metadata", "ownerReferences"}}) {
    const json* before = at(change.before.get(), path);
    const json* after = at(change.after.get(), path);
    if ((before == nullptr) != (after == nullptr) || (before != nullptr && *before != *after))
      complain("Fields", fmt::format("{}: {} changes", change.key.str(), *(path.end() - 1)));
  }
  for (const std::string& key : changed_keys(at(change.before.get(), {"metadata", "annotations"}),
                                             at(change.after.get(), {"metadata", "annotations"})))
    if (std::ranges::find(kWrittenOnPods, key) == std::end(kWrittenOnPods))
      complain("Fields", fmt::format("{}: annotation {} changes", change.key.str(), key));
  for (const std::string& key :
       changed_keys(at(change.before.get(), {"spec"}), at(change.after.get(), {"spec"})))
    if (key != "schedulingGates" && key != "nodeSelector" && key != "affinity")
      complain("Fields", fmt::format("{}: spec.{} changes", change.key.str(), key));
}

void Invariants::take_request(const std::string& user, const HttpRequest& request) {
  by_ = request.method + " " + request.target + " by " + user;
  sent_at_ = clock_.now();
  count(requests_, bounds_.requests_per_minute, "requests");
  if (certificates_.take_request(user, request, clock_.now()) || request.method == "GET") return;
  if (request.lane != Lane::kLease && !request.target.starts_with("/apis/events.k8s.io/"))
    judge_lease(user);
  const std::string_view target = request.target;
  if (request.method == "PATCH" && target.starts_with("/api/v1/nodes/"))
    take_node_patch(user, request);
  if (target.find("/configmaps/" + std::string(names::kSlotsConfigMap)) != target.npos)
    ledger_sent_[user] = clock_.now();
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string pod = pod_of(path);
  if (pod.empty()) return;
  if (request.method == "DELETE") return judge_deletion(request, pod);
  if (path.ends_with("/eviction")) judge_eviction(request, pod);
}

void Invariants::judge_lease(const std::string& user) {
  const auto renewed = truth_.renewed.find(user);
  if (renewed == truth_.renewed.end())
    return complain("Lease", user + " writes and never had the lease");
  if (clock_.now() - renewed->second > bounds_.renew_deadline)
    complain("Lease", fmt::format("{} writes {} ms after it last had the lease", user,
                                  (clock_.now() - renewed->second) / std::chrono::milliseconds(1)));
}

// The process that cordons a node must have claimed its slot itself.
void Invariants::take_node_patch(const std::string& user, const HttpRequest& request) {
  std::string text;
  bool cordons = false;
  for (const json& step : parse_json(request.body)) {
    if (!step.is_object() || text_at(&step, {"op"}) == "test") continue;
    cordons =
        cordons || (text_at(&step, {"path"}) == "/spec/unschedulable" && true_at(&step, {"value"}));
    if (text_at(&step, {"path"}).ends_with("~1mig-rollout")) text = text_at(&step, {"value"});
  }
  if (text.empty()) return;
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  sent_[fmt::format("{} {} {}", user, path.substr(path.rfind('/') + 1), text)] = clock_.now();
  const std::optional<NodeRollout> record = decode_rollout(text);
  if (!cordons || !record) return;
  const auto epoch = truth_.epochs.find(user);
  if (epoch == truth_.epochs.end() || record->epoch != epoch->second)
    complain("Slot",
             fmt::format("{} takes a node in epoch {}, which is not its own", user, record->epoch));
}

void Invariants::judge_eviction(const HttpRequest& request, const std::string& pod) {
  const json body = parse_json(request.body);
  if (text_at(&body, {"deleteOptions", "preconditions", "uid"}).empty())
    complain("Drain", pod + " is evicted without its uid");
  if (request.target.find("dryRun=All") == std::string::npos) judge_removal(pod);
}

void Invariants::judge_deletion(const HttpRequest& request, const std::string& pod) {
  const json body = parse_json(request.body);
  if (text_at(&body, {"preconditions", "uid"}).empty())
    complain("Drain", pod + " is deleted without its uid");
  const json* grace = at(&body, {"gracePeriodSeconds"});
  const bool forced = grace != nullptr && *grace == 0;
  if (forced && dead_nodes_.may_force(pod, clock_.now(), clock_.wall(), news_takes())) return;
  if (forced) complain("Drain", pod + " is deleted with a grace period of 0");
  judge_patience(pod);
  judge_removal(pod);
}

// The present leader must itself have waited for the layout's timeout, however long others did.
void Invariants::judge_patience(const std::string& pod) {
  if (is_taken_back(pod)) return;
  std::optional<Duration> patience;
  for (const auto& [_, layout] : truth_.layouts)
    for (const MIGLayoutSpec* spec : layout.in_force_since(heard_until()))
      if (const DrainSpec& drain = spec->drain; drain.on_timeout == OnTimeout::kForce) {
        const Duration completion =
            drain.wait_for_completion ? drain.wait_for_completion->timeout : drain.timeout;
        const Duration least = std::min(drain.timeout, completion);
        patience = std::min(patience.value_or(least), least);
      }
  if (!patience) return complain("Drain", pod + " is deleted, not evicted");
  const auto waited = std::chrono::floor<Duration>(clock_.now() - truth_.leader_since);
  if (waited < *patience)
    complain("Patience", fmt::format("{} is forced off {} after berth began to lead", pod,
                                     format_duration_short(waited)));
}

// The ledger reclaims it for another workload: in the end berth deletes borrowing work.
bool Invariants::is_taken_back(const std::string& pod) const {
  const std::size_t slash = pod.find('/');
  const TruePod* truth = truth_.pod(pod.substr(0, slash), pod.substr(slash + 1));
  if (truth == nullptr) return true;  // its uid protects another pod with the name
  const auto taken_back = truth_.taken_back.find(truth->admission);
  return taken_back != truth_.taken_back.end() && !is_old_news(taken_back->second);
}

// For an eviction or deletion request. If the pod is another one by now, its uid protects it, and
// nothing can be checked.
void Invariants::judge_removal(const std::string& pod) {
  const std::size_t slash = pod.find('/');
  const TruePod* truth = truth_.pod(pod.substr(0, slash), pod.substr(slash + 1));
  const TrueNode* node = truth == nullptr ? nullptr : truth_.node(truth->node);
  if (node == nullptr) return;
  // A queue requeues its admitted work as long as it says so and no longer; so does the ledger for
  // another workload.
  const auto drained = truth_.drained_queues.find(truth->queue);
  if (drained != truth_.drained_queues.end() && !is_old_news(drained->second)) return;
  if (is_taken_back(pod)) return;
  const bool for_health = health_.may_drain(truth->node, heard_until());
  if (!node->open() && !for_health && (!node->edited || is_old_news(node->record_since)))
    return complain("Drain", fmt::format("{} leaves {}, which is not berth's", pod, truth->node));
  if (node->open() && node->record->phase == RolloutPhase::kApplying && node->state == "success" &&
      node->config == node->record->config && !node->edited)
    complain("Drain",
             fmt::format("{} leaves {}, which is {} already", pod, truth->node, node->config));
  if (is_old_news(node->held))
    complain("Others", fmt::format("{} is held, and {} leaves it", truth->node, pod));
  if (is_old_news(node->schedulable_at))
    complain("Drain", fmt::format("{} leaves {}, which is back in service", pod, truth->node));
  if (is_old_news(node->others))
    complain("Others",
             fmt::format("{} is being upgraded or deleted, and {} leaves it", truth->node, pod));
}

// At each renewal of the lease, if one process leads and nothing has been late for a while.
void Invariants::judge_told() {
  const MonotonicTime now = clock_.now();
  const MonotonicTime steady =
      std::max(truth_.leader_since, delayed_at_.value_or(truth_.leader_since)) + kTold;
  const auto overdue = [&](MonotonicTime since) { return now > std::max(steady, since + kTold); };
  for (const auto& [uid, layout] : truth_.layouts)
    if (layout.object.status.observed_generation != layout.object.meta.generation &&
        overdue(layout.spec_since))
      complain("Told", fmt::format("{} tells of generation {}, and has {}", layout.object.meta.name,
                                   layout.object.status.observed_generation,
                                   layout.object.meta.generation));
  for (const auto& [name, node] : truth_.nodes) {
    const bool told = std::ranges::any_of(
        truth_.layouts, [&](const auto& entry) { return tells_of(entry.second.object, name); });
    if (!node.open() || told)
      untold_.erase(name);
    else if (overdue(untold_.try_emplace(name, now).first->second))
      complain("Told", fmt::format("{} is {}, and no layout says why", name,
                                   to_string(node.record->phase)));
  }
  judge_claims(steady);
}

// A slot that no process uses keeps another node waiting.
void Invariants::judge_claims(MonotonicTime steady) {
  std::map<std::pair<std::string, std::int64_t>, MonotonicTime> standing;
  for (const auto& [name, slot] : truth_.slots) {
    const TrueNode* node = truth_.node(name);
    if (node == nullptr || node->uid != slot.node_uid || node->open()) continue;
    const auto seen = claims_.find({name, slot.seq});
    const MonotonicTime since = seen != claims_.end() ? seen->second : clock_.now();
    if (clock_.now() > std::max(steady, since + kTold))
      complain("Slot", fmt::format("{} holds a slot, and is not taken", name));
    standing.emplace(std::pair(name, slot.seq), since);
  }
  claims_ = std::move(standing);
}

void Invariants::judge_layout(const Change& change) {
  if (change.kind == Change::Kind::kAdded)
    return complain("Fields", change.key.str() + " is created");
  const std::string& uid = text_at(change.after.get(), {"metadata", "uid"});
  if (change.kind == Change::Kind::kDeleted) {  // its last finalizer is gone
    for (const auto& [name, node] : truth_.nodes)
      if (node.open() && node.record->layout_uid == uid && !node.edited)
        complain("Finalizer", fmt::format("{} goes and leaves {} {}", change.key.str(), name,
                                          to_string(node.record->phase)));
    return;
  }
  const json* before = at(change.before.get(), {"spec"});
  const json* after = at(change.after.get(), {"spec"});
  if (before != nullptr && after != nullptr && *before != *after)
    complain("Fields", change.key.str() + ": its spec changes");
  judge_conditions(change);
}

void Invariants::judge_conditions(const Change& change) {
  const json* after = change.after.get();
  const std::int64_t generation = number_at(after, {"metadata", "generation"});
  const std::int64_t observed = number_at(after, {"status", "observedGeneration"});
  if (observed > generation)
    complain("Status", fmt::format("observedGeneration {} of {}", observed, generation));
  const json* conditions = at(after, {"status", "conditions"});
  if (conditions == nullptr) return;
  for (const json& condition : *conditions) {
    const std::string& type = text_at(&condition, {"type"});
    if (number_at(&condition, {"observedGeneration"}) > generation)
      complain("Status", type + " tells of a generation to come");
    const json* last = find_condition(change.before.get(), type);
    if (last == nullptr) continue;
    const bool turned = text_at(&condition, {"status"}) != text_at(last, {"status"});
    const std::string& now = text_at(&condition, {"lastTransitionTime"});
    const std::string& before = text_at(last, {"lastTransitionTime"});
    if (now != before && !turned)
      complain("Status", type + ": lastTransitionTime moves and the status does not");
    if (now < before) complain("Status", type + ": lastTransitionTime goes back");
  }
}

}  // namespace berth::explore
