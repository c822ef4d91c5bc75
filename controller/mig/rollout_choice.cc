// SPDX-License-Identifier: Apache-2.0
// Each node is judged by itself first. Then the nodes that could be taken are put in order. Then
// berth checks, in this order and until the budget is used up: the budget, the pods, the capacity
// guard, and the API server's answers about evictions.
#include "controller/mig/rollout_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/capacity_guard.h"
#include "controller/disruption/disruption_budgets.h"
#include "controller/disruption/disruption_cost.h"
#include "controller/disruption/leaving_outlook.h"
#include "controller/disruption/queue_stakes.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/preflight.h"
#include "controller/mig/situation.h"
#include "controller/mig/standing.h"

namespace berth {
namespace {

// How many nodes beyond the budget berth asks about in advance, so that several nodes that can't be
// drained do not delay the rest.
constexpr int kLookahead = 4;

struct Candidate {
  std::size_t index = 0;  // in choice.nodes
  std::int64_t seq = 0;
  bool already_out = false;
  std::string refused;  // the API server's message when it was last taken
  const std::vector<Occupant>* occupants = nullptr;  // for order LeastDisruption
  Disruption disruption;
};

// A slot under the node's name counts, whatever its uid: the cache may be behind the ledger.
bool is_out(const Situation& s) {
  const bool claimed =
      s.view.ledger().find(s.node.meta.name) != nullptr && !seeded(SeededBug::kBudgetFromCache);
  return !in_service(s.node) || claimed || !s.record.idle();
}

std::string refusal_of(const RolloutRecord& record) {
  return record.rollout && record.rollout->cause == reasons::kWriteRefused ? record.rollout->why
                                                                           : std::string();
}

class Chooser {
 public:
  Chooser(const Snapshot& snapshot, const MIGLayout& layout)
      : snapshot_(snapshot),
        layout_(layout),
        view_(snapshot),
        budgets_(snapshot, view_.ledger()),
        guard_(snapshot, view_.ledger(), layout.spec.capacity_guard),
        in_flight_(admissions_in_flight(snapshot)) {}
  RolloutChoice choose();

 private:
  void judge(const Node& node);
  std::int32_t count_unseen() const;
  void put_in_order();
  void order_by_disruption();
  void consider(const Candidate& candidate);

  // Return why no node may be taken, or no further node, or not this one.
  std::optional<Cause> closed();
  std::optional<Cause> no_room(const Candidate& candidate);
  std::optional<Cause> not_rendered(const std::string& config);
  std::optional<Cause> refuse_pods(const Node& node);
  std::optional<Cause> in_flight(const Node& node) const;
  std::string who_is_out() const;
  void wait(const Candidate& candidate, Cause why);

