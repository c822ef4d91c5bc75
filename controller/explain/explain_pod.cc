// SPDX-License-Identifier: Apache-2.0
// Outline: what the pod requests. If it is not bound: whether nodes offer it, the nodes grouped by
// what keeps the pod off them, who holds the resource, and what would get the pod onto a node. If
// the account can't read nodes, the scheduler's message replaces them.
#include "controller/explain/explain_pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/admission/pod_slice.h"
#include "controller/explain/bound_pod.h"
#include "controller/explain/cuda_why.h"
#include "controller/explain/device_plugin.h"
#include "controller/explain/kubelet_words.h"
#include "controller/explain/memory_why.h"
#include "controller/explain/remedies.h"
#include "controller/explain/scheduler_words.h"
#include "controller/explain/unbound_pin.h"
#include "controller/fleet/node_facts.h"
#include "controller/preview/words.h"
#include "controller/queue/index/facts_from.h"

namespace berth {
namespace {

// Further holders are only counted.
constexpr std::size_t kEachHolder = 5;

// "also tainted and full".
std::string besides(const NodeGroup& group) {
  std::vector<std::string_view> words;
  for (const Fit::Verdict verdict : group.besides) {
    if (verdict == Fit::Verdict::kTainted) words.push_back("tainted");
    if (verdict == Fit::Verdict::kFull) words.push_back("full");
    if (verdict == Fit::Verdict::kNotSelected) words.push_back("not selected");
    if (verdict == Fit::Verdict::kCordoned) words.push_back("cordoned");
    if (verdict == Fit::Verdict::kNotReady) words.push_back("not ready");
  }
  return fmt::format("also {}", fmt::join(words, " and "));
}

void note_request(const Pod& pod, Explanation& out) {
  const std::string asked = format(pod.shape->requests);
  out.add("asks",
          fmt::format(
              "{}; priority {}{}", asked.empty() ? "no resource" : asked, pod.shape->priority,
              pod.shape->scheduler_name.empty() || pod.shape->scheduler_name == "default-scheduler"
                  ? ""
                  : fmt::format(", scheduler {}", pod.shape->scheduler_name.view())));
  if (const Text* changed = pod.meta.annotations.find(names::kMutationsAnnotation))
    out.add("admitted", fmt::format("berth's webhook changed it: {}", changed->view()));
  if (pod.shape->claims_devices())
    out.add("claims", "claims devices through DRA, which berth does not look into",
            reasons::kDeviceClaims);
}

void note_gate(const Pod& pod, Explanation& out) {
  if (!pod.shape->gated()) return;
  out.add("gate", "a scheduling gate keeps the scheduler from looking at it",
          reasons::kSchedulingGated);
}

class WaitingWhy {
 public:
  WaitingWhy(const Snapshot& snapshot, const Pod& pod, const Clues& clues, const Fit& fit,
             Explanation& out)
      : waiting_{.snapshot = snapshot, .pod = pod, .clues = clues, .fit = fit},
        snapshot_(snapshot),
        pod_(pod),
        clues_(clues),
        out_(out) {}
  void explain();

 private:
  void note_offer();
  void note_nodes();
  void note_holders();
  void note_drivers();
  void sum_up();

