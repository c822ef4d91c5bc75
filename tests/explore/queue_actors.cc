// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_actors.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_accounts.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {
namespace {

using nlohmann::json;

struct QueueActor {
  std::string name;
  std::string plural;
  std::function<bool(const json&)> meets;
  std::function<json(const json&)> patch;
};

bool is_admitted(const json& job) {
  return !is_suspended(job) && !annotation_at(&job, names::kAdmittedAnnotation).empty();
}

json remove_gates(const json&) { return {{"spec", {{"schedulingGates", nullptr}}}}; }

json resume(const json&) { return {{"spec", {{"suspend", false}}}}; }

json raise(const json& job) {
  return {{"spec", {{"parallelism", number_at(&job, {"spec", "parallelism"}) + 2}}}};
}

// A record as berth would write it, with an epoch in the future.
json forge(const json& object) {
  const json record = {{"uid", text_at(&object, {"metadata", "uid"})},
                       {"queue", text_at(&object, {"metadata", "namespace"})},
                       {"cohort", "research"},
                       {"pool", "training"},
                       {"pods", 1},
                       {"amounts", {{"nvidia.com/gpu", 1}}},
                       {"since", "2026-01-01T00:00:00.000000Z"},
                       {"epoch", 99},
                       {"selectsPool", false}};
  json patch;
  patch["metadata"]["annotations"][names::kAdmittedAnnotation] = record.dump();
  return patch;
}

// Borrowers who try to keep their GPUs.
json hold(const json&) {
  return {{"metadata", {{"annotations", {{names::kHoldAnnotation, "mine"}}}}}};
}

json give_to_kueue(const json&) {
  return {{"metadata",
           {{"labels", {{names::kQueueLabel, nullptr}, {names::kKueueQueueLabel, "elsewhere"}}}}}};
}

const std::vector<QueueActor>& actors() {
  static const std::vector<QueueActor> table{
      {"gate-removed", "pods", is_gated, remove_gates},
      {"job-resumed", "jobs", is_suspended, resume},
      {"admitted-forged", "pods", is_gated, forge},
      {"job-admitted-forged", "jobs", is_suspended, forge},
      {"parallelism-raised", "jobs", is_admitted, raise},
      {"loan-held", "jobs", is_admitted, hold},
      {"loan-given-to-kueue", "jobs", is_admitted, give_to_kueue},
  };
  return table;
}

}  // namespace

bool has_queues(const Scenario& scenario) {
  const auto is_queue = [](const std::string& text) {
    return text.find("GPUQueue") != std::string::npos;
  };
  return std::ranges::any_of(scenario.objects, is_queue) ||
         std::ranges::any_of(scenario.timeline, is_queue, &Incident::manifest);
}

const std::vector<std::string>& queue_actor_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const QueueActor& actor : actors()) list.push_back(actor.name);
    return list;
  }();
  return names;
}

std::optional<Incident> queue_act_of(std::string_view name, const sim::Store& store) {
  const QueueActor& actor = *std::ranges::find(actors(), name, &QueueActor::name);
  for (const sim::ObjectPtr& object : store.list(*sim::find_resource_type(actor.plural))) {
    if (!actor.meets(*object)) continue;
    Incident incident;
    incident.verb = "edit";
    incident.target = actor.plural + "/" + text_at(object.get(), {"metadata", "namespace"}) + "/" +
                      text_at(object.get(), {"metadata", "name"});
    incident.args["patch"] = actor.patch(*object).dump();
    return incident;
  }
  return std::nullopt;
}

}  // namespace berth::explore
