// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/why_remedies.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/names.h"
#include "apis/nearest_name.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

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

class Remedies {
 public:
  explicit Remedies(const WaitingPod& waiting) : waiting_(waiting), pod_(waiting.pod) {}
  std::vector<Explanation::Remedy> all();

 private:
  void advise_on_gate();
  void advise();
  void advise_on(const NodeGroup& group);
  void offer_less();
  void offer_another(const Text& resource);

  void add(Promise promise, std::string message, std::string line = {},
           std::vector<std::string> nodes = {}) {
    all_.push_back({promise, {std::move(message), std::move(line), std::move(nodes)}});
  }

  const WaitingPod& waiting_;
  const Pod& pod_;
  std::vector<std::pair<Promise, Explanation::Remedy>> all_;
};

std::vector<Explanation::Remedy> Remedies::all() {
  advise_on_gate();
  advise();
  std::ranges::stable_sort(all_, {}, [](const auto& remedy) { return remedy.first; });
  std::vector<Explanation::Remedy> told;
  for (auto& [promise, remedy] : all_) told.push_back(std::move(remedy));
  return told;
}

void Remedies::advise_on_gate() {
  if (!pod_.gated) return;
  const Text* queue = pod_.meta.labels.find(names::kQueueLabel);
  add(Promise::kAtOnce,
      queue != nullptr
          ? fmt::format("wait for queue {} to admit it: its gate goes then", queue->view())
          : "whoever set its spec.schedulingGates has to take them away");
}

void Remedies::advise() {
  if (!waiting_.groups.empty() && waiting_.groups.front().fate == NodeFate::kFits)
    return add(
        Promise::kByItself, "ask the scheduler: its event on the pod says what it waits for",
        fmt::format("kubectl describe pod -n {} {}", pod_.meta.namespace_.view(), pod_.meta.name));
  for (const Text& resource : waiting_.offered_nowhere) offer_another(resource);
  for (const NodeGroup& group : waiting_.groups) advise_on(group);
  if (waiting_.offered_nowhere.empty()) offer_less();
}

void Remedies::advise_on(const NodeGroup& group) {
  const bool alone = !group.only.empty();
  const std::string then = alone ? fmt::format("; then {} would take it", name_some(group.only))
                                 : "; that alone is not enough";
  const Promise edit = alone ? Promise::kAtOnce : Promise::kNotAlone;
  switch (group.fate) {
    case NodeFate::kTainted: {
      std::vector<std::string> tolerations;
      for (const Taint& taint : group.taints) tolerations.push_back(toleration_for(taint));
      add(edit, "tolerate the taint: write into the pod's spec" + then,
          fmt::format("tolerations: [{}]", fmt::join(tolerations, ", ")), group.only);
      break;
    }
    case NodeFate::kNotSelected:
      add(edit,
          fmt::format("drop {}, or ask for what {} {}: {}{}", group.unmet, name_some(group.nodes),
                      group.nodes.size() == 1 ? "has" : "have", group.offered, then),
          {}, group.only);
      break;
    case NodeFate::kComing:
      add(alone ? Promise::kByItself : Promise::kNotAlone,
          fmt::format("wait for {}{}", name_some(group.nodes), then),
          fmt::format("berth why node/{}", group.nodes.front()), group.only);
      break;
    case NodeFate::kFull:
      if (alone)
        add(Promise::kOthersEnd,
            fmt::format("wait until pods on {} end, or add nodes", name_some(group.only)), {},
            group.only);
      break;
    case NodeFate::kNotEligible:
      if (!group.unmet.empty()) break;  // the pod itself wants other nodes
      add(alone ? Promise::kPlatform : Promise::kNotAlone,
          fmt::format("ask the platform team to let namespace {} use pool {}: it needs {}{}",
                      pod_.meta.namespace_.view(), group.pool->name,
                      format(*group.pool->eligible_namespaces), then),
          label_line(*group.pool, pod_.meta.namespace_.view()), group.only);
      break;
    case NodeFate::kCordoned:
      add(alone ? Promise::kPlatform : Promise::kNotAlone,
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
void Remedies::offer_less() {
  const Text resource = Fit::gpu_resource_of(pod_);
  if (resource.empty()) return;
  const std::int64_t asked = pod_.requests.get(resource).rounded_up();
  std::int64_t most = 0;
  for (const auto& node : waiting_.snapshot.cluster.nodes())
    most = std::max(most, node->allocatable.get(resource).as_whole().value_or(0));
  Pod less = pod_;
  for (std::int64_t count = std::min({asked - 1, most, kMostTried}); count > 0; --count) {
    less.requests.set(resource, Quantity::whole(count));
    const Node* node = waiting_.fit.place(less);
    if (node == nullptr) continue;
    return add(Promise::kLess, fmt::format("ask for less: {} would take it", node->meta.name),
               fmt::format("{}: {}", resource.view(), count), {node->meta.name});
  }
  if (most < asked)
    add(Promise::kNotAlone,
        fmt::format("ask for at most {}: no node has more of {}", most, resource.view()),
        fmt::format("{}: {}", resource.view(), most));
}

// What is offered in place of a resource that no node offers: the shared or the whole of the same,
// then what is named nearest.
void Remedies::offer_another(const Text& resource) {
  static constexpr std::string_view kShared = ".shared";
  std::vector<std::string> offered;
  for (const auto& node : waiting_.snapshot.cluster.nodes())
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
      waiting_.groups, [](const NodeGroup& group) { return group.fate == NodeFate::kComing; });
  for (const std::string& other : offered) {
    Pod changed = pod_;
    changed.requests.set(Text(other), pod_.requests.get(resource));
    changed.requests.erase(name);
    const Node* node = waiting_.fit.place(changed);
    if (node == nullptr && other != nearest) continue;
    const std::string message =
        fmt::format("ask for {}, {}{}", other,
                    other == nearest ? "the nearest that is offered" : "which is offered, too",
                    node != nullptr ? fmt::format("; then {} would take it", node->meta.name)
                                    : "; there is no room for that either");
    const Promise promise = node == nullptr ? Promise::kNotAlone
                            : coming        ? Promise::kLess
                                            : Promise::kAtOnce;
    add(promise, message, fmt::format("{}: {}", other, pod_.requests.get(resource).str()),
        node != nullptr ? std::vector<std::string>{node->meta.name} : std::vector<std::string>());
    // The nearest before the others.
    if (other == nearest) std::ranges::rotate(all_, all_.end() - 1);
  }
  if (!coming)
    add(Promise::kPlatform,
        name.starts_with("nvidia.com/mig-")
            ? fmt::format("ask the platform team for a MIGLayout that makes {}", name)
            : fmt::format("ask the platform team for {}: no node's device plugin offers it", name));
}

}  // namespace

std::vector<Explanation::Remedy> remedies_for(const WaitingPod& waiting) {
  return Remedies(waiting).all();
}

}  // namespace berth
