// SPDX-License-Identifier: Apache-2.0
// Outline: what is wrong with a pin's node; Jobs; all other workloads; the report for a queue.
#include "controller/queue/recall/unbound_pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "apis/base/time.h"
#include "controller/core/patience.h"
#include "controller/core/plural.h"
#include "controller/fleet/pod_selects.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/recall/lost_places.h"
#include "controller/queue/recall/requeue.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/node_pin.h"

namespace berth::queue {
namespace {

// A Job without running pods is decided again even if its nodes are unchanged, and may get them
// again. Each time berth waits for as long as the Job has existed, up to this many timeouts.
constexpr int kMostTimeouts = 8;
constexpr std::size_t kWorkloadsNamed = 5;

Time moment(std::int64_t microseconds) { return Time(std::chrono::microseconds(microseconds)); }

// Returns why a cycle would not choose this node again; empty if it would.
std::string lost_place(const ClusterState& cluster, const berth::Pod& pod,
                       const std::string& name) {
  std::string lost = why_lost(cluster, name);
  if (!lost.empty()) return lost;
  const Node& node = *cluster.nodes().find(name);
  if (!tolerates_taints(pod, node))
    return fmt::format("node {} has a taint that keeps it off", name);
  if (!selects(pod, node)) return fmt::format("node {} is not one that it selects any more", name);
  return "";
}

// Returns a node with more bound and pinned than it offers; empty if there is none.
std::string overfull_node(const FactsIndex& facts, const Standing& standing) {
  const Catalog& catalog = facts.catalog();
  for (const Claim& claim : standing.claims) {
    if (!claim.node) continue;
    const NodeRoom::Node& node = facts.room().node_at(*claim.node);
    for (const auto& [resource, amount] : catalog.shape_requests(claim.shape))
      if (amount > 0 && node.is_overfull(resource))
        return fmt::format("node {} has too little {} left", catalog.node_name(*claim.node),
                           catalog.resource_name(resource));
  }
  return "";
}

std::string other_pods_stay(const ClusterState& cluster, const berth::Job& job) {
  const auto overdraft = find_overdraft(cluster, bound_pods(cluster, job));
  if (!overdraft) return "";
  return fmt::format("PodDisruptionBudget {} keeps others of its pods",
                     overdraft->budget->meta.name);
}

bool is_pinned(const berth::Pod& pod, const AdmissionFact& record) {
  const auto is_pin = [&](const SelectorRequirement& one) { return is_pin_of(record, one); };
  return std::ranges::any_of(pod.shape->required_node_affinity, [&](const auto& term) {
    return std::ranges::any_of(term.match_fields, is_pin) ||
           std::ranges::any_of(term.match_expressions, is_pin);
  });
}

// Whether a pod of the Job waits for the nodes of its admission. If one of them is out of service,
// the webhook leaves the node of a new pod to kube-scheduler (admission/unpin.h).
bool waits_for_its_nodes(const ClusterState& cluster, const berth::Job& job,
                         const AdmissionFact& record) {
  return std::ranges::any_of(cluster.pods(), [&](const auto& pod) {
    if (!pod->node_name.empty() || pod->finished()) return false;  // nearly all pods
    const OwnerReference* owner = pod->meta.controller();
    return owner != nullptr && owner->uid.view() == job.meta.uid && is_pinned(*pod, record);
  });
}

void judge_job(const ClusterState& cluster, const Workload& workload, Duration timeout,
               UnboundPins& pins) {
  const AdmissionFact& record = *admission_of(workload);
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  bool runs = false;
  for (const Pod* pod : workload.pods->all) {
    if (pod->state == PodState::kReleased) oldest = std::min(oldest, pod->created);
    runs = runs || pod->on_node();
  }
  pins.since = moment(std::max(record.since, oldest));
  pins.nodes = record.nodes;
  for (const std::string& node : record.nodes)
    if (pins.lost.empty()) pins.lost = why_lost(cluster, node);

  const auto age = std::chrono::floor<Duration>(pins.since - moment(workload.job->created));
  const bool backs_off = !runs && pins.lost.empty();
  pins.until = pins.since +
               (backs_off ? std::clamp<Duration>(age, timeout, kMostTimeouts * timeout) : timeout);

  const berth::Job* job = requeued_of(cluster, workload);
  if (job == nullptr)
    pins.stays = "its queue would not let it go again";
  else if (job->pod_shape->gated())
    pins.stays = "somebody else's gate holds its pods";
  else if (runs && pins.lost.empty())
    pins.stays = "others of its pods run, and its nodes are in service";
  else if (runs && !waits_for_its_nodes(cluster, *job, record))
    pins.stays = "others of its pods run, and kube-scheduler chooses the nodes of the rest";
  else if (runs)
    pins.stays = other_pods_stay(cluster, *job);
  if (pins.stays.empty()) pins.requeued = job;
}

// If no pod of a gang runs, all its pods are evicted, pinned or not, as only then the gang is
// decided again. If some run, the replacements follow them without a pin.
class PodsJudge {
 public:
  PodsJudge(const ClusterState& cluster, const Workload& workload, UnboundPins& pins)
      : cluster_(cluster), workload_(workload), pins_(pins) {
    for (const berth::Pod* pod : pods_of(cluster, cluster.view<ClusterIndex>(), *workload.name))
      take(*pod);
  }

