// SPDX-License-Identifier: Apache-2.0
// Outline: what the pod asks for; then, if it is bound, where it sits and whether it may stay; if
// it is not, what of it is offered anywhere, the nodes by what keeps it off them, who holds what it
// asks for, and the changes that would place it. Changes of the pod are tried on the cluster: those
// that would place it now come first.
#include "controller/preview/why_pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apis/names.h"
#include "apis/nearest_name.h"
#include "controller/mig/drain.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/overlap.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/fit.h"
#include "controller/preview/why_nodes.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

constexpr char kPendingReasonAnnotation[] = "gpu.berth.dev/pending-reason";
// Holders beyond these are counted.
constexpr std::size_t kEachHolder = 5;
// No node has more GPUs, nor parts of them, than that: beyond it a node's word is not trusted.
constexpr std::int64_t kMostTried = 1024;

// How promising a remedy is, the best first.
enum class Promise {
  kAtOnce,     // the pod edited so would be placed now
  kByItself,   // time will do it
  kLess,       // the pod has to do with less
  kOthersEnd,  // other pods have to end
  kPlatform,   // the platform team decides
  kNotAlone,   // needed, but not enough
};

ResourceList gpus_of(const ResourceList& resources) {
  ResourceList gpus;
  for (const auto& [name, count] : resources)
    if (is_gpu_resource(name)) gpus.set(name, count);
  return gpus;
}

std::string toleration_for(const Taint& taint) {
  if (taint.value.empty())
    return fmt::format("{{key: {}, operator: Exists, effect: {}}}", taint.key.view(),
                       taint.effect.view());
  return fmt::format("{{key: {}, operator: Equal, value: \"{}\", effect: {}}}", taint.key.view(),
                     taint.value.view(), taint.effect.view());
}

// Gives the namespace what the pool asks of it; empty where labels to be set don't say it.
std::string label_line(const PoolSpec& pool, std::string_view namespace_) {
  const LabelSelector& asked = *pool.eligible_namespaces;
  if (asked.match_labels.empty() || !asked.match_expressions.empty()) return {};
  std::string line = fmt::format("kubectl label namespace {}", namespace_);
  for (const auto& [key, value] : asked.match_labels)
    line += fmt::format(" {}={}", key.view(), value.view());
  return line;
}

// "tainted and full besides".
std::string besides(const NodeGroup& group) {
  std::vector<std::string_view> words;
  for (const Fit::Verdict verdict : group.besides) {
    if (verdict == Fit::Verdict::kTainted) words.push_back("tainted");
    if (verdict == Fit::Verdict::kFull) words.push_back("full");
    if (verdict == Fit::Verdict::kNotSelected) words.push_back("not selected");
    if (verdict == Fit::Verdict::kCordoned) words.push_back("cordoned");
    if (verdict == Fit::Verdict::kNotReady) words.push_back("not ready");
  }
  return fmt::format("{} besides", fmt::join(words, " and "));
}

class PodWhy {
 public:
  PodWhy(const Snapshot& snapshot, const Pod& pod)
      : snapshot_(snapshot), pod_(pod), fit_(snapshot.cluster) {}
  Explanation explain();

 private:
  void note_request();
  void explain_bound();
  void note_host(const Node& node);
  void note_drain(const Node& node);
  void explain_waiting();
  void note_gate();
  void note_offer();
  void note_nodes();
  void note_holders();
  void sum_up();
  void advise();
  void advise_on(const NodeGroup& group);
  void offer_less();
  void offer_another(const Text& resource);

  // Where the pod would be placed if it were like this.
  const Node* place_of(const Pod& changed) const { return fit_.place(changed); }
  void add(std::string topic, std::string message, std::string reason = {},
           std::vector<std::string> nodes = {}) {
    out_.facts.push_back(
        {std::move(topic), std::move(reason), std::move(message), std::move(nodes)});
  }
  void remedy(Promise promise, std::string message, std::string line = {},
              std::vector<std::string> nodes = {}) {
    remedies_.push_back({promise, {std::move(message), std::move(line), std::move(nodes)}});
  }

  const Snapshot& snapshot_;
  const Pod& pod_;
  const Fit fit_;
  std::vector<NodeGroup> groups_;
  std::vector<Text> offered_nowhere_;
  std::vector<std::pair<Promise, Explanation::Remedy>> remedies_;
  Explanation out_;
};

