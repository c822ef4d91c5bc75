// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/nearest_name.h"
#include "controller/explain/bundle.h"
#include "controller/explain/controller_lease.h"
#include "controller/preview/words.h"
#include "controller/queue/index/facts_from.h"

namespace berth {
namespace {

// Further remedies of one kind are omitted.
constexpr std::size_t kEachKind = 4;

// The categories of remedies, best first.
enum class Promise {
  kAtOnce,     // with one edit, a node would take the pod now
  kByItself,   // the wait ends by itself
  kLess,       // the pod gets fewer GPUs
  kTogether,   // with several edits, a node would take the pod now
  kOthersEnd,  // other pods must end
  kPlatform,   // the platform team decides
  kNotAlone,   // necessary, but not enough
};

// The command that gives the namespace the labels that the pool requires; empty if labels can't.
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
  void advise_on_controller();
  void offer_edits();
  void offer_pool();
  void offer_most();
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
  if (!pod_.shape->gated()) return;
  const Text* queue = pod_.meta.labels.find(names::kQueueLabel);
  add(Promise::kAtOnce,
      queue != nullptr
          ? fmt::format("wait for queue {} to admit it: its gate goes then", queue->view())
      : queue::is_gated(pod_) ? "wait for its queue to admit it: its gate goes then"
                              : "whoever set its spec.schedulingGates has to take them away");
}

void Remedies::advise() {
  if (!waiting_.groups.empty() && waiting_.groups.front().fate == NodeFate::kFits)
    return add(
        Promise::kByItself, "ask the scheduler: its event on the pod says what it waits for",
        fmt::format("kubectl describe pod -n {} {}", pod_.meta.namespace_.view(), pod_.meta.name));
  for (const Text& resource : waiting_.offered_nowhere) offer_another(resource);
  if (waiting_.offered_nowhere.empty()) {
    offer_edits();
    offer_pool();
    offer_most();
  }
  for (const NodeGroup& group : waiting_.groups) advise_on(group);
  advise_on_controller();
}

// Nodes that only a missing controller would return to service.
void Remedies::advise_on_controller() {
  const std::string absence = told_absence(waiting_.snapshot, waiting_.clues);
  std::vector<std::string> nodes;
  for (const NodeGroup& group : waiting_.groups)
    if (group.fate == NodeFate::kComing)
      nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
  if (absence.empty() || nodes.empty()) return;
  add(Promise::kPlatform,
      fmt::format("ask the platform team to start berth's controller, for which {} {}: {}",
                  name_some(nodes), nodes.size() == 1 ? "waits" : "wait", absence));
}

void Remedies::advise_on(const NodeGroup& group) {
  const bool alone = !group.only.empty();
  const std::string then = alone ? fmt::format("; then {} would take it", name_some(group.only))
                                 : "; that alone is not enough";
  const Snapshot& snapshot = waiting_.snapshot;
  switch (group.fate) {
    case NodeFate::kComing:
      if (told_absence(snapshot, waiting_.clues).empty())
        add(alone ? Promise::kByItself : Promise::kNotAlone,
            fmt::format("wait for {}{}{}", name_some(group.nodes), then,
                        promise_condition(snapshot, waiting_.clues)),
            fmt::format("berth why node/{}", group.nodes.front()), group.only);
      break;
    case NodeFate::kFull:
      if (alone)
        add(Promise::kOthersEnd,
            fmt::format("wait until pods on {} end, or add nodes", name_some(group.only)), {},
            group.only);
      break;
    case NodeFate::kNotEligible:
      if (!group.unmet.empty()) break;  // the pod itself selects other nodes
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
    case NodeFate::kTainted:
    case NodeFate::kNotSelected:
    case NodeFate::kTooSmall:
    case NodeFate::kLeaving:
    case NodeFate::kTroubled:
    case NodeFate::kNotReady:
    case NodeFate::kLacksGpu:
      break;
  }
}

Promise promise_of(const NodeEdits& edits) {
  if (!edits.suffices()) return Promise::kNotAlone;
  if (edits.size() > 1) return Promise::kTogether;
  return edits.count > 0 ? Promise::kLess : Promise::kAtOnce;
}

// Edits of the pod: single edits that suffice, else combined ones; both if a single edit would give
// it fewer GPUs. If none suffices, edits that bring it closer.
void Remedies::offer_edits() {
  const std::vector<Bundle> bundles =
      bundles_of(waiting_.snapshot.cluster, waiting_.fit, pod_, waiting_.groups);
  const char* proviso =
      knows_room(waiting_.clues, pod_) ? "" : ", if other pods, which are not read, leave room";
  std::size_t told_of = 0, size = 0;
  std::int64_t less = 0;    // the reduced count that was reported
  bool all_of_less = true;  // no reported edit keeps the full GPU count
  for (const Bundle& bundle : bundles) {
    const NodeEdits& edits = bundle.edits;
    if (!edits.suffices() && bundles.front().edits.suffices()) break;
    if (edits.size() > size && !all_of_less) break;
    if (edits.count > 0 && edits.count <= less) continue;
    if (told_of++ == kEachKind) break;
    size = edits.size();
    less = std::max(less, edits.count);
    all_of_less = all_of_less && edits.count > 0;
    add(promise_of(edits), told(bundle) + (edits.suffices() ? proviso : ""), lines_of(edits, pod_),
        edits.suffices() ? bundle.nodes : std::vector<std::string>());
  }
}

// The pod names a pool without nodes, so no node label shows it.
void Remedies::offer_pool() {
  const Text* asked = pod_.shape->node_selector.find(names::kPoolLabel);
  const GPUClusterPolicy* policy = find_policy(waiting_.snapshot.cluster);
  if (asked == nullptr || policy == nullptr) return;
  std::vector<std::string> pools;
  for (const PoolSpec& pool : policy->spec.pools) pools.push_back(pool.name);
  if (std::ranges::find(pools, asked->view()) != pools.end()) return;
  const std::string nearest = nearest_name(asked->view(), pools);
  const std::string question = fmt::format("nodeSelector {}={}: did you mean {}?",
                                           names::kPoolLabel, asked->view(), nearest);
  const auto is_told = [&](const auto& r) { return r.second.message.starts_with(question); };
  if (nearest.empty() || std::ranges::any_of(all_, is_told)) return;
  add(Promise::kNotAlone, question + " There is no pool of the other name",
      fmt::format("nodeSelector: {{{}: {}}}", names::kPoolLabel, nearest));
}

// If the pod requests more than any node has, this comes before all insufficient remedies.
void Remedies::offer_most() {
  const Text resource = Fit::gpu_resource_of(pod_);
  if (resource.empty()) return;
  std::int64_t most = 0;
  for (const auto& node : waiting_.snapshot.cluster.nodes())
    most = std::max(most, node->allocatable.get(resource).as_whole().value_or(0));
  if (most == 0 || most >= pod_.shape->requests.get(resource).rounded_up()) return;
  if (std::ranges::any_of(all_, [](const auto& r) {
        return r.first == Promise::kLess || r.first == Promise::kTogether;
      }))
    return;
  add(Promise::kLess,
      fmt::format("ask for at most {}: no node has more of {}, and none has room now", most,
                  resource.view()),
      fmt::format("{}: {}", resource.view(), most));
}

// Alternatives for a resource that no node offers: the shared or unshared form of it, then the most
// similar name.
void Remedies::offer_another(const Text& resource) {
  std::vector<std::string> offered;
  for (const auto& node : waiting_.snapshot.cluster.nodes())
    for (const auto& [name, count] : gpus_in(node->allocatable))
      if (std::ranges::find(offered, name.view()) == offered.end())
        offered.emplace_back(name.view());
  const std::string_view name = resource.view();
  const std::string twin = is_shared_resource(name) ? std::string(unshared_resource(name))
                                                    : fmt::format("{}{}", name, kSharedSuffix);
  const std::string nearest =
      std::ranges::find(offered, twin) != offered.end() ? twin : nearest_name(name, offered);
  const bool coming = std::ranges::any_of(
      waiting_.groups, [](const NodeGroup& group) { return group.fate == NodeFate::kComing; });
  for (const std::string& other : offered) {
    Pod changed = pod_;
    changed.shape.edit()->requests.set(Text(other), pod_.shape->requests.get(resource));
    changed.shape.edit()->requests.erase(name);
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
    add(promise, message, fmt::format("{}: {}", other, pod_.shape->requests.get(resource).str()),
        node != nullptr ? std::vector<std::string>{node->meta.name} : std::vector<std::string>());
    // The most similar name comes first.
    if (other == nearest) std::ranges::rotate(all_, all_.end() - 1);
  }
  if (!coming)
    add(Promise::kPlatform,
        is_mig_resource(name)
            ? fmt::format("ask the platform team for a MIGLayout that makes {}", name)
            : fmt::format("ask the platform team for {}: no node's device plugin offers it", name));
}

}  // namespace

std::vector<Explanation::Remedy> remedies_for(const WaitingPod& waiting) {
  return Remedies(waiting).all();
}

}  // namespace berth
