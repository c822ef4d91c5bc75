// SPDX-License-Identifier: Apache-2.0
// Outline: what the pod asks for; then, if it is not bound, what of it is offered anywhere, the
// nodes by what keeps it off them, who holds what it asks for, and what would place it.
#include "controller/preview/why_pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apis/names.h"
#include "controller/mig/node_facts.h"
#include "controller/preview/why_bound_pod.h"
#include "controller/preview/why_remedies.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

constexpr char kPendingReasonAnnotation[] = "gpu.berth.dev/pending-reason";
// Holders beyond these are counted.
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
  const std::string asked = format(pod.requests);
  out.add("asks",
          fmt::format("{}; priority {}{}", asked.empty() ? "no resource" : asked, pod.priority,
                      pod.scheduler_name.empty() || pod.scheduler_name == "default-scheduler"
                          ? ""
                          : fmt::format(", scheduler {}", pod.scheduler_name.view())));
  if (const Text* queue = pod.meta.labels.find(names::kQueueLabel))
    out.add("queue", fmt::format("names queue {}", queue->view()));
  if (const Text* changed = pod.meta.annotations.find(names::kMutationsAnnotation))
    out.add("admitted", fmt::format("berth's webhook changed it: {}", changed->view()));
  if (pod.has_resource_claims)
    out.add("claims", "claims devices through DRA, which berth does not look into", "DeviceClaims");
}

class WaitingWhy {
 public:
  WaitingWhy(const Snapshot& snapshot, const Pod& pod, Explanation& out)
      : waiting_{.snapshot = snapshot, .pod = pod}, snapshot_(snapshot), pod_(pod), out_(out) {}
  void explain();

 private:
  void note_gate();
  void note_offer();
  void note_nodes();
  void note_holders();
  void sum_up();

  WaitingPod waiting_;
  const Snapshot& snapshot_;
  const Pod& pod_;
  Explanation& out_;
};

void WaitingWhy::explain() {
  note_gate();
  note_offer();
  note_nodes();
  note_holders();
  sum_up();
  out_.remedies = remedies_for(waiting_);
}

void WaitingWhy::note_gate() {
  if (!pod_.gated) return;
  const Text* why = pod_.meta.annotations.find(kPendingReasonAnnotation);
  out_.add("gate",
           fmt::format("a scheduling gate keeps the scheduler from looking at it{}{}",
                       why == nullptr ? "" : ": ", why == nullptr ? "" : why->view()),
           "SchedulingGated");
}

// What is offered and free of each GPU resource that it asks for.
void WaitingWhy::note_offer() {
  for (const auto& [resource, count] : pod_.requests) {
    if (!is_gpu_resource(resource) || count.is_zero()) continue;
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
             nodes == 0 ? fmt::format("{}: by no node", resource.view())
                        : fmt::format("{}: {} by {}, {} free", resource.view(), all.str(),
                                      plural(nodes, "node"), free.str()),
             nodes == 0 ? "ResourceNotOffered" : "");
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

// On nodes that are full and nothing else.
void WaitingWhy::note_holders() {
  std::map<std::pair<Text, std::string>, std::pair<Quantity, std::size_t>> holders;
  const Text resource = Fit::gpu_resource_of(pod_);
  for (const NodeGroup& group : waiting_.groups) {
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
    out_.reason = "AwaitsScheduler";
    out_.message = fmt::format(
        "{} of {} would take it now; the scheduler has not placed it yet, or something keeps it "
        "off that berth does not look at: affinity between pods, topology spread, volumes, host "
        "ports",
        fits->second, plural(all, "node"));
  } else {
    out_.reason = waiting_.offered_nowhere.empty() ? "Unschedulable" : "ResourceNotOffered";
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

}  // namespace

Explanation explain_pod(const Snapshot& snapshot, const Pod& pod) {
  Explanation out;
  out.subject = ref_of(pod);
  note_request(pod, out);
  if (pod.finished()) {
    out.state = pod.phase == PodPhase::kSucceeded ? "Succeeded" : "Failed";
    out.message = "it has ended and holds nothing";
  } else if (!pod.node_name.empty()) {
    explain_bound(snapshot, pod, out);
  } else if (pod.terminating()) {
    out.state = "Terminating";
    out.message = "it is being deleted and was never placed";
  } else {
    out.state = "Pending";
    WaitingWhy(snapshot, pod, out).explain();
  }
  return out;
}

}  // namespace berth
