// SPDX-License-Identifier: Apache-2.0
// Outline: the queue; why there is none; advice for a pending workload.
#include "controller/preview/queue_membership.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "apis/base/names.h"
#include "apis/base/nearest_name.h"
#include "apis/base/reasons.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

constexpr char kKueueLabel[] = "kueue.x-k8s.io/queue-name";

std::string label_line(std::string_view queue) {
  return fmt::format("labels: {{{}: {}}}", names::kQueueLabel, queue);
}

std::vector<std::string> queues_selecting(const queue::ClusterIndex& index,
                                          std::string_view namespace_) {
  std::vector<std::string> names;
  for (const auto& [name, queue] : index.choice().queues())
    if (index.choice().selects(name, namespace_)) names.push_back(name);
  return names;
}

// The labels that the selector requires and the namespace lacks: "team=vision".
std::string missing_labels(const LabelSelector& selector, const Namespace& namespace_) {
  std::vector<std::string> missing;
  for (const auto& [key, value] : selector.match_labels)
    if (namespace_.meta.labels.get(key) != value)
      missing.push_back(fmt::format("{}={}", key.view(), value.view()));
  return fmt::format("{}", fmt::join(missing, " "));
}

QueueMembership not_selected(const ClusterState& cluster, const GPUQueue& queue,
                             std::string_view name) {
  QueueMembership out;
  out.cause.reason = reasons::kNamespaceNotSelected;
  const std::string& queue_name = queue.meta.name;
  if (!queue.spec.namespace_selector) {
    out.cause.message = fmt::format(
        "GPUQueue {} has no namespaceSelector: it is for nobody, and only lends", queue_name);
    out.advice.message = "name another queue, or give that one a namespaceSelector";
    return out;
  }
  const std::string selector = format(*queue.spec.namespace_selector);
  const Namespace* namespace_ = cluster.namespaces().find(name);
  if (namespace_ == nullptr) {
    out.cause.message = fmt::format(
        "GPUQueue {} selects namespaces with {}; namespace {} is not there, or may not be read",
        queue_name, selector, name);
    return out;
  }
  const std::string missing = missing_labels(*queue.spec.namespace_selector, *namespace_);
  out.cause.message =
      fmt::format("GPUQueue {} selects namespaces with {}; namespace {} {}", queue_name, selector,
                  name, missing.empty() ? "is not one of them" : "lacks " + missing);
  out.advice.message = "name a queue that selects the namespace, or let this one select it";
  if (!missing.empty())
    out.advice.line = fmt::format("kubectl label namespace {} {} --overwrite", name, missing);
  return out;
}

QueueMembership no_queue(const queue::ClusterIndex& index, const ObjectMeta& meta) {
  const std::string_view namespace_ = meta.namespace_.view();
  QueueMembership out;
  out.cause = {reasons::kNoQueue,
               fmt::format("it names no queue, and namespace {} has no default queue", namespace_)};
  const std::vector<std::string> queues = queues_selecting(index, namespace_);
  if (!queues.empty()) {
    out.advice = {
        fmt::format("name a queue that selects the namespace: {}", name_some(queues, "queue")),
        label_line(queues.front())};
  } else {
    out.advice.message = fmt::format("let a queue select namespace {}: no queue does", namespace_);
  }
  if (const Text* kueues = meta.labels.find(kKueueLabel))
    out.advice.message +=
        fmt::format("; {}: {} is Kueue's, and berth import says which queue it becomes",
                    kKueueLabel, kueues->view());
  return out;
}

}  // namespace

QueueMembership membership_of(const ClusterState& cluster, const queue::ClusterIndex& index,
                              const ObjectMeta& meta, const PodShape& shape) {
  const Text label = meta.labels.get(names::kQueueLabel);
  const std::string_view namespace_ = meta.namespace_.view();
  if (label.empty() && !shape->asks_for_gpus())
    return {.queue = {},
            .cause = {reasons::kNoGPUs, "it asks for no GPU and names no queue: queues leave it"},
            .advice = {}};
  if (std::string queue = index.choice().choose(namespace_, label.view()); !queue.empty())
    return {.queue = std::move(queue), .cause = {}, .advice = {}};
  const auto named = index.choice().queues().find(label.view());
  if (named != index.choice().queues().end())
    return not_selected(cluster, *named->second, namespace_);
  return no_queue(index, meta);
}

