// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/disruption_budgets.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/server/selectors.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// A granted eviction counts for this time while its pod still exists.
constexpr auto kDisruptionTimeout = 2min;

// "2" or "30%" of a total, percentages rounded up, as always in budgets.
std::int64_t scaled(const json& value, std::int64_t total) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const std::string text = value.is_string() ? value.get<std::string>() : "0%";
  std::int64_t percent = 0;
  std::from_chars(text.data(), text.data() + text.size(), percent);
  return (percent * total + 99) / 100;
}

std::vector<ObjectPtr> selected(const ActorClient& client, const StoreKey& key,
                                const json& budget) {
  std::vector<ObjectPtr> pods = client.list("pods", key.namespace_);
  const json* selector = find_at(budget, {"spec", "selector"});
  std::erase_if(pods,
                [&](const ObjectPtr& pod) { return !label_selector_matches(selector, *pod); });
  return pods;
}

bool is_same_health(const json& before, const json& after) {
  return is_true(before, "Ready") == is_true(after, "Ready") &&
         is_terminating(before) == is_terminating(after) &&
         !differ(before, after, {"metadata", "labels"});
}

}  // namespace

DisruptionBudgets::DisruptionBudgets(Simulation& simulation, const KubeOptions& options)
    : simulation_(simulation),
      client_(simulation.server(), "disruption-controller"),
      queue_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at(key); }) {}

void DisruptionBudgets::on_change(const Change& change) {
  if (is(change.key, "poddisruptionbudgets")) queue_.wake(change.key);
  const bool modified = change.kind == Change::Kind::kModified;
  const bool pod =
      is(change.key, "pods") && !(modified && is_same_health(*change.before, *change.after));
  const bool scale = is(change.key, "replicasets") &&
                     (!modified || differ(*change.before, *change.after, {"spec"}));
  if (!pod && !scale) return;
  for (const ObjectPtr& budget : client_.list("poddisruptionbudgets", change.key.namespace_))
    queue_.wake(key_of("poddisruptionbudgets", *budget));
}

void DisruptionBudgets::look_at(const StoreKey& key) {
  const ObjectPtr budget = simulation_.store().find(key);
  if (budget == nullptr) return;
  const std::vector<ObjectPtr> pods = selected(client_, key, *budget);
  json next = *budget;
  json& status = next["status"];
  const json disrupted = believe_disrupted(key, *budget);
  if (disrupted.empty())
    status.erase("disruptedPods");
  else
    status["disruptedPods"] = disrupted;
  const std::int64_t healthy = std::ranges::count_if(pods, [&](const ObjectPtr& pod) {
    return is_true(*pod, "Ready") && !is_terminating(*pod) && !disrupted.contains(name_of(*pod));
  });
  std::int64_t allowed = 0;
  const std::optional<Goal> goal = compute_goal(*budget, pods);
  if (goal) {
    if (goal->expected > 0) allowed = std::max<std::int64_t>(0, healthy - goal->healthy);
    status["currentHealthy"] = healthy;
    status["desiredHealthy"] = goal->healthy;
    status["expectedPods"] = goal->expected;
    status["observedGeneration"] = integer_at(*budget, {"metadata", "generation"}).value_or(0);
  }
  status["disruptionsAllowed"] = allowed;
  const char* reason = !goal ? "SyncFailed" : allowed > 0 ? "SufficientPods" : "InsufficientPods";
  const NewCondition condition{"DisruptionAllowed", allowed > 0 ? "True" : "False", reason,
                               goal ? "" : "found no scale of a pod's controller"};
  status["conditions"] = with_condition(*budget, condition, simulation_.clock().wall());
  if (differ(*budget, next, {"status"}))
    client_.update("poddisruptionbudgets", std::move(next), "status");
}

json DisruptionBudgets::believe_disrupted(const StoreKey& key, const json& budget) {
  json kept = json::object();
  const json* disrupted = find_at(budget, {"status", "disruptedPods"});
  if (disrupted == nullptr) return kept;
  for (const auto& [name, since] : disrupted->items()) {
    const ObjectPtr pod = client_.get("pods", key.namespace_, name);
    if (pod == nullptr || is_terminating(*pod)) continue;
    const auto time = parse_time(since.is_string() ? since.get<std::string>() : "");
    if (!time.has_value()) continue;
    const auto left = *time + kDisruptionTimeout - simulation_.clock().wall();
    if (left <= 0s) continue;
    queue_.wake(key, left);
    kept[name] = since;
  }
  return kept;
}

std::optional<DisruptionBudgets::Goal> DisruptionBudgets::compute_goal(
    const json& budget, const std::vector<ObjectPtr>& pods) const {
  const std::int64_t count = std::ssize(pods);
  if (const json* most = find_at(budget, {"spec", "maxUnavailable"})) {
    const auto scale = compute_scale(pods);
    if (!scale) return std::nullopt;
    return Goal{*scale, std::max<std::int64_t>(0, *scale - scaled(*most, *scale))};
  }
  const json* least = find_at(budget, {"spec", "minAvailable"});
  if (least == nullptr) return Goal{count, 0};
  if (least->is_number_integer()) return Goal{count, least->get<std::int64_t>()};
  const auto scale = compute_scale(pods);
  if (!scale) return std::nullopt;
  return Goal{*scale, scaled(*least, *scale)};
}

// Only ReplicaSets have a scale here; pods without a controller do not count.
std::optional<std::int64_t> DisruptionBudgets::compute_scale(
    const std::vector<ObjectPtr>& pods) const {
  std::set<std::string> seen;
  std::int64_t scale = 0;
  for (const ObjectPtr& pod : pods) {
    const json* owner = controller_of(*pod);
    if (owner == nullptr || !seen.insert(text_at(*owner, {"uid"})).second) continue;
    if (text_at(*owner, {"kind"}) != "ReplicaSet") return std::nullopt;
    const ObjectPtr set = client_.get("replicasets", namespace_of(*pod), text_at(*owner, {"name"}));
    if (set != nullptr) scale += integer_at(*set, {"spec", "replicas"}).value_or(1);
  }
  return scale;
}

}  // namespace berth::sim