  WaitingPod waiting_;
  const Snapshot& snapshot_;
  const Pod& pod_;
  const Clues& clues_;
  Explanation& out_;
};

void WaitingWhy::explain() {
  note_offer();
  note_nodes();
  note_holders();
  sum_up();
  out_.remedies = remedies_for(waiting_);
  note_drivers();
}

// Why nodes offer no GPUs, and why the driver or the GPU memory of other nodes does not suffice.
void WaitingWhy::note_drivers() {
  std::vector<const Node*> without, with;
  for (const NodeGroup& group : waiting_.groups)
    for (const std::string& name : group.nodes)
      (group.fate == NodeFate::kLacksGpu ? without : with)
          .push_back(snapshot_.cluster.nodes().find(name));
  if (Fit::gpu_resource_of(pod_).empty()) return;
  note_device_plugin(snapshot_, without, clues_, out_);
  note_cuda(pod_, clues_.of(pod_), with, out_);
  note_memory(snapshot_, pod_, with, out_);
}

// Offered and free amounts of each GPU resource that the pod requests.
void WaitingWhy::note_offer() {
  for (const auto& [resource, count] : gpus_in(pod_.shape->requests)) {
    Quantity all, free;
    std::size_t nodes = 0;
    for (const auto& node : snapshot_.cluster.nodes()) {
      const Quantity offered = node->allocatable.get(resource);
      if (offered.is_zero()) continue;
      ++nodes;
      all += offered;
      if (in_service(*node))
        free += std::max(Quantity(), waiting_.fit.free_on(node->meta.name, resource));
    }
    if (nodes == 0) waiting_.offered_nowhere.push_back(resource);
    out_.add("offered",
             nodes == 0
                 ? fmt::format("{}: by no node", resource.view())
                 : fmt::format("{}: {} by {}{}", resource.view(), all.str(), plural(nodes, "node"),
                               clues_.knows("pods") ? fmt::format(", {} free", free.str()) : ""),
             nodes == 0 ? reasons::kResourceNotOffered : "");
  }
}

void WaitingWhy::note_nodes() {
  for (const NodeGroup& group : waiting_.groups) {
    std::string words = group.words;
    const std::size_t more = group.nodes.size() - group.only.size();
    if (group.fate != NodeFate::kLacksGpu && group.fate != NodeFate::kLeaving && more > 0)
      words +=
          fmt::format("; {}{}", more == group.nodes.size() ? "" : fmt::format("{} of them ", more),
                      besides(group));
    out_.add("nodes", words, to_string(group.fate), group.nodes);
  }
}

// On nodes that are only full.
void WaitingWhy::note_holders() {
  std::map<std::pair<Text, std::string>, std::pair<Quantity, std::size_t>> holders;
  const Text resource = Fit::gpu_resource_of(pod_);
  for (const NodeGroup& group : waiting_.groups) {
    if (group.fate != NodeFate::kFull || resource.empty()) continue;
    for (const std::string& name : group.nodes) {
      for (const Occupant& occupant : snapshot_.cluster.occupants_of(name)) {
        const Quantity held = occupant.pod->shape->requests.get(resource);
        if (held.is_zero()) continue;
        const OwnerReference* owner = occupant.pod->meta.controller();
        auto& [sum, pods] = holders[{
            occupant.namespace_,
            owner == nullptr ? fmt::format("Pod/{}", occupant.pod->meta.name)
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
    out_.add("held", fmt::format("{}: {} by {} ({})", resource.view(), std::get<0>(most[i]).str(),
                                 std::get<1>(most[i]), plural(std::get<2>(most[i]), "pod")));
  if (most.size() > kEachHolder)
    out_.add("held", fmt::format("and by {} more", plural(most.size() - kEachHolder, "owner")));
}

void WaitingWhy::sum_up() {
  const std::size_t all = snapshot_.cluster.nodes().size();
  std::map<NodeFate, std::size_t> counts;
  for (const NodeGroup& group : waiting_.groups) counts[group.fate] += group.nodes.size();
  if (const auto fits = counts.find(NodeFate::kFits); fits != counts.end()) {
    out_.reason = reasons::kAwaitsScheduler;
    out_.message = fmt::format(
        "{} of {} would take it {}; the scheduler has not placed it yet, or something keeps it "
        "off that berth does not look at: affinity between pods, topology spread, volumes, host "
        "ports",
        fits->second, plural(all, "node"),
        knows_room(clues_, pod_)
            ? "now"
            : "by labels, taints and size, if other pods, which are not read, leave room");
  } else {
    out_.reason =
        waiting_.offered_nowhere.empty() ? reasons::kUnschedulable : reasons::kResourceNotOffered;
    std::vector<std::string> words;
    for (const auto& [fate, count] : counts)
      words.push_back(fmt::format("{} {}", count, short_words(fate)));
    out_.message = fmt::format("0 of {} would take it{}{}", plural(all, "node"),
                               words.empty() ? "" : ": ", fmt::join(words, ", "));
  }
  if (!pod_.shape->gated()) return;
  out_.reason = reasons::kSchedulingGated;
  out_.message = "a scheduling gate holds it; without that, " + out_.message;
}

// For users who may read the pod but no nodes.
void explain_by_scheduler(const Pod& pod, const PodClues* clues, Explanation& out) {
  if (clues == nullptr || clues->scheduler_says.empty()) {
    out.reason = reasons::kAwaitsScheduler;
    out.message = "the scheduler has said nothing of it yet";
    return;
  }
  out.reason = clues->scheduler_reason;
  // After the first sentence the scheduler explains preemption.
  out.message = fmt::format(
      "the scheduler says: {}",
      std::string_view(clues->scheduler_says).substr(0, clues->scheduler_says.find(". ")));
  note_scheduler_fields(pod, *clues, out);
}

// The pod with the present resource name instead of the old one.
Pod renamed(const Pod& pod) {
  Pod out = pod;
  ResourceList requests = pod.shape->requests;
  requests.erase(kLegacyGpu);
  requests.set(kGpuResource, pod.shape->requests.get(kLegacyGpu));
  out.shape.edit()->requests = std::move(requests);
  return out;
}

// No node offers the old resource name: explains the pod with the present name.
void explain_legacy(const Snapshot& snapshot, const Pod& pod, const Clues& clues, const Fit& fit,
                    Explanation& out) {
  const Pod today = renamed(pod);
  const std::string line =
      fmt::format("nvidia.com/gpu: {}", pod.shape->requests.get(kLegacyGpu).str());
  std::string would;
  std::vector<std::string> nodes;
  if (clues.knows("nodes")) {
    WaitingWhy(snapshot, today, clues, fit, out).explain();
    for (const Explanation::Fact& fact : out.facts)
      if (fact.reason == to_string(NodeFate::kFits)) nodes = fact.nodes;
    would = fmt::format("; with {} in its place, {}", line,
                        nodes.empty() ? out.message : name_some(nodes) + " would take it");
    if (!nodes.empty()) out.remedies.clear();  // there is no other obstacle
  }
  out.reason = reasons::kLegacyResource;
  out.message =
      fmt::format("it asks for {}, which ended with Kubernetes 1.11{}", kLegacyGpu, would);
  constexpr char kRename[] = "write the name of today";
  for (Explanation::Remedy& remedy : out.remedies) {
    if (remedy.nodes.empty()) continue;
    remedy.message = fmt::format("{}, and {}", kRename, remedy.message);
    remedy.line = remedy.line.empty() ? line : fmt::format("{}\n{}", line, remedy.line);
  }
  if (nodes.empty() && !out.remedies.empty()) return;
  out.remedies.push_back({nodes.empty()
                              ? kRename
                              : fmt::format("{}; then {} would take it", kRename, name_some(nodes)),
                          line, nodes});
}

void explain_waiting(const Snapshot& snapshot, const Pod& pod, const Clues& clues, const Fit& fit,
                     Explanation& out) {
  out.state = "Pending";
  note_gate(pod, out);
  const PodClues* said = clues.of(pod);
  if (!pod.shape->requests.get(kLegacyGpu).is_zero())
    return explain_legacy(snapshot, pod, clues, fit, out);
  if (queue::is_gated(pod) && !clues.knows("pods")) {
    // The queue gives the answer. This account may not read the pods that decide which nodes would
    // take it.
    out.reason = reasons::kSchedulingGated;
    out.message = "a scheduling gate holds it";
    return;
  }
  if (!clues.knows("nodes")) return explain_by_scheduler(pod, said, out);
  WaitingWhy(snapshot, pod, clues, fit, out).explain();
  if (said != nullptr && !said->scheduler_says.empty()) {
    out.add("scheduler", said->scheduler_says, said->scheduler_reason);
    if (!knows_room(clues, pod)) note_scheduler_fields(pod, *said, out);
  }
  if (Fit::gpu_resource_of(pod).empty() && !pod.shape->claims_devices())
    out.message = "it asks for no GPU; " + out.message;
}

}  // namespace

Explanation explain_pod(const Snapshot& snapshot, const Pod& pod, const Clues& clues,
                        const Fit& fit, const QueueWhy& queues) {
  Explanation out;
  out.subject = ref_of(pod);
  note_request(pod, out);
  if (!pod.finished()) note_own_faults(pod, clues.of(pod), out);
  if (pod.finished()) {
    out.state = pod.phase == PodPhase::kSucceeded ? "Succeeded" : "Failed";
    out.message = "it has ended and holds nothing";
    explain_refusal(pod, out);
    return out;
  }
  out.rights = missing_rights(clues.unread, RightsFor::kPod, snapshot.settings);
  if (!pod.node_name.empty()) {
    explain_bound(snapshot, pod, clues, out);
  } else if (pod.terminating()) {
    out.state = "Terminating";
    out.message = "it is being deleted and was never placed";
  } else {
    explain_waiting(snapshot, pod, clues, fit, out);
  }
  if (pod.terminating()) return out;
  queues.note(pod, out);
  const bool all_read = clues.knows("nodes") && clues.knows("pods") && clues.knows("jobs.batch");
  if (pod.node_name.empty() && all_read) explain_pin(snapshot, pod, out);
  return out;
}

Explanation explain_pod(const Snapshot& snapshot, const Pod& pod, const Clues& clues) {
  return explain_pod(snapshot, pod, clues, Fit(snapshot.cluster), QueueWhy(snapshot, clues));
}

}  // namespace berth
