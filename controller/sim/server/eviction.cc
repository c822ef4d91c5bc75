// SPDX-License-Identifier: Apache-2.0
// Eviction: a deletion of a pod that its PodDisruptionBudget must allow. As in the real server, the
// budget is spent before the uid precondition is checked.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/server/managed_fields.h"
#include "controller/sim/server/selectors.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

constexpr char kTooMany[] = "Cannot evict pod as it would violate the pod's disruption budget.";
constexpr std::size_t kMaxDisruptedPods = 2000;

const json* find_condition(const json& object, const std::string& type) {
  const json* conditions = find_at(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  const auto found =
      std::find_if(conditions->begin(), conditions->end(),
                   [&](const json& condition) { return text_at(condition, {"type"}) == type; });
  return found == conditions->end() ? nullptr : &*found;
}

// Budgets do not count pods that are already down or never started.
bool ignores_budgets(const json& pod) {
  const std::string phase = text_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
         find_at(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool is_ready(const json& pod) {
  const json* ready = find_condition(pod, "Ready");
  return ready != nullptr && text_at(*ready, {"status"}) == "True";
}

std::vector<ObjectPtr> budgets_of(const Writing& writing, const StoreKey& key, const json& pod) {
  std::vector<ObjectPtr> budgets =
      writing.store.list(*find_resource_type("poddisruptionbudgets"), key.namespace_);
  std::erase_if(budgets, [&](const ObjectPtr& budget) {
    return !label_selector_matches(find_at(*budget, {"spec", "selector"}), pod);
  });
  return budgets;
}

std::int64_t status_number(const json& budget, const char* field) {
  return integer_at(budget, {"status", field}).value_or(0);
}

std::string exhausted(const std::string& name, const json& budget) {
  const json* condition = find_condition(budget, "DisruptionAllowed");
  const bool no = condition != nullptr && text_at(*condition, {"status"}) == "False";
  const std::string why = no ? text_at(*condition, {"message"}) : "";
  const std::string reason = no ? text_at(*condition, {"reason"}) : "";
  if (!why.empty() && reason == "SyncFailed")
    return fmt::format(
        "The disruption budget {} does not allow evicting pods currently because it failed sync: "
        "{}",
        name, why);
  const std::int64_t desired = status_number(budget, "desiredHealthy");
  const std::int64_t current = status_number(budget, "currentHealthy");
  if (current <= desired)
    return fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                       desired, current);
  if (!why.empty())
    return fmt::format("The disruption budget {} does not allow evicting pods currently ({}): {}",
                       name, reason, why);
  return fmt::format("The disruption budget {} does not allow evicting pods currently", name);
}

Refusal still_processed(const std::string& budget) {
  return too_many_requests(
      kTooMany,
      {{"DisruptionBudget",
        fmt::format("The disruption budget {} is still being processed by the server.", budget),
        ""}},
      10);
}

void check_budget(const std::string& name, const json& budget) {
  const ResourceType& type = *find_resource_type("poddisruptionbudgets");
  if (status_number(budget, "observedGeneration") <
      integer_at(budget, {"metadata", "generation"}).value_or(0))
    throw still_processed(name);
  const std::int64_t allowed = status_number(budget, "disruptionsAllowed");
  if (allowed < 0) throw forbidden(type, name, "pdb disruptions allowed is negative");
  const json* disrupted = find_at(budget, {"status", "disruptedPods"});
  if (disrupted != nullptr && disrupted->size() > kMaxDisruptedPods)
    throw forbidden(type, name,
                    "DisruptedPods map too big - too many evictions not confirmed by PDB "
                    "controller");
  if (allowed == 0)
    throw too_many_requests(kTooMany, {{"DisruptionBudget", exhausted(name, budget), ""}}, 0);
}

// Subtracts one allowed disruption and records the pod in disruptedPods, until the budget's
// controller counts again.
void spend(Writing& writing, const StoreKey& pod, const std::string& name, const json& live) {
  const std::string now = format_time(writing.clock.wall());
  json budget = live;
  json& status = budget["status"];
  const std::int64_t left = status_number(live, "disruptionsAllowed") - 1;
  status["disruptionsAllowed"] = left;
  status["disruptedPods"][pod.name] = now;
  if (left == 0) {
    json condition = {{"type", "DisruptionAllowed"},
                      {"status", "False"},
                      {"reason", "InsufficientPods"},
                      {"message", ""},
                      {"lastTransitionTime", now},
                      {"observedGeneration", status_number(live, "observedGeneration")}};
    json& conditions = status["conditions"];
    const auto found = std::find_if(conditions.begin(), conditions.end(), [](const json& one) {
      return text_at(one, {"type"}) == "DisruptionAllowed";
    });
    if (found == conditions.end()) {
      conditions.push_back(std::move(condition));
    } else {
      if (text_at(*found, {"status"}) == "False")
        condition["lastTransitionTime"] = text_at(*found, {"lastTransitionTime"});
      *found = std::move(condition);
    }
  }
  const ResourceType& type = *find_resource_type("poddisruptionbudgets");
  track_update(type, live, budget, {"kube-apiserver", "status", now});
  writing.store.put({&type, pod.namespace_, name}, std::move(budget), "kube-apiserver");
}

void check_eviction(const WriteRequest& request) {
  if (request.body == nullptr || !request.body->is_object())
    throw bad_request("the object provided is unrecognized (must be of type Eviction)");
  if (text_at(*request.body, {"metadata", "name"}) != request.key.name)
    throw bad_request("name in URL does not match name in Eviction object");
}

void mark_disrupted(json& pod, const std::string& now) {
  json condition = {{"type", "DisruptionTarget"},        {"status", "True"},
                    {"lastProbeTime", nullptr},          {"lastTransitionTime", now},
                    {"reason", "EvictionByEvictionAPI"}, {"message", "Eviction API: evicting"}};
  if (find_condition(pod, "DisruptionTarget") == nullptr)
    pod["status"]["conditions"].push_back(std::move(condition));
}

// The deletion itself; the budget is already spent.
WriteReply remove(Writing& writing, const WriteRequest& request, const json& options) {
  WriteRequest deletion = request;
  deletion.verb = WriteVerb::kDelete;
  deletion.body = std::make_shared<const json>(options);
  if (!request.dry_run) {
    // The preconditions are checked before the pod is changed.
    WriteRequest trial = deletion;
    trial.dry_run = true;
    delete_object(writing, trial);
    json pod = *writing.store.find(request.key);
    mark_disrupted(pod, format_time(writing.clock.wall()));
    if (pod != *writing.store.find(request.key))
      writing.store.put(request.key, std::move(pod), request.user);
    if (options.contains("preconditions") && options["preconditions"].contains("resourceVersion")) {
      json moved = options;
      moved["preconditions"]["resourceVersion"] =
          text_at(*writing.store.find(request.key), {"metadata", "resourceVersion"});
      deletion.body = std::make_shared<const json>(std::move(moved));
    }
  }
  delete_object(writing, deletion);
  return {.code = 201,
          .body = std::make_shared<const json>(json{{"kind", "Status"},
                                                    {"apiVersion", "v1"},
                                                    {"metadata", json::object()},
                                                    {"status", "Success"},
                                                    {"code", 201}})};
}

// An unready pod may be evicted without the budget if it has not become ready meanwhile. The
// checked resourceVersion replaces the requested one. Any mismatch counts as such a change, also
// another uid.
WriteReply remove_spared(Writing& writing, const WriteRequest& request, const json& options,
                         const std::string& budget) {
  const bool own_version = !text_at(options, {"preconditions", "resourceVersion"}).empty();
  json of_this_version = options;
  of_this_version["preconditions"]["resourceVersion"] =
      text_at(*writing.store.find(request.key), {"metadata", "resourceVersion"});
  try {
    return remove(writing, request, of_this_version);
  } catch (const Refusal& refusal) {
    if (refusal.code != 409 || own_version) throw;
    throw still_processed(budget);
  }
}

}  // namespace

WriteReply evict_pod(Writing& writing, const WriteRequest& request) {
  check_eviction(request);
  const ObjectPtr pod = writing.store.find(request.key);
  if (pod == nullptr) throw not_found(*request.key.type, request.key.name);
  const json* given = find_at(*request.body, {"deleteOptions"});
  const json options = given != nullptr && given->is_object() ? *given : json::object();
  WriteRequest eviction = request;
  eviction.dry_run = request.dry_run || holds_text(options, {"dryRun"}, "All");
  if (ignores_budgets(*pod)) return remove(writing, eviction, options);

  const std::vector<ObjectPtr> budgets = budgets_of(writing, request.key, *pod);
  if (budgets.size() > 1)
    throw internal_error(
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support.");
  if (budgets.empty()) return remove(writing, eviction, options);
  const json& budget = *budgets[0];
  const bool spared =
      !is_ready(*pod) &&
      (text_at(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow" ||
       (status_number(budget, "currentHealthy") >= status_number(budget, "desiredHealthy") &&
        status_number(budget, "desiredHealthy") > 0));
  const std::string name = text_at(budget, {"metadata", "name"});
  if (spared) return remove_spared(writing, eviction, options, name);
  check_budget(name, budget);
  if (!eviction.dry_run) spend(writing, request.key, name, budget);
  return remove(writing, eviction, options);
}

}  // namespace berth::sim