  const Snapshot& snapshot_;
  const MIGLayout& layout_;
  LayoutView view_;
  DisruptionBudgets budgets_;
  CapacityGuard guard_;
  const std::map<std::string, std::string, std::less<>> in_flight_;  // node → workload
  RolloutChoice choice_;
  std::vector<Candidate> candidates_;
  std::set<const Target*> kinds_;
  std::map<std::string, bool> rendered_;
  std::optional<Cause> full_;  // reported on every node beyond the budget
  std::int64_t room_ = 0;      // left of the budget
  std::int64_t initial_ = 0;   // left of the initial batch
  int ahead_ = 0;              // how many more nodes may be asked about
};

RolloutChoice Chooser::choose() {
  for (const auto& node : snapshot_.cluster.nodes()) judge(*node);
  const std::int32_t unseen = count_unseen();
  choice_.left_out += unseen;
  choice_.budget = static_cast<std::int32_t>(
      layout_.spec.rollout.max_unavailable.of(static_cast<std::int64_t>(choice_.nodes.size())));
  choice_.out = choice_.left_out + static_cast<std::int32_t>(
                                       std::ranges::count(choice_.nodes, true, &NodeStanding::out));
  choice_.halted = view_.halted(layout_);
  put_in_order();

  const auto in = [&](NodeBucket bucket) {
    return std::ranges::count(choice_.nodes, bucket, &NodeStanding::bucket);
  };
  // Only nodes that berth has repartitioned count. A node that was right before proves nothing
  // about berth's config.
  const std::int64_t verified = std::ranges::count_if(choice_.nodes, [](const NodeStanding& node) {
    return node.bucket == NodeBucket::kUpdated &&
           names_config(label_of(*node.node, names::kMigConfig), node.config);
  });
  const std::int64_t batch = layout_.spec.rollout.initial_batch;
  room_ = choice_.budget - choice_.out;
  initial_ = verified >= batch ? static_cast<std::int64_t>(choice_.nodes.size())
                               : batch - verified - unseen - in(NodeBucket::kInProgress);
  ahead_ = room_ > 0 && initial_ > 0 ? kLookahead : 0;
  choice_.closed = closed();
  if (!candidates_.empty()) choice_.calendar_changes_at = budgets_.changes_at();
  for (const Candidate& candidate : candidates_) {
    if (choice_.closed)
      wait(candidate, *choice_.closed);
    else
      consider(candidate);
  }
  return std::move(choice_);
}

void Chooser::judge(const Node& node) {
  const MIGLayout* owner = view_.owner_of(node);
  if (owner != &layout_) {
    if (owner != nullptr && !layout_.meta.deletion_timestamp && selects(layout_, node))
      choice_.lost.push_back(fmt::format("{} ({})", node.meta.name, precedence(*owner, layout_)));
    // Taken for this layout before it left: it counts as unavailable until it is back.
    const Slot* slot = view_.ledger().find(node.meta.name);
    if (slot != nullptr && slot->layout() == layout_.meta.name) ++choice_.left_out;
    return;
  }
  const Situation s = situation_of(snapshot_, view_, node, owner);
  std::optional<NodeStanding> standing = standing_of(s);
  if (!standing) {
    candidates_.push_back(
        {choice_.nodes.size(), s.record.seq() + 1, is_out(s), refusal_of(s.record), nullptr, {}});
    standing = waiting(node, {reasons::kMaxUnavailable, {}});
  }
  standing->out = is_out(s);
  if (s.target->ok()) {
    standing->config = s.target->config;
    if (kinds_.insert(s.target).second)
      choice_.configs.push_back({s.target->product, s.target->config, s.target->content});
  }
  choice_.nodes.push_back(*std::move(standing));
}

// Counts nodes with a slot of the layout that the cache does not know. They count as unavailable
// until reconcile_slots has found them gone.
std::int32_t Chooser::count_unseen() const {
  if (seeded(SeededBug::kBudgetFromCache)) return 0;
  const auto unseen = std::ranges::count_if(view_.ledger().slots, [&](const auto& entry) {
    const auto& [name, slot] = entry;
    return slot.layout() == layout_.meta.name && snapshot_.cluster.nodes().find(name) == nullptr;
  });
  return static_cast<std::int32_t>(unseen);
}

void Chooser::put_in_order() {
  if (layout_.spec.rollout.order == RolloutOrder::kLeastDisruption) order_by_disruption();
  for (const Candidate& c : candidates_) choice_.order.push_back(choice_.nodes[c.index].node);
}

void Chooser::order_by_disruption() {
  DisruptionCost cost(snapshot_);
  const DrainSpec& drain = layout_.spec.drain;
  const auto node_of = [&](const Candidate& c) -> const Node& {
    return *choice_.nodes[c.index].node;
  };
  for (Candidate& c : candidates_) {
    c.occupants = &snapshot_.cluster.occupants_of(node_of(c).meta.name);
    c.disruption = cost.of(*c.occupants, drain);
  }
  // Equal nodes stay in name order.
  std::ranges::stable_sort(candidates_, {}, &Candidate::disruption);
  // It is expensive to find where their pods could go, so berth does it only for nodes that are
  // equal so far.
  for (auto first = candidates_.begin(); first != candidates_.end();) {
    const auto last = std::find_if(first, candidates_.end(), [&](const Candidate& c) {
      return c.disruption != first->disruption;
    });
    if (last - first > 1 && first->disruption.pods) {
      for (Candidate& c : std::ranges::subrange(first, last))
        c.disruption.homeless = cost.homeless(node_of(c), *c.occupants, drain);
      std::ranges::stable_sort(first, last, {}, &Candidate::disruption);
    }
    first = last;
  }
}

void Chooser::consider(const Candidate& candidate) {
  const Node& node = *choice_.nodes[candidate.index].node;
  if (auto why = not_rendered(choice_.nodes[candidate.index].config))
    return wait(candidate, *std::move(why));
  const std::optional<Cause> full = no_room(candidate);
  if (full && ahead_-- <= 0) return wait(candidate, *full);

  const std::optional<Cause> pods = refuse_pods(node);
  const bool asking = pods && pods->reason == reasons::kAskingPods;
  if (pods && !asking) return wait(candidate, *pods);
  if (full) return wait(candidate, *full);
  if (auto flight = in_flight(node)) return wait(candidate, *std::move(flight));
  if (auto refusal = budgets_.refuse(node)) return wait(candidate, *std::move(refusal));
  if (auto refusal = guard_.refuse(node); refusal && !seeded(SeededBug::kIgnoreGuard))
    return wait(candidate, *refusal);

  // A node with an open question keeps its place, so that the order holds.
  if (!candidate.already_out) --room_;
  --initial_;
  guard_.take(node);
  budgets_.take(node);
  if (asking) return wait(candidate, *pods);
  choice_.take.push_back(
      {&node, candidate.seq, candidate.already_out, describe(candidate.disruption)});
  // Whether the API server accepts the write is known only after the next try.
  if (candidate.refused.empty())
    wait(candidate, {reasons::kClaiming, "its turn has come"});
  else
    wait(candidate, {reasons::kWriteRefused, candidate.refused});
}

// Returns what blocks every candidate.
std::optional<Cause> Chooser::closed() {
  const RolloutSpec& rollout = layout_.spec.rollout;
  if (std::vector<Error> errors = check_rules(layout_); !errors.empty())
    return Cause{reasons::kInvalidLayout, describe(errors.front())};
  if (choice_.halted)
    return Cause{reasons::kLayoutHalted,
                 fmt::format("no further node is touched: {} has failed; see its message",
                             view_.failed_nodes(layout_).front()->meta.name)};
  if (rollout.paused)
    return Cause{reasons::kPaused, "spec.rollout.paused is set; unset it to continue"};
  if (budgets_.closed()) return budgets_.closed();
  if (auto why = agent_not_configured(snapshot_)) {
    const std::vector<std::string> missing = configs_not_copied(snapshot_);
    return Cause{reasons::kAgentNotConfigured,
                 missing.empty()
                     ? *why
                     : fmt::format("{}; first put config {}, which nodes use now, into any "
                                   "ConfigMap there",
                                   *why, fmt::join(missing, ", "))};
  }
  if (view_.ledger().config_map == nullptr && !snapshot_.offline)
    return Cause{reasons::kClaiming,
                 fmt::format("ConfigMap {} is missing; berth is about to create it",
                             names::kSlotsConfigMap)};
  // Without its finalizer a layout takes no node, and without a slot no node is taken.
  const ObjectRef ledger = ledger_ref(snapshot_.settings, view_.ledger().config_map);
  for (const ObjectRef& object : {ref_of(layout_), ledger})
    if (const auto refused = refused_write(snapshot_, object, names::kManagerMig))
      return Cause{reasons::kWriteRefused, fmt::format("{}: {}", object.str(), refused->message)};
  return std::nullopt;
}

std::optional<Cause> Chooser::not_rendered(const std::string& config) {
  auto [entry, is_new] = rendered_.try_emplace(config);
  if (is_new) entry->second = config_is_rendered(snapshot_, config);
  if (entry->second) return std::nullopt;
  return file_lacks(snapshot_, config);
}

std::optional<Cause> Chooser::no_room(const Candidate& candidate) {
  if (initial_ <= 0)
    return Cause{reasons::kInitialBatch,
                 fmt::format("the first {} node(s) have to be verified before the rest start",
                             layout_.spec.rollout.initial_batch)};
  // A node that is already unavailable does not use the budget.
  if (candidate.already_out || room_ > 0) return std::nullopt;
  if (!full_)
    full_ = {reasons::kMaxUnavailable,
             fmt::format("{} of {} selected nodes may be unavailable{}", choice_.budget,
                         choice_.nodes.size(), who_is_out())};
  return full_;
}

std::string Chooser::who_is_out() const {
  std::vector<std::string> out;
  for (const NodeStanding& standing : choice_.nodes) {
    if (!standing.out) continue;
    const bool by_berth = standing.bucket == NodeBucket::kInProgress ||
                          standing.bucket == NodeBucket::kFailed ||
                          view_.ledger().find(standing.node->meta.name) != nullptr;
    const bool kept_out =
        standing.node->cordoned() && read_rollout(snapshot_.cluster, *standing.node).kept_out();
    out.push_back(fmt::format("{}{}", standing.node->meta.name,
                              by_berth                     ? ""
                              : kept_out                   ? " (cordoned by berth since a failure)"
                              : in_service(*standing.node) ? " (just returned)"
                              : standing.node->ready       ? " (cordoned, not by berth)"
                                                           : " (not Ready)"));
    if (out.size() == 3) break;
  }
  if (out.empty()) return {};
  return fmt::format("; out: {}{}", fmt::join(out, ", "),
                     static_cast<std::size_t>(choice_.out) > out.size() ? ", …" : "");
}

// Asks before touching: berth takes a node only if every pod that it would evict may be evicted.
// For pods that end by themselves it waits on the cordoned node.
std::optional<Cause> Chooser::refuse_pods(const Node& node) {
  std::vector<Ask> asks;
  std::size_t looks = 0;
  const std::vector<PodVerdict> verdicts = pods_leaving(snapshot_, node, layout_.spec.drain);
  for (const PodVerdict& verdict : verdicts) {
    if (verdict.fate != PodFate::kBlocked) continue;
    if (verdict.look_is_due) choice_.looks.push_back(*verdict.look);
    return verdict.cause;
  }
  std::set<const Job*> jobs;  // each is asked about once
  for (const PodVerdict& verdict : verdicts) {
    if (!verdict.leaves() || (verdict.job != nullptr && !jobs.insert(verdict.job).second)) continue;
    LeavingOutlook outlook = leaving_outlook(snapshot_, verdict);
    if (outlook.kind == EvictionOutlook::Kind::kNo) {
      // Asks again before the answer expires, so that a node that can't be drained is reported
      // without a gap.
      choice_.asks.insert(choice_.asks.end(), outlook.asks.begin(), outlook.asks.end());
      return std::move(outlook.cause);
    }
    asks.insert(asks.end(), outlook.asks.begin(), outlook.asks.end());
    choice_.looks.insert(choice_.looks.end(), outlook.looks.begin(), outlook.looks.end());
    looks += outlook.looks.size();
  }
  if (asks.empty() && looks > 0)
    return Cause{reasons::kAskingPods,
                 "reading whether the controllers of its pods create these again"};
  if (asks.empty()) return std::nullopt;
  choice_.asks.insert(choice_.asks.end(), asks.begin(), asks.end());
  return Cause{reasons::kAskingPods,
               fmt::format("asking the API server whether {} pod(s) may be evicted", asks.size())};
}

// The workload's pods would be bound to a cordoned node, where they can't start.
std::optional<Cause> Chooser::in_flight(const Node& node) const {
  const auto workload = in_flight_.find(node.meta.name);
  if (workload == in_flight_.end() || seeded(SeededBug::kClaimInFlight)) return std::nullopt;
  return Cause{reasons::kAdmissionInFlight,
               fmt::format("{} has just been admitted to this node", workload->second)};
}

void Chooser::wait(const Candidate& candidate, Cause why) {
  NodeStanding& standing = choice_.nodes[candidate.index];
  NodeStanding told = waiting(*standing.node, std::move(why));
  told.out = standing.out;
  told.config = standing.config;
  standing = std::move(told);
}

}  // namespace

RolloutChoice decide_rollout(const Snapshot& snapshot, const MIGLayout& layout) {
  return Chooser(snapshot, layout).choose();
}

}  // namespace berth