Explanation PodWhy::explain() {
  out_.subject = ref_of(pod_);
  note_request();
  if (pod_.finished()) {
    out_.state = pod_.phase == PodPhase::kSucceeded ? "Succeeded" : "Failed";
    out_.message = "it has ended and holds nothing";
  } else if (!pod_.node_name.empty()) {
    explain_bound();
  } else {
    explain_waiting();
  }
  std::ranges::stable_sort(remedies_, {}, [](const auto& r) { return r.first; });
  for (auto& [promise, told] : remedies_) out_.remedies.push_back(std::move(told));
  return std::move(out_);
}

void PodWhy::note_request() {
  const std::string asked = format(pod_.requests);
  add("asks", fmt::format("{}; priority {}{}", asked.empty() ? "no resource" : asked, pod_.priority,
                          pod_.scheduler_name.empty() || pod_.scheduler_name == "default-scheduler"
                              ? ""
                              : fmt::format(", scheduler {}", pod_.scheduler_name.view())));
  if (const Text* queue = pod_.meta.labels.find(names::kQueueLabel))
    add("queue", fmt::format("names queue {}", queue->view()));
  if (const Text* changed = pod_.meta.annotations.find(names::kMutationsAnnotation))
    add("admitted", fmt::format("berth's webhook changed it: {}", changed->view()));
  if (pod_.has_resource_claims)
    add("claims", "claims devices through DRA, which berth does not look into", "DeviceClaims");
}

void PodWhy::explain_bound() {
  const std::string name = pod_.node_name.str();
  const std::string held = format(gpus_of(pod_.requests));
  out_.state = pod_.terminating() ? "Terminating" : "Bound";
  out_.message =
      fmt::format("it is on {} and holds {}", name, held.empty() ? "no GPU resource" : held);
  if (pod_.terminating())
    out_.message = fmt::format("it is on its way out of {}; until it is gone it holds {}", name,
                               held.empty() ? "no GPU resource" : held);
  const Node* node = snapshot_.cluster.nodes().find(name);
  if (node == nullptr) {
    out_.reason = "NodeGone";
    out_.message += "; there is no such node any more";
    return;
  }
  note_host(*node);
  note_drain(*node);
}

void PodWhy::note_host(const Node& node) {
  if (pod_.start_time) add("since", fmt::format("started {}", format_time(*pod_.start_time)));
  const GPUClusterPolicy* policy = find_policy(snapshot_.cluster);
  const PoolSpec* pool = policy != nullptr ? pool_of(*policy, node) : nullptr;
  if (pool == nullptr) return;
  std::string text = pool->name;
  if (pool->sharing.strategy != SharingStrategy::kNone)
    text += fmt::format(", whose GPUs are shared by {} pods each ({})", pool->sharing.replicas,
                        to_string(pool->sharing.strategy));
  add("pool", text);
  if (!eligible(snapshot_.cluster, *pool, pod_.meta.namespace_.view())) {
    out_.reason = "NotEligible";
    add("pool",
        fmt::format("namespace {} may not use it: it is for namespaces with {}",
                    pod_.meta.namespace_.view(), format(*pool->eligible_namespaces)),
        "NotEligible");
  }
  std::vector<Taint> taints = untolerated(pod_, node);
  std::erase_if(taints, is_kubernetes_own);
  if (!taints.empty())
    add("taint",
        fmt::format("does not tolerate {}: it stays, but would not be placed there again",
                    format(taints.front())),
        "Tainted");
}

