// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/queue_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/sim/server/status.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr char kJobController[] = "job-controller";

bool is_gated(const json& pod) {
  const json* gates = find_at(pod, {"spec", "schedulingGates"});
  return gates != nullptr && std::ranges::any_of(*gates, [](const json& gate) {
           return text_at(gate, {"name"}) == names::kQueueGate;
         });
}

std::string record_of(const json& object) {
  return text_at(object, {"metadata", "annotations", names::kAdmittedAnnotation});
}

std::string template_record_of(const json& object) {
  const json* pods = find_at(object, {"spec", "template"});
  return pods == nullptr ? "" : record_of(*pods);
}

// The annotation that marks a pod as lost; a Job's pods would inherit it from the template.
std::string mark_of(const json& object) {
  const json* pods = find_at(object, {"spec", "template"});
  return text_at(pods == nullptr ? object : *pods,
                 {"metadata", "annotations", names::kOnDeadNodeSinceAnnotation});
}

bool has_queue(const json& object) {
  return find_at(object, {"metadata", "labels", names::kQueueLabel}) != nullptr;
}

bool is_of_a_queue(const json& object) {
  return has_queue(object) || is_gated(object) || !record_of(object).empty() ||
         !template_record_of(object).empty() || !mark_of(object).empty();
}

bool job_waits(const json& job) { return true_at(job, {"spec", "suspend"}); }

// The deadline may only fall; removing it counts as raising it.
bool runs_longer(const json& live, const json& next) {
  const auto before = integer_at(live, {"spec", "activeDeadlineSeconds"});
  const auto after = integer_at(next, {"spec", "activeDeadlineSeconds"});
  return before && (!after || *after > *before);
}

// The chart's policy berth-admission for an update; at creation the webhook has written Failed.
bool replaces_earlier(const json& live, const json& next) {
  const auto early = [](const json& job) {
    return text_at(job, {"spec", "podReplacementPolicy"}) == "TerminatingOrFailed";
  };
  const json* owner = controller_of(next);
  const bool of_a_queue =
      has_queue(next) && (owner == nullptr || text_at(*owner, {"kind"}) == "CronJob");
  return of_a_queue && early(next) && !early(live);
}

std::int64_t width_of(const json& job) {
  return integer_at(job, {"spec", "parallelism"}).value_or(1);
}

// A Job's pods inherit the admission record of a Job that berth has released.
bool inherits(const std::string& user, const json& pod) {
  const json* owner = controller_of(pod);
  return user == kJobController && owner != nullptr && text_at(*owner, {"kind"}) == "Job" &&
         record_of(pod).find(fmt::format(R"("uid":"{}")", text_at(*owner, {"uid"}))) !=
             std::string::npos;
}

// Why the update of the pod is forbidden; empty: it is allowed.
std::string refuse_pod(const std::string& user, const json* live, const json& next) {
  if (live != nullptr && is_gated(*live) && !is_gated(next))
    return "only berth takes the gate gpu.berth.dev/queue away, when the queue admits the pod; "
           "`berth why` tells what it waits for";
  const std::string before = live == nullptr ? "" : record_of(*live);
  if (record_of(next) != before && (live != nullptr || !inherits(user, next)))
    return "only berth writes gpu.berth.dev/admitted; leave the annotation out";
  if (live == nullptr && !node_of(next).empty())
    return "a pod of a queue may not name its node; leave spec.nodeName out";
  return "";
}

std::string refuse_job(const json* live, const json& next) {
  const bool was_suspended = live != nullptr && job_waits(*live);
  const std::string before = live == nullptr ? "" : record_of(*live);
  if (record_of(next) != before ||
      template_record_of(next) != (live == nullptr ? "" : template_record_of(*live)))
    return "only berth writes gpu.berth.dev/admitted; leave the annotation out";
  if (live == nullptr) return "";
  if (was_suspended && !job_waits(next) && (has_queue(next) || has_queue(*live)))
    return "only the queue resumes the Job; `berth why` tells what it waits for";
  if (has_queue(*live) && !has_queue(next) && (was_suspended || !before.empty()))
    return "a Job that waits or was admitted keeps its label gpu.berth.dev/queue; name another "
           "queue, or delete the Job";
  if (replaces_earlier(*live, next))
    return "a Job of a queue replaces a pod once it has ended; write spec.podReplacementPolicy: "
           "Failed";
  if (was_suspended || job_waits(next) || before.empty()) return "";
  if (width_of(next) > width_of(*live))
    return "spec.parallelism of an admitted Job may only fall; suspend it, raise it, and the queue "
           "resumes it";
  if (runs_longer(*live, next))
    return "spec.activeDeadlineSeconds of an admitted Job may only fall; suspend it, raise it, and "
           "the queue admits it anew";
  return "";
}

std::string refuse(const std::string& user, bool pod, const json* live, const json& next) {
  if (mark_of(next) != (live == nullptr ? "" : mark_of(*live)))
    return "only berth writes gpu.berth.dev/on-dead-node-since; leave the annotation out";
  return pod ? refuse_pod(user, live, next) : refuse_job(live, next);
}

}  // namespace

void QueuePolicy::judge(const std::string& user, const StoreKey& key, const json* live,
                        const json& next) const {
  const bool pod = is(key, "pods");
  if ((!pod && !is(key, "jobs")) || user.starts_with("berth-") || !is_managed(key.namespace_) ||
      (!is_of_a_queue(next) && (live == nullptr || !is_of_a_queue(*live))))
    return;
  const std::string why = refuse(user, pod, live, next);
  if (why.empty()) return;
  throw forbidden(
      *key.type, key.name,
      fmt::format("ValidatingAdmissionPolicy 'berth-queue' with binding 'berth-queue' denied "
                  "request: {}",
                  why));
}

bool QueuePolicy::is_managed(const std::string& namespace_) const {
  const ObjectPtr found = store_.find({find_resource_type("namespaces"), "", namespace_});
  return found != nullptr &&
         text_at(*found, {"metadata", "labels", names::kManagedLabel}) == "true";
}

}  // namespace berth::sim
