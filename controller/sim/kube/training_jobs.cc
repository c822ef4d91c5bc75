// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/training_jobs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/kube/workload.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

// Labels of training-operator.
constexpr char kJobName[] = "training.kubeflow.org/job-name";
constexpr char kOperatorName[] = "training.kubeflow.org/operator-name";
constexpr char kReplicaType[] = "training.kubeflow.org/replica-type";

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The default for a TFJob's role is Never.
std::string policy_of(const json& spec) {
  const std::string policy = text_at(spec, {"restartPolicy"});
  return policy.empty() ? "Never" : policy;
}

std::string role_of(const json& pod) { return text_at(pod, {"metadata", "labels", kReplicaType}); }

json make_member(const json& job, const std::string& role, const json& spec) {
  json owner = job;
  owner["spec"] = {{"template", spec.value("template", json::object())}};
  json pod = make_pod(owner);
  json& labels = pod["metadata"]["labels"];
  labels[kJobName] = name_of(job);
  labels[kOperatorName] = "tfjob-controller";
  labels[kReplicaType] = in_lower_case(role);
  const std::string policy = policy_of(spec);
  pod["spec"]["restartPolicy"] = policy == "ExitCode" ? "Never" : policy;
  return pod;
}

}  // namespace

TrainingJobs::TrainingJobs(Simulation& simulation, const KubeOptions& options,
                           const Relations& relations)
    : simulation_(simulation),
      relations_(relations),
      client_(simulation.server(), "training-operator"),
      queue_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at(key); }),
      creations_(simulation, client_, queue_) {}

// A pod's end counts even if the pod is gone before its job is processed.
void TrainingJobs::on_change(const Change& change) {
  if (is(change.key, "tfjobs")) queue_.wake(change.key);
  if (!is(change.key, "pods")) return;
  const json* owner = controller_of(*change.after);
  if (owner == nullptr || text_at(*owner, {"kind"}) != "TFJob") return;
  if (text_at(*change.after, {"status", "phase"}) == "Failed")
    failed_.emplace(text_at(*owner, {"uid"}), role_of(*change.after));
  wake_controller(queue_, change, "tfjobs");
}

void TrainingJobs::look_at(const StoreKey& key) {
  const ObjectPtr job = simulation_.store().find(key);
  if (job == nullptr || is_terminating(*job) || creations_.under_way(key)) return;
  if (is_true(*job, "Failed")) {
    for (const ObjectPtr& pod : relations_.controlled_by(uid_of(*job)))
      if (is_active(*pod)) client_.remove("pods", key.namespace_, name_of(*pod));
    return;
  }
  const json* roles = find_at(*job, {"spec", "tfReplicaSpecs"});
  if (roles == nullptr || !roles->is_object()) return;
  for (const auto& [role, spec] : roles->items()) {
    const bool has_failed = failed_.erase({uid_of(*job), in_lower_case(role)}) > 0;
    if (has_failed && policy_of(spec) == "Never") return fail(key, *job, role);
    replace(key, *job, role, spec);
  }
}

void TrainingJobs::fail(const StoreKey& key, const json& job, const std::string& role) {
  const NewCondition failed{"Failed", "True", "TFJobFailed",
                            fmt::format("1 {} replica(s) failed", role)};
  write_status(client_, key, job,
               {{"conditions", with_condition(job, failed, simulation_.clock().wall())}});
}

// Replaces a finished pod at once, and a terminating pod once it is gone.
void TrainingJobs::replace(const StoreKey& key, const json& job, const std::string& role,
                           const json& spec) {
  std::int64_t there = 0;
  for (const ObjectPtr& pod : relations_.controlled_by(uid_of(job))) {
    if (role_of(*pod) != in_lower_case(role)) continue;
    ++there;
    if (text_at(*pod, {"status", "phase"}) == "Failed" && !is_terminating(*pod))
      client_.remove("pods", key.namespace_, name_of(*pod));
  }
  for (; there < integer_at(spec, {"replicas"}).value_or(1); ++there)
    creations_.create(key, make_member(job, role, spec));
}

}  // namespace berth::sim