// Whether its node's GPUs are to be cut anew, and what that means for it.
void PodWhy::note_drain(const Node& node) {
  const LayoutOwners owners(snapshot_.cluster);
  const MIGLayout* owner = owners.owner_of(node);
  if (owner == nullptr) return;
  const auto nodes = decide_rollout(snapshot_, *owner).nodes;
  const auto standing = std::ranges::find(nodes, &node, &NodeStanding::node);
  if (standing == nodes.end() || standing->bucket == NodeBucket::kUpdated) return;
  add("rollout",
      fmt::format("MIGLayout/{} is to cut {} anew: {}{}{}", owner->meta.name, node.meta.name,
                  standing->phase, standing->reason.empty() ? "" : ", ", standing->reason),
      standing->reason);
  for (const PodVerdict& verdict : pods_leaving(snapshot_, node, owner->spec.drain)) {
    if (verdict.pod != &pod_) continue;
    switch (verdict.fate) {
      case PodFate::kEvict: {
        const EvictionOutlook outlook = eviction_outlook(snapshot_, pod_);
        if (outlook.kind == EvictionOutlook::Kind::kNo)
          add("drain", "it would have to leave, and may not: " + outlook.message, outlook.reason);
        else
          add("drain", "it will be evicted when the node's turn comes", "WillBeEvicted");
        break;
      }
      case PodFate::kBlocked:
        add("drain", "it would have to leave, and may not: " + verdict.message, verdict.reason);
        break;
      case PodFate::kAwaited:
        add("drain", "the layout waits for its end");
        break;
      case PodFate::kTerminating:
      case PodFate::kLeftAlone:
        break;
    }
  }
}

void PodWhy::explain_waiting() {
  out_.state = pod_.terminating() ? "Terminating" : "Pending";
  if (pod_.terminating()) {
    out_.message = "it is being deleted and was never placed";
    return;
  }
  groups_ = group_nodes(snapshot_, fit_, pod_);
  note_gate();
  note_offer();
  note_nodes();
  note_holders();
  sum_up();
  advise();
}

void PodWhy::note_gate() {
  if (!pod_.gated) return;
  const Text* queue = pod_.meta.labels.find(names::kQueueLabel);
  const Text* why = pod_.meta.annotations.find(kPendingReasonAnnotation);
  add("gate",
      fmt::format("a scheduling gate keeps the scheduler from looking at it{}{}",
                  why == nullptr ? "" : ": ", why == nullptr ? "" : why->view()),
      "SchedulingGated");
  remedy(Promise::kAtOnce,
         queue != nullptr
             ? fmt::format("wait for queue {} to admit it: its gate goes then", queue->view())
             : "whoever set its spec.schedulingGates has to take them away",
         {});
}

// What is offered and free of each GPU resource that it asks for.
void PodWhy::note_offer() {
  for (const auto& [resource, count] : pod_.requests) {
    if (!is_gpu_resource(resource) || count.is_zero()) continue;
    Quantity all, free;
    std::size_t nodes = 0;
    for (const auto& node : snapshot_.cluster.nodes()) {
      const Quantity offered = node->allocatable.get(resource);
      if (offered.is_zero()) continue;
      ++nodes;
      all += offered;
      if (in_service(*node)) free += std::max(Quantity(), fit_.free_on(node->meta.name, resource));
    }
    if (nodes == 0) offered_nowhere_.push_back(resource);
    add("offered",
        nodes == 0 ? fmt::format("{}: by no node", resource.view())
                   : fmt::format("{}: {} by {}, {} free", resource.view(), all.str(),
                                 plural(nodes, "node"), free.str()),
        nodes == 0 ? "ResourceNotOffered" : "");
  }
}

void PodWhy::note_nodes() {
  for (const NodeGroup& group : groups_) {
    std::string words = group.words;
    const std::size_t more = group.nodes.size() - group.only.size();
    if (group.fate != NodeFate::kLacksGpu && group.fate != NodeFate::kLeaving && more > 0)
      words +=
          fmt::format("; {}{}", more == group.nodes.size() ? "" : fmt::format("{} of them ", more),
                      besides(group));
    add("nodes", words, to_string(group.fate), group.nodes);
  }
}

// On nodes that are full and nothing else.
void PodWhy::note_holders() {
  std::map<std::pair<Text, std::string>, std::pair<Quantity, std::size_t>> holders;
  const Text resource = Fit::gpu_resource_of(pod_);
  for (const NodeGroup& group : groups_) {
    if (group.fate != NodeFate::kFull || resource.empty()) continue;
    for (const std::string& name : group.nodes) {
      for (const Tenant& tenant : snapshot_.cluster.tenants_of(name)) {
        const Quantity held = tenant.pod->requests.get(resource);
        if (held.is_zero()) continue;
        const OwnerReference* owner = tenant.pod->meta.controller();
        auto& [sum, pods] = holders[{
            tenant.namespace_, owner == nullptr
                                   ? fmt::format("Pod/{}", tenant.pod->meta.name)
                                   : fmt::format("{}/{}", owner->kind.view(), owner->name.view())}];
        sum += held;
        ++pods;
      }
    }
  }
  std::vector<std::tuple<Quantity, std::string, std::size_t>> most;
  for (const auto& [who, what] : holders)
    most.emplace_back(what.first, fmt::format("{} in {}", who.second, who.first.view()),
                      what.second);
  std::ranges::stable_sort(most, std::ranges::greater(),
                           [](const auto& h) { return std::get<0>(h); });
  for (std::size_t i = 0; i < most.size() && i < kEachHolder; ++i)
    add("held", fmt::format("{}: {} by {} ({})", resource.view(), std::get<0>(most[i]).str(),
                            std::get<1>(most[i]), plural(std::get<2>(most[i]), "pod")));
  if (most.size() > kEachHolder)
    add("held", fmt::format("and by {} more", plural(most.size() - kEachHolder, "owner")));
}