  void judge(const FactsIndex& facts, Duration timeout) {
    if (pins_.lost.empty()) pins_.lost = overfull_node(facts, workload_.standing);
    pins_.until = pins_.since + timeout;
    if (!admits(facts, pins_.queue))
      pins_.stays = "its queue would not let it go again";
    else if (runs_)
      evict_each(pinned_);
    else
      evict_all();
  }

 private:
  void take(const berth::Pod& pod) {
    if (pod.terminating() || pod.finished()) return;
    if (!pod.node_name.empty()) runs_ = true;
    if (!pod.node_name.empty() || is_gated(pod)) return;
    released_.push_back(&pod);
    const auto record = admission_on(pod);
    if (!record || record->nodes.empty()) return;
    pinned_.push_back(&pod);
    pins_.nodes.push_back(record->nodes.front());
    pins_.since = std::max(moment(record->since), pod.meta.creation_timestamp);
    if (pins_.lost.empty()) pins_.lost = lost_place(cluster_, pod, record->nodes.front());
  }
  static std::string gated_by_others(const berth::Pod& pod) {
    return pod.shape->gated() ? fmt::format("somebody else's gate holds pod {}", pod.meta.name)
                              : "";
  }
  void evict_each(const std::vector<const berth::Pod*>& pods) {
    Remakers remakers(cluster_);
    for (const berth::Pod* pod : pods) {
      std::string why = gated_by_others(*pod);
      if (why.empty()) why = remakers.why_not(*pod);
      if (why.empty())
        pins_.evicted.push_back(pod);
      else if (pins_.stays.empty())
        pins_.stays = std::move(why);
    }
  }
  void evict_all() {
    evict_each(released_);
    if (pins_.stays.empty() && pins_.lost.empty())
      pins_.stays = "its nodes are in service, and it would be pinned to them again";
    if (!pins_.stays.empty()) pins_.evicted.clear();
  }

  const ClusterState& cluster_;
  const Workload& workload_;
  UnboundPins& pins_;
  std::vector<const berth::Pod*> released_;  // and on no node
  std::vector<const berth::Pod*> pinned_;    // of these
  bool runs_ = false;
};

std::string told(const Workload& workload, const UnboundPins& pins) {
  return fmt::format("{} ({}{}: {})", *workload.name, plural(pins.pods, "pod"),
                     pins.lost.empty() ? "" : ", " + pins.lost, pins.stays);
}

}  // namespace

Time UnboundPins::ends(const Snapshot& snapshot) const {
  return patience_ends(snapshot, since, std::chrono::floor<Duration>(until - since));
}

std::optional<UnboundPins> unbound_pins(const ClusterState& cluster, const Workload& workload) {
  if (workload.standing.unbound_pins == 0) return std::nullopt;
  const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
  UnboundPins pins{.queue = admission_of(workload)->queue, .pods = workload.standing.unbound_pins};
  const GPUQueue* queue = cluster.gpu_queues().find(pins.queue);
  if (queue == nullptr) return std::nullopt;
  if (workload.job)
    judge_job(cluster, workload, queue->spec.placement_timeout, pins);
  else
    PodsJudge(cluster, workload, pins).judge(facts, queue->spec.placement_timeout);
  std::ranges::sort(pins.nodes);
  pins.nodes.erase(std::ranges::unique(pins.nodes).begin(), pins.nodes.end());
  return pins;
}

BlockedPins find_blocked_pins(const Snapshot& snapshot) {
  BlockedPins blocked;
  std::map<std::string, std::vector<std::string>, std::less<>> names;
  const FactsIndex& facts = snapshot.cluster.view<ClusterIndex>().facts();
  for (const Workload* workload : facts.with_unbound_pins()) {
    const auto pins = unbound_pins(snapshot.cluster, *workload);
    if (!pins) continue;
    const Time ends = pins->ends(snapshot);
    if (snapshot.now < ends) blocked.again = std::min(blocked.again.value_or(ends), ends);
    if (pins->is_blocked(snapshot)) names[pins->queue].push_back(told(*workload, *pins));
  }
  for (const auto& [queue, of] : names) {
    const auto count = static_cast<std::int64_t>(of.size());
    blocked.by_queue.emplace(
        queue, Cause{reasons::kPinBlocked,
                     fmt::format("for longer than placementTimeout {} {} not been bound to the "
                                 "nodes chosen for {}: {}; suspend Jobs and delete pods, and they "
                                 "are decided anew",
                                 plural(count, "workload"), word_for(count, "has", "have"),
                                 word_for(count, "it", "them"), list_first(of, kWorkloadsNamed))});
  }
  return blocked;
}

}  // namespace berth::queue
