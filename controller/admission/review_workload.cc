// SPDX-License-Identifier: Apache-2.0
// Outline: the policy's review of a new pod; a debugger's containers; the queue's review; the
// review of a changed Job.
#include "controller/admission/review_workload.h"

#include <fmt/format.h>

#include "controller/admission/accepted_class.h"
#include "controller/admission/foreign_record.h"
#include "controller/admission/managed_namespaces.h"
#include "controller/admission/pod_review.h"
#include "controller/admission/preempting_class.h"
#include "controller/admission/queue_bounds.h"
#include "controller/admission/queue_hold.h"
#include "controller/admission/review_reply.h"
#include "controller/admission/unpin.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/pools.h"
#include "controller/queue/index/queue_choice.h"

namespace berth {
namespace {

ReviewReply answer(const ReviewRequest& request, const ReviewFindings& findings,
                   const PodPatch& patch, std::vector<std::string> warnings = {}) {
  if (findings.refused()) return reply_denied(request.uid, Denial::kForbidden, findings);
  for (std::string& warning : findings.warnings()) warnings.push_back(std::move(warning));
  return reply_allowed(request.uid, patch, warnings);
}

void mutate_pod(const PodReview& review, PodPatch& patch, ReviewFindings& findings) {
  // The server validates between mutation and validation, so berth refuses bad amounts here.
  check_amounts(review.pod, findings);
  if (findings.refused()) return;
  const PodPatch repairs = compute_repairs(review, findings);
  if (!repairs.too_large()) return patch.append(repairs);
  findings.refuse(review.pod.field("containers"),
                  "what berth would add to them is more than 1 MiB; write fewer containers, "
                  "fewer terms of node affinity, or what is missing yourself");
}

void validate_pod(const PodReview& review, ReviewFindings& findings) {
  if (names_gpu(review.pod))
    check_pod(review, findings);
  else
    check_device_access(review.pod, findings);
}

ReviewFindings findings_under(const GPUClusterPolicy& policy) {
  return ReviewFindings(policy.spec.admission.enforcement == Enforcement::kWarn
                            ? ReviewFindings::Mode::kWarn
                            : ReviewFindings::Mode::kEnforce);
}

// The policy, if it applies to pods of the namespace.
struct Policed {
  const GPUClusterPolicy* policy = nullptr;
  NamespaceStanding standing = NamespaceStanding::kLeftAlone;
};
Policed policed(const ReviewRequest& request, const ClusterState& cluster,
                const Settings& settings) {
  const GPUClusterPolicy* policy = find_policy(cluster);
  if (policy == nullptr || policy->spec.admission.enforcement == Enforcement::kOff) return {};
  const NamespaceStanding standing =
      judge_namespace(request.namespace_, *policy, cluster, settings);
  if (standing == NamespaceStanding::kLeftAlone && !seeded(SeededBug::kMutateEverywhere)) return {};
  return {policy, standing};
}

ReviewReply judge(ReviewPath path, const PodSlice& pod, const Policed& by, PodPatch patch,
                  std::vector<std::string> warnings, const ReviewRequest& request,
                  const ClusterState& cluster) {
  const bool mutates = path == ReviewPath::kMutate;
  if (by.policy == nullptr || (mutates && !names_gpu(pod)))
    return reply_allowed(request.uid, patch, warnings);
  ReviewFindings findings = findings_under(*by.policy);
  if (by.standing == NamespaceStanding::kUnknown) {
    if (!mutates && names_gpu(pod))
      findings.warn("", fmt::format("berth has not yet seen namespace {}, so it neither completed "
                                    "nor checked this; if it stays Pending, create it again",
                                    shorten(request.namespace_)));
    return answer(request, findings, patch, std::move(warnings));
  }
  const Namespace& namespace_ = *cluster.namespaces().find(request.namespace_);
  const PodReview review(pod, *by.policy, namespace_, cluster);
  if (mutates)
    mutate_pod(review, patch, findings);
  else
    validate_pod(review, findings);
  return answer(request, findings, patch, std::move(warnings));
}

ReviewReply review_debugging(const ReviewRequest& request, const ReviewDocument& document,
                             const ClusterState& cluster, const Settings& settings) {
  const Policed by = policed(request, cluster, settings);
  if (by.policy == nullptr || by.standing == NamespaceStanding::kUnknown)
    return reply_allowed(request.uid);
  const Result<PodSlice> pod = document.read_debugged_pod();
  if (!pod) return reply_unreadable(request.uid, describe(pod.error()));
  ReviewFindings findings = findings_under(*by.policy);
  check_debugging(*pod, findings);
  return answer(request, findings, {});
}

// Whether a GPUQueue may hold workloads of the namespace.
bool may_queue(const ReviewRequest& request, const ClusterState& cluster,
               const Settings& settings) {
  return cluster.gpu_queues().size() > 0 && !is_systems_own(request.namespace_, settings);
}

bool requires_queue(const Policed& by) {
  return by.policy != nullptr && by.standing == NamespaceStanding::kManaged &&
         by.policy->spec.admission.require_queue;
}

// Whether a queue or the policy applies to pods of the namespace.
bool is_guarded(const Policed& by, bool queues, const ReviewRequest& request,
                const ClusterState& cluster) {
  if (by.policy != nullptr && by.standing == NamespaceStanding::kManaged) return true;
  if (!queues) return false;
  const auto* selecting = cluster.view<queue::QueueChoice>().selecting(request.namespace_);
  return selecting != nullptr && !selecting->empty();
}

void check_queued(const PodSlice& workload, const QueueClaim& claim, const QueueBounds& bounds,
                  const ReviewRequest& request, const ClusterState& cluster,
                  ReviewFindings& findings) {
  check_claim(workload, claim, request.namespace_, cluster, findings);
  check_preemption(workload, cluster, findings);
  if (const GPUQueue* queue = cluster.gpu_queues().find(claim.queue))
    check_accepted_class(workload, *queue, cluster, findings);
  bounds.check_created(workload, findings);
}

ReviewReply review_creation(ReviewPath path, PodHome home, const ReviewRequest& request,
                            const ReviewDocument& document, const ClusterState& cluster,
                            const Settings& settings) {
  const Policed by = policed(request, cluster, settings);
  const bool queues = may_queue(request, cluster, settings);
  if (by.policy == nullptr && !queues) return reply_allowed(request.uid);
  Result<PodSlice> pod = document.read_pod(home);
  if (!pod) return reply_unreadable(request.uid, describe(pod.error()));
  pod->queued.of_daemon_set = home == PodHome::kPod && request.by_daemon_set_controller &&
                              pod->queued.owner_kind == kKind<DaemonSet>.kind;

  PodPatch patch;
  ReviewFindings findings(ReviewFindings::Mode::kEnforce);  // quota applies without a policy too
  const QueueBounds bounds(cluster);
  const auto claim = queues ? find_claim(*pod, request.namespace_, cluster, settings)
                            : std::optional<QueueClaim>();
  if (claim && path == ReviewPath::kMutate) {
    drop_foreign_record(*pod, patch, findings);
    add_hold(*pod, *claim, bounds, patch);
  } else if (queues && path == ReviewPath::kMutate) {
    unpin_from_lost_nodes(*pod, cluster, patch);
  } else if (claim) {
    check_queued(*pod, *claim, bounds, request, cluster, findings);
  } else if (path == ReviewPath::kValidate && requires_queue(by)) {
    check_queue_named(*pod, findings);
  }
  if (queues && !claim && path == ReviewPath::kValidate)
    check_node_unnamed(*pod, request.namespace_, cluster, findings);
  if (path == ReviewPath::kValidate && is_guarded(by, queues, request, cluster))
    bounds.check_counted(*pod, findings);
  if (findings.refused()) return answer(request, findings, {});
  return judge(path, *pod, by, std::move(patch), findings.warnings(), request, cluster);
}

// Only the queue reviews an update: the template of an existing Job hardly changes.
ReviewReply review_change(ReviewPath path, const ReviewRequest& request,
                          const ReviewDocument& document, const ClusterState& cluster,
                          const Settings& settings) {
  if (!may_queue(request, cluster, settings)) return reply_allowed(request.uid);
  const Result<PodSlice> now = document.read_pod(PodHome::kJob), old = document.read_old_job();
  for (const Result<PodSlice>* job : {&now, &old})
    if (!*job) return reply_unreadable(request.uid, describe(job->error()));
  PodPatch patch;
  ReviewFindings findings(ReviewFindings::Mode::kEnforce);
  // An update that removes the label is judged by the old label.
  auto claim = find_claim(*now, request.namespace_, cluster, settings);
  if (!claim) claim = find_claim(*old, request.namespace_, cluster, settings);
  if (path == ReviewPath::kValidate) {
    check_growth(*old, *now, findings);
    check_label_kept(*old, *now, findings);
    if (claim) QueueBounds(cluster).check_changed(*old, *now, findings);
  } else if (claim) {
    keep_suspended(*old, *now, *claim, patch, findings);
  }
  return answer(request, findings, patch);
}

}  // namespace

ReviewReply review_workload(ReviewPath path, PodHome home, const ReviewRequest& request,
                            const ReviewDocument& document, const ClusterState& cluster,
                            const Settings& settings) {
  // A kubelet only shows its static pods, which can't be changed any more. berth recognizes it by
  // the requester, because any user can write what a pod says of itself.
  if (request.by_kubelet) return reply_allowed(request.uid);
  const bool whole = request.sub_resource.empty();
  if (request.operation == "CREATE" && whole)
    return review_creation(path, home, request, document, cluster, settings);
  if (request.operation != "UPDATE") return reply_allowed(request.uid);
  if (home == PodHome::kJob && whole)
    return review_change(path, request, document, cluster, settings);
  // An update can change hardly anything of a pod. Only the containers of a debugger need a review.
  if (home == PodHome::kPod && request.sub_resource == "ephemeralcontainers" &&
      path == ReviewPath::kValidate)
    return review_debugging(request, document, cluster, settings);
  return reply_allowed(request.uid);
}

}  // namespace berth
