// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/node_remedies.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/refused_write.h"
#include "controller/disruption/health_record.h"
#include "controller/disruption/rollouts.h"
#include "controller/explain/cordon.h"
#include "controller/preview/refusals.h"

namespace berth {
namespace {

class NodeAdvice {
 public:
  NodeAdvice(const Snapshot& snapshot, const Node& node, const NodeView& view, Explanation& out)
      : snapshot_(snapshot), node_(node), view_(view), out_(out) {}
  void give();

 private:
  void advise_on(std::string_view reason);
  void remedy(std::string message, std::string line = {}) {
    out_.remedies.push_back({std::move(message), std::move(line), {}});
  }

  const Snapshot& snapshot_;
  const Node& node_;
  const NodeView& view_;
  Explanation& out_;
};

void NodeAdvice::give() {
  if (view_.differs()) advise_on(view_.standing->cause.reason);
  for (const PodVerdict& verdict : view_.stuck)
    if (view_.to_be_drained() && verdict.cause.reason != view_.standing->cause.reason)
      advise_on(verdict.cause.reason);
  const RolloutRecord record = read_rollout(snapshot_.cluster, node_);
  if (node_.cordoned() && record.kept_out())
    remedy(
        "let a MIGLayout select it whose change succeeds here, or uncordon it once its GPUs are "
        "in order",
        fmt::format("kubectl uncordon {}", node_.meta.name));
  const bool for_health = is_out_for_health(node_);
  if (for_health)
    remedy(
        "reset or replace the GPU; or put the node back into service, where berth leaves it while "
        "the same findings last",
        fmt::format("kubectl uncordon {}", node_.meta.name));
  const bool by_berth = for_health || (record.rollout && record.rollout->berth_cordoned) ||
                        lost_slot(snapshot_, node_).has_value();
  if (node_.cordoned() && !by_berth &&
      !(view_.standing && view_.standing->cause.reason == reasons::kHeld))
    remedy("uncordon it, if whoever cordoned it is done",
           fmt::format("kubectl uncordon {}", node_.meta.name));
}

// The advice of reasons.md for this node.
void NodeAdvice::advise_on(std::string_view reason) {
  NodeStanding asked = *view_.standing;
  asked.cause.reason = reason;
  const std::string name = node_.meta.name;
  const std::string owner = view_.owner->meta.name;
  const std::string line = line_for(snapshot_, *view_.owner, asked);
  const auto told = [&](const Explanation::Remedy& r) { return !line.empty() && r.line == line; };
  if (std::ranges::any_of(out_.remedies, told)) return;
  if (reason == reasons::kHeld && node_.meta.annotations.contains(names::kHoldAnnotation))
    remedy("release it", fmt::format("kubectl annotate node {} {}-", name, names::kHoldAnnotation));
  if (reason == reasons::kMigManagerMissing)
    remedy("let mig-manager run there",
           fmt::format("kubectl label node {} {}=true", name, names::kDeployMigManager));
  if (reason == reasons::kMaxUnavailable)
    remedy(
        fmt::format("wait for its turn, number {} of {}, or allow more unavailable nodes: add to "
                    "spec of MIGLayout/{}",
                    view_.place, view_.queue, owner),
        "rollout: {maxUnavailable: N}");
  if (reason == reasons::kWriteRefused)
    remedy("change what refuses the write, as the server's words say; berth continues by itself");
  if (reason == reasons::kPodDisruptionBudget)
    remedy(
        "run one replica more of what the budget covers, or relax the budget; berth continues by "
        "itself");
  if (reason == reasons::kDisruptionWindow)
    remedy(
        "wait for the next opening, or edit the windows: spec.disruption of "
        "GPUClusterPolicy/cluster");
  if (!line.empty()) remedy(fmt::format("add to spec of MIGLayout/{}", owner), line);
}

}  // namespace

void advise_on_node(const Snapshot& snapshot, const Node& node, const NodeView& view,
                    Explanation& out) {
  NodeAdvice(snapshot, node, view, out).give();
}

}  // namespace berth