void PodWhy::sum_up() {
  const std::size_t all = snapshot_.cluster.nodes().size();
  std::map<NodeFate, std::size_t> counts;
  for (const NodeGroup& group : groups_) counts[group.fate] += group.nodes.size();
  if (const auto fits = counts.find(NodeFate::kFits); fits != counts.end()) {
    out_.reason = "AwaitsScheduler";
    out_.message = fmt::format(
        "{} of {} would take it now; the scheduler has not placed it yet, or something keeps it "
        "off that berth does not look at: affinity between pods, topology spread, volumes, host "
        "ports",
        fits->second, plural(all, "node"));
  } else {
    out_.reason = offered_nowhere_.empty() ? "Unschedulable" : "ResourceNotOffered";
    std::vector<std::string> words;
    for (const auto& [fate, count] : counts)
      words.push_back(fmt::format("{} {}", count, short_words(fate)));
    out_.message = fmt::format("0 of {} would take it{}{}", plural(all, "node"),
                               words.empty() ? "" : ": ", fmt::join(words, ", "));
  }
  if (!pod_.gated) return;
  out_.reason = "SchedulingGated";
  out_.message = "a scheduling gate holds it; without that, " + out_.message;
}

void PodWhy::advise() {
  if (!groups_.empty() && groups_.front().fate == NodeFate::kFits)
    return remedy(
        Promise::kByItself, "ask the scheduler: its event on the pod says what it waits for",
        fmt::format("kubectl describe pod -n {} {}", pod_.meta.namespace_.view(), pod_.meta.name));
  for (const Text& resource : offered_nowhere_) offer_another(resource);
  for (const NodeGroup& group : groups_) advise_on(group);
  if (offered_nowhere_.empty()) offer_less();
}

void PodWhy::advise_on(const NodeGroup& group) {
  const bool alone = !group.only.empty();
  const std::string then = alone ? fmt::format("; then {} would take it", name_some(group.only))
                                 : "; that alone is not enough";
  const Promise edit = alone ? Promise::kAtOnce : Promise::kNotAlone;
  switch (group.fate) {
    case NodeFate::kTainted: {
      std::vector<std::string> tolerations;
      for (const Taint& taint : group.taints) tolerations.push_back(toleration_for(taint));
      remedy(edit, "tolerate the taint: write into the pod's spec" + then,
             fmt::format("tolerations: [{}]", fmt::join(tolerations, ", ")), group.only);
      break;
    }
    case NodeFate::kNotSelected:
      remedy(
          edit,
          fmt::format("drop {}, or ask for what {} {}: {}{}", group.unmet, name_some(group.nodes),
                      group.nodes.size() == 1 ? "has" : "have", group.offered, then),
          {}, group.only);
      break;
    case NodeFate::kComing:
      remedy(alone ? Promise::kByItself : Promise::kNotAlone,
             fmt::format("wait for {}{}", name_some(group.nodes), then),
             fmt::format("berth why node/{}", group.nodes.front()), group.only);
      break;
    case NodeFate::kFull:
      if (alone)
        remedy(Promise::kOthersEnd,
               fmt::format("wait until pods on {} end, or add nodes", name_some(group.only)), {},
               group.only);
      break;
    case NodeFate::kNotEligible:
      if (!group.unmet.empty()) break;  // the pod itself wants other nodes
      remedy(alone ? Promise::kPlatform : Promise::kNotAlone,
             fmt::format("ask the platform team to let namespace {} use pool {}: it needs {}{}",
                         pod_.meta.namespace_.view(), group.pool->name,
                         format(*group.pool->eligible_namespaces), then),
             label_line(*group.pool, pod_.meta.namespace_.view()), group.only);
      break;
    case NodeFate::kCordoned:
      remedy(
          alone ? Promise::kPlatform : Promise::kNotAlone,
          fmt::format("uncordon {}, if whoever cordoned is done{}", name_some(group.nodes), then),
          fmt::format("kubectl uncordon {}", fmt::join(group.nodes, " ")), group.only);
      break;
    case NodeFate::kFits:
    case NodeFate::kLeaving:
    case NodeFate::kTooSmall:
    case NodeFate::kTroubled:
    case NodeFate::kNotReady:
    case NodeFate::kLacksGpu:
      break;
  }
}