QueueAdvice advice_for(const QueueVerdict& verdict, const queue::ClusterIndex& index) {
  if (verdict.reason == reasons::kQueueNotFound) {
    std::vector<std::string> queues;
    for (const auto& [name, queue] : index.choice().queues()) queues.push_back(name);
    const std::string nearest = nearest_name(verdict.queue, queues);
    if (nearest.empty()) return {"create the queue, or name another", ""};
    return {fmt::format("did you mean {}? Else create the queue", nearest), label_line(nearest)};
  }
  if (verdict.reason == reasons::kQueueHeld)
    return {"let the queue go on", fmt::format("kubectl patch gpuqueue {} --type=merge -p "
                                               "'{{\"spec\":{{\"stopPolicy\":\"None\"}}}}'",
                                               verdict.queue)};
  if (verdict.reason == reasons::kQueueInTrouble) {
    const Cause* trouble = index.trouble(verdict.queue);
    return {
        fmt::format(
            "correct GPUQueue {}{}", verdict.queue,
            trouble == nullptr ? "" : fmt::format(": {}: {}", trouble->reason, trouble->message)),
        ""};
  }
  static const std::map<std::string, const char*, std::less<>> kAdvice = {
      {reasons::kWaitingForGang, "create the pods that are missing, or correct the group's size"},
      {reasons::kGangSizesDisagree, "give all pods of the group the same size"},
      {reasons::kTemplateNotReady, "wait until the pods of its last run are gone"},
      {reasons::kPodsOnDeadNode,
       "kubectl delete node, or taint it node.kubernetes.io/out-of-service=:NoExecute, once you "
       "are "
       "sure that the machine is off"},
      {reasons::kWaitingForOthers,
       "look at what keeps these from ending; what hangs for a minute beyond its grace period is "
       "not waited for any longer"},
      {reasons::kReleaseRefused, "change what refuses it; berth tries again every five minutes"},
      {reasons::kBackingOff, "look why its pods don't become Ready; it queues again by itself"},
      {reasons::kNotReady,
       "mend what keeps its pods from becoming Ready, then touch the Job, or delete "
       "the pods of a gang that no Job makes"},
      {reasons::kRecordNewer, "run the version of berth again that admitted it"},
      {reasons::kNoQuota,
       "ask for a resource that the queue has quota for, or add a quota of it to the queue"},
      {reasons::kExceedsAdmission,
       "ask for no more than the gang was admitted with, or delete all of its pods, and it "
       "queues again"},
      {reasons::kExceedsMaximum,
       "ask for less, or raise the queue's nominalQuota or borrowingLimit, or what its cohort "
       "lends"},
      {reasons::kWaitingForQuota, "wait until workloads of the queue end, or raise its quota"},
      {reasons::kMayNotBorrow,
       "let a controller create its pods, which creates them again after an eviction; or wait "
       "until "
       "the queue's own work ends, raise its nominalQuota, or set preemption.unreclaimable: "
       "MayBorrow"},
      {reasons::kResourceNotOffered,
       "add nodes to the pool, or return those that are out of service"},
      {reasons::kWaitingForRoom, "wait: there is quota, and the pool's nodes are taken"},
      {reasons::kFragmented, "ask for smaller pods, or wait until a node is free"},
      {reasons::kNodesNotSelected,
       "correct its node selector, affinity or tolerations, or label the pool's nodes so"},
      {reasons::kUnknownTopologyLevel,
       "name a label of the policy's topologyLevels, or add this one to them"},
      {reasons::kTopologyNeedsNodes,
       "set placement: Nodes in the queue, or leave out of its pods what berth does not model"},
      {reasons::kNoTopologyDomain, "wait until a domain is free, or ask for a wider level"},
      {reasons::kUnplaceable, "wait until nodes are free, or ask for smaller pods"},
      {reasons::kReserved,
       "wait, or set activeDeadlineSeconds on the Job: what is ended in time may go first"},
      {reasons::kBehindInQueue,
       "wait, or let later work pass with queueingStrategy: BestEffortFIFO in the queue"},
  };
  const auto found = kAdvice.find(verdict.reason);
  return {found == kAdvice.end() ? "" : found->second, ""};
}

}  // namespace berth
