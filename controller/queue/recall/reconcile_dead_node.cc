// SPDX-License-Identifier: Apache-2.0
// Outline: the mark of a lost pod; its replacement by the Job; the deletion by force.
#include <fmt/format.h>

#include <string>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"
#include "controller/core/patience.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/queue/facts/leaving.h"
#include "controller/queue/index/dead_nodes.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/queue/recall/requeue.h"

namespace berth::queue {
namespace {

const berth::Job* job_of(const Snapshot& snapshot, const berth::Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr || owner->kind != "Job") return nullptr;
  const berth::Job* job =
      snapshot.cluster.jobs().find(pod.meta.namespace_.view(), owner->name.view());
  return job != nullptr && job->meta.uid == owner->uid.view() ? job : nullptr;
}

Write mark(const berth::Pod& pod, MergePatch patch, std::string reason) {
  return {.verb = Verb::kMergePatch,
          .object = ref_of(pod),
          .body = patch.str(),
          .field_manager = names::kManagerQueue,
          .reason = std::move(reason)};
}

void plan_mark(const Snapshot& snapshot, const berth::Pod& pod, Plan& plan) {
  const std::string since = format_time(snapshot.now);
  plan.add(
      ref_of(pod),
      mark(pod,
           MergePatch::same_version(pod.meta).annotation(names::kOnDeadNodeSinceAnnotation, since),
           "it can't leave node " + pod.node_name.str() + ", which is not ready"));
  const berth::Job* job = job_of(snapshot, pod);
  plan.events.push_back({job == nullptr ? ref_of(pod) : ref_of(*job), true,
                         reasons::kPodsOnDeadNode, "TakeBack",
                         describe_lost(pod.meta.name, pod.node_name.view())});
}

// berth sets Jobs of a queue to replace a pod only once it has ended. A lost pod does not end, so
// berth sets its Job to replace terminating pods, the default of Kubernetes. With a
// podFailurePolicy the API server allows only Failed.
void plan_replacement(const Snapshot& snapshot, const berth::Pod& pod, Plan& plan) {
  const berth::Job* job = job_of(snapshot, pod);
  if (job == nullptr || !job->replaces_ended_only || job->has_failure_policy) return;
  if (job->finished || job->meta.deletion_timestamp || is_made_for_another(*job)) return;
  if (plan.has_steps(ref_of(*job))) return;
  MergePatch patch = MergePatch::same_version(job->meta);
  patch.field("spec", R"({"podReplacementPolicy":"TerminatingOrFailed"})");
  plan.add(ref_of(*job), Write{.verb = Verb::kMergePatch,
                               .object = ref_of(*job),
                               .body = patch.str(),
                               .field_manager = names::kManagerQueue,
                               .reason = fmt::format("replace pod {}, which can't leave node {}",
                                                     pod.meta.name, pod.node_name.view())});
}

// Returns how long the pod's queue waits before berth deletes it by force; nothing if it never
// does.
std::optional<Duration> force_after(const Snapshot& snapshot, const berth::Pod& pod) {
  if (!is_safe_to_force_delete(pod) && !seeded(SeededBug::kForceUnasked)) return {};
  const GPUQueue* of = admitting_queue(snapshot.cluster, pod);
  return of == nullptr ? std::nullopt : of->spec.force_delete_after;
}

Guard still_dead(const Node& node) {
  return {
      .node = ref_of(node),
      .question = "not ready",
      .refuse = [](const Node& live, const std::vector<berth::Pod>&) -> std::optional<std::string> {
        if (!live.ready) return std::nullopt;
        return fmt::format("node {} is ready again", live.meta.name);
      },
      .yes_if_gone = true};
}

// Does the same as Kubernetes' pod garbage collector. It marks the pod as failed by a disruption,
// so that its controller counts it and releases it. Then it deletes the object.
void plan_force(const Snapshot& snapshot, const Node& node, const berth::Pod& pod, Plan& plan) {
  const std::string why = fmt::format("node {} does not answer, and the pod is marked {}",
                                      node.meta.name, names::kSafeToForceDeleteAnnotation);
  const ObjectRef object = ref_of(pod);
  plan.add(object, still_dead(node));
  if (!pod.finished()) {
    MergePatch patch = MergePatch::same_object(pod.meta);
    patch.field("status",
                fmt::format(R"({{"phase":"Failed","reason":"{0}","message":{1},"conditions":[{{)"
                            R"("type":"DisruptionTarget","status":"True","reason":"{0}",)"
                            R"("message":{1},"lastTransitionTime":"{2}"}}]}})",
                            reasons::kForceDeleted, quote_json(why), format_time(snapshot.now)));
    plan.add(object, Write{.verb = Verb::kStatusPatch,
                           .object = object,
                           .body = patch.str(),
                           .field_manager = names::kManagerQueue,
                           .reason = why});
    plan.events.push_back({object, true, reasons::kForceDeleted, "Delete", why});
  }
  plan.add(object, Write{.verb = Verb::kDelete,
                         .object = object,
                         .body = {},
                         .field_manager = names::kManagerQueue,
                         .reason = why,
                         .grace_period_seconds = 0});
  plan.requeue_in(kLookAgain);
}

void plan_dead(const Snapshot& snapshot, const Node& node, const berth::Pod& pod, Plan& plan) {
  const auto since = lost_since(pod);
  if (!since) {
    const Time ends = patience_ends(snapshot, *pod.meta.deletion_timestamp, kCountedOnFor);
    if (snapshot.now < ends)
      return plan.requeue_in(std::chrono::ceil<Duration>(ends - snapshot.now));
    return plan_mark(snapshot, pod, plan);
  }
  if (!pod.finished()) plan_replacement(snapshot, pod, plan);
  const auto after = force_after(snapshot, pod);
  if (!after) return;
  const Time ends = patience_ends(snapshot, *since, *after);
  if (snapshot.now < ends) return plan.requeue_in(std::chrono::ceil<Duration>(ends - snapshot.now));
  plan_force(snapshot, node, pod, plan);
}

}  // namespace

Plan reconcile_dead_node(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  const Node* node = snapshot.cluster.nodes().find(name);
  // Kubernetes itself removes the pods of a deleted node.
  if (snapshot.offline || node == nullptr || is_stopped(snapshot)) return plan;
  for (const berth::Pod* pod : snapshot.cluster.pods_on(name)) {
    if (!may_be_lost(*pod)) continue;
    if (!node->ready) {
      plan_dead(snapshot, *node, *pod, plan);
    } else if (lost_since(*pod)) {
      plan.add(ref_of(*pod),
               mark(*pod,
                    MergePatch::same_version(pod->meta).without_annotation(
                        names::kOnDeadNodeSinceAnnotation),
                    "node " + pod->node_name.str() + " is ready again, and it leaves"));
    }
  }
  return plan;
}

}  // namespace berth::queue