// Fewer GPUs, if that would do.
void PodWhy::offer_less() {
  const Text resource = Fit::gpu_resource_of(pod_);
  if (resource.empty()) return;
  const std::int64_t asked = pod_.requests.get(resource).rounded_up();
  std::int64_t most = 0;
  for (const auto& node : snapshot_.cluster.nodes())
    most = std::max(most, node->allocatable.get(resource).as_whole().value_or(0));
  Pod less = pod_;
  for (std::int64_t count = std::min({asked - 1, most, kMostTried}); count > 0; --count) {
    less.requests.set(resource, Quantity::whole(count));
    const Node* node = fit_.place(less);
    if (node == nullptr) continue;
    return remedy(Promise::kLess, fmt::format("ask for less: {} would take it", node->meta.name),
                  fmt::format("{}: {}", resource.view(), count), {node->meta.name});
  }
  if (most < asked)
    remedy(Promise::kNotAlone,
           fmt::format("ask for at most {}: no node has more of {}", most, resource.view()),
           fmt::format("{}: {}", resource.view(), most));
}

// What is offered in place of a resource that no node offers: the shared or the whole of the same,
// then what is named nearest.
void PodWhy::offer_another(const Text& resource) {
  static constexpr std::string_view kShared = ".shared";
  std::vector<std::string> offered;
  for (const auto& node : snapshot_.cluster.nodes())
    for (const auto& [name, count] : node->allocatable)
      if (is_gpu_resource(name) && !count.is_zero() &&
          std::ranges::find(offered, name.view()) == offered.end())
        offered.emplace_back(name.view());
  const std::string_view name = resource.view();
  const std::string twin = name.ends_with(kShared)
                               ? std::string(name.substr(0, name.size() - kShared.size()))
                               : fmt::format("{}{}", name, kShared);
  const std::string nearest =
      std::ranges::find(offered, twin) != offered.end() ? twin : nearest_name(name, offered);
  const bool coming = std::ranges::any_of(
      groups_, [](const NodeGroup& group) { return group.fate == NodeFate::kComing; });
  for (const std::string& other : offered) {
    Pod changed = pod_;
    changed.requests.set(Text(other), pod_.requests.get(resource));
    changed.requests.erase(name);
    const Node* node = fit_.place(changed);
    if (node == nullptr && other != nearest) continue;
    const std::string message =
        fmt::format("ask for {}, {}{}", other,
                    other == nearest ? "the nearest that is offered" : "which is offered, too",
                    node != nullptr ? fmt::format("; then {} would take it", node->meta.name)
                                    : "; there is no room for that either");
    const Promise promise = node == nullptr ? Promise::kNotAlone
                            : coming        ? Promise::kLess
                                            : Promise::kAtOnce;
    remedy(
        promise, message, fmt::format("{}: {}", other, pod_.requests.get(resource).str()),
        node != nullptr ? std::vector<std::string>{node->meta.name} : std::vector<std::string>());
    // The nearest before the others.
    if (other == nearest) std::ranges::rotate(remedies_, remedies_.end() - 1);
  }
  if (!coming)
    remedy(
        Promise::kPlatform,
        name.starts_with("nvidia.com/mig-")
            ? fmt::format("ask the platform team for a MIGLayout that makes {}", name)
            : fmt::format("ask the platform team for {}: no node's device plugin offers it", name));
}

}  // namespace

Explanation explain_pod(const Snapshot& snapshot, const Pod& pod) {
  return PodWhy(snapshot, pod).explain();
}

}  // namespace berth
