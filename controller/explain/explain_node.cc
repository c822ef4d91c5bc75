// SPDX-License-Identifier: Apache-2.0
// Outline: first what the node is (resources, pool, layout), then its state (rollout, cordon,
// hold), then what would prevent a drain (windows, the capacity guard, pods), and last what would
// change it.
#include "controller/explain/explain_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/disruption/capacity_guard.h"
#include "controller/disruption/health_record.h"
#include "controller/disruption/leaving_outlook.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/explain/controller_lease.h"
#include "controller/explain/cordon.h"
#include "controller/explain/device_plugin.h"
#include "controller/explain/lost_pods.h"
#include "controller/explain/node_pool.h"
#include "controller/explain/node_remedies.h"
#include "controller/explain/node_view.h"
#include "controller/fleet/disruption_calendar.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/mig/overlap.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

// Further pods are only counted.
constexpr std::size_t kEachPod = 10;

class NodeWhy {
 public:
  NodeWhy(const Snapshot& snapshot, const Node& node, const Clues& clues)
      : snapshot_(snapshot), node_(node), clues_(clues) {}
  Explanation explain();

 private:
  void note_offer();
  void note_layout();
  void note_rollout();
  void note_controller();
  void note_health();
  void note_cordon();
  void note_window();
  void note_guard();
  void note_drain();
  void conclude();

  const Snapshot& snapshot_;
  const Node& node_;
  const Clues& clues_;
  NodeView view_;
  Explanation out_;
};

Explanation NodeWhy::explain() {
  out_.subject = ref_of(node_);
  note_offer();
  note_device_plugin(snapshot_, {&node_}, clues_, out_);
  if (clues_.knows("gpuclusterpolicies.gpu.berth.dev")) note_pool(snapshot_, node_, out_);
  note_layout();
  note_rollout();
  note_controller();
  note_health();
  note_cordon();
  note_lost_pods(snapshot_, node_, out_);
  note_window();
  note_guard();
  note_drain();
  conclude();
  advise_on_node(snapshot_, node_, view_, out_);
  return std::move(out_);
}

void NodeWhy::note_offer() {
  std::string offered;
  ResourceList held;
  for (const Occupant& occupant : snapshot_.cluster.occupants_of(node_.meta.name))
    each_demand(occupant, [&](const Text& resource, std::int64_t count) {
      held[resource] += Quantity::whole(count);
    });
  for (const auto& [resource, count] : gpus_in(node_.allocatable))
    offered += fmt::format("{}{}: {} ({} held)", offered.empty() ? "" : ", ", resource.view(),
                           count.str(), held.get(resource).str());
  const std::optional<Inventory> inventory = inventory_of(node_);
  std::string text =
      inventory ? fmt::format("{} × {}; ", inventory->count, inventory->product) : "";
  text += offered.empty() ? "no GPU resource is offered" : offered;
  out_.add("offers", text, offered.empty() ? "NoGPUsOffered" : "");
}

void NodeWhy::note_layout() {
  const LayoutOwners owners(snapshot_.cluster);
  view_.owner = owners.owner_of(node_);
  std::vector<std::string> others;
  for (const auto& layout : snapshot_.cluster.mig_layouts())
    if (layout.get() != view_.owner && selects(*layout, node_)) others.push_back(layout->meta.name);
  if (view_.owner == nullptr) {
    if (snapshot_.cluster.mig_layouts().size() > 0)
      out_.add("layout", "none: no MIGLayout selects it");
    return;
  }
  out_.add("layout", fmt::format("MIGLayout/{}, priority {}", view_.owner->meta.name,
                                 view_.owner->spec.priority));
  if (!others.empty())
    out_.add(
        "layout",
        fmt::format("{} would take it too, and gives way: the higher priority wins, then the older",
                    name_some(others, "layout")),
        reasons::kLayoutConflict);
}

void NodeWhy::note_rollout() {
  if (view_.owner == nullptr) return;
  RolloutChoice choice = decide_rollout(snapshot_, *view_.owner);
  for (NodeStanding& standing : choice.nodes)
    if (standing.node == &node_) view_.standing = std::move(standing);
  if (!view_.standing) return;
  // Only the controller gets refusals, so its report about the node replaces the state seen here.
  if (const NodeDetail* refused = refusal_told(*view_.owner, node_.meta.name);
      refused && view_.differs()) {
    view_.standing->phase = refused->phase;
    view_.standing->cause = {refused->reason, refused->message};
  }
  const auto place = std::ranges::find(choice.order, &node_);
  view_.queue = choice.order.size();
  if (place != choice.order.end())
    view_.place = static_cast<std::size_t>(place - choice.order.begin()) + 1;

  std::string text = view_.standing->phase;
  if (!view_.standing->cause.reason.empty())
    text += fmt::format(", {}", view_.standing->cause.reason);
  if (view_.standing->since) text += fmt::format("; since {}", format_time(*view_.standing->since));
  out_.add("rollout", text, view_.standing->cause.reason);
  const std::string_view now = label_of(node_, names::kMigConfig);
  if (view_.differs() && !view_.standing->config.empty() && now != view_.standing->config)
    out_.add("rollout", fmt::format("{} is {} and is to be {}", names::kMigConfig,
                                    now.empty() ? "not set" : now, view_.standing->config));
  if (view_.place > 0)
    out_.add("rollout",
             fmt::format("number {} of {} still to go; at most {} may be unavailable, {} {}",
                         view_.place, view_.queue, choice.budget, choice.out,
                         choice.out == 1 ? "is" : "are"));
}

// A controller must run to do all that berth announces.
void NodeWhy::note_controller() {
  if (!view_.differs() && read_rollout(snapshot_.cluster, node_).idle() &&
      !is_out_for_health(node_))
    return;
  if (const std::string absence = told_absence(snapshot_, clues_); !absence.empty())
    out_.add("controller", absence, reasons::kNoController);
}

void NodeWhy::note_health() {
  const std::optional<HealthRecord> health = health_of(node_);
  if (!health) return;
  std::string told = fmt::format("{}; last seen {}", health->findings, format_time(health->last));
  if (health->proofs > 0) told += fmt::format("; its last proof failed: {}", health->proof);
  switch (health->phase) {
    case HealthPhase::kReported:
      return out_.add("health", told + "; berth leaves it in service", reasons::kNodeUnhealthy);
    case HealthPhase::kCordoned:
      return out_.add("health",
                      told +
                          "; out of service until nothing is found for a while: reset or replace "
                          "the GPU, or uncordon the node to overrule berth",
                      reasons::kNodeUnhealthy);
    case HealthPhase::kOverruled:
      return out_.add("health",
                      told + (health->keys.empty()
                                  ? "; a person put it back into service, and this is over"
                                  : "; a person put it back into service: berth leaves it there "
                                    "while the same findings last"),
                      health->keys.empty() ? "" : reasons::kNodeUnhealthy);
    case HealthPhase::kRecovered:
      return out_.add("health", fmt::format("recovered at {}; it was: {}",
                                            format_time(health->since), health->findings));
  }
}

void NodeWhy::note_cordon() {
  if (const Text* hold = node_.meta.annotations.find(names::kHoldAnnotation))
    out_.add("hold",
             fmt::format("a person keeps berth away by annotation {}={}", names::kHoldAnnotation,
                         hold->view()),
             reasons::kHeld);
  if (std::string cordon = told_cordon(snapshot_, node_, clues_); !cordon.empty())
    out_.add("cordon", cordon, "Cordoned");
  if (!node_.ready) out_.add("ready", "the node is not Ready", reasons::kNodeNotReady);
  if (std::string mark = deletion_mark(node_); !mark.empty())
    out_.add("others", "about to be deleted: " + mark, reasons::kAutoscalerDeleting);
  else if (mark = departure_mark(node_); !mark.empty())
    out_.add("others", "queues begin nothing on it: " + mark);
  if (std::string upgrade = driver_upgrade(node_); !upgrade.empty())
    out_.add("others", "its driver is being upgraded: " + upgrade, reasons::kUpgradeInProgress);
}

void NodeWhy::note_window() {
  if (!has_gpus(node_)) return;
  const GPUClusterPolicy* policy = find_policy(snapshot_.cluster);
  if (policy == nullptr) return;
  const DisruptionSpec& spec = policy->spec.disruption;
  if (spec.windows.empty() && spec.blackouts.empty()) return;
  const DisruptionStatus status = DisruptionCalendar(spec, snapshot_.zones).at(snapshot_.now);
  if (status.open)
    out_.add("window", status.closes ? fmt::format("open: disruption is allowed until {}",
                                                   format_time(*status.closes))
                                     : "open");
  else
    out_.add(
        "window",
        status.next_opening
            ? fmt::format("closed: no disruption is allowed before {}",
                          format_time(*status.next_opening))
            : "closed, and it does not open again: see spec.disruption of GPUClusterPolicy/cluster",
        reasons::kDisruptionWindow);
}

void NodeWhy::note_guard() {
  if (!view_.standing || view_.standing->phase != "Waiting") return;
  if (view_.standing->cause.reason == reasons::kLastProvider ||
      view_.standing->cause.reason == reasons::kCapacityGuard)
    return;  // already reported
  const SlotLedger& ledger = read_ledger(snapshot_);
  const CapacityGuard guard(snapshot_, ledger, view_.owner->spec.capacity_guard);
  if (auto refusal = guard.refuse(node_)) out_.add("guard", refusal->message, refusal->reason);
}

void NodeWhy::note_drain() {
  if (!has_gpus(node_)) return;
  const DrainSpec drain = view_.owner != nullptr ? view_.owner->spec.drain : DrainSpec();
  std::vector<std::string> free, requeued, ending;
  std::size_t told = 0;
  for (PodVerdict& verdict : pods_leaving(snapshot_, node_, drain)) {
    const std::string name = key_of(verdict.pod->meta).str();
    if (verdict.fate == PodFate::kTerminating || verdict.fate == PodFate::kAwaited)
      ending.push_back(name);
    if (verdict.leaves()) {
      const LeavingOutlook outlook = leaving_outlook(snapshot_, verdict);
      if (outlook.kind != EvictionOutlook::Kind::kNo) {
        (verdict.fate == PodFate::kEvict ? free : requeued).push_back(name);
        continue;
      }
      verdict = {verdict.pod, PodFate::kBlocked, outlook.cause};
    }
    if (verdict.fate != PodFate::kBlocked) continue;
    if (++told <= kEachPod) out_.add("drain", verdict.cause.message, verdict.cause.reason);
    view_.stuck.push_back(std::move(verdict));
  }
  if (told > kEachPod)
    out_.add("drain",
             fmt::format("and {} more may not be evicted", plural(told - kEachPod, "pod")));
  if (!ending.empty())
    out_.add("drain",
             fmt::format("waited for until {} end{}: {}", ending.size() == 1 ? "it" : "they",
                         ending.size() == 1 ? "s" : "", name_some(ending, "pod")));
  if (!free.empty()) out_.add("drain", fmt::format("would be evicted: {}", name_some(free, "pod")));
  if (!requeued.empty())
    out_.add("drain", fmt::format("would end with their Jobs, which wait in their queues again: {}",
                                  name_some(requeued, "pod")));
  if (view_.owner != nullptr && view_.stuck.empty() && ending.empty() && free.empty() &&
      requeued.empty())
    out_.add("drain", "no pod has to leave before its GPUs are repartitioned");
}

void NodeWhy::conclude() {
  if (view_.standing) {
    out_.state = view_.standing->phase;
    out_.reason = view_.standing->cause.reason;
    if (!view_.differs())
      out_.message = fmt::format("it is as MIGLayout/{} says", view_.owner->meta.name);
    else
      out_.message = fmt::format(
          "MIGLayout/{} will repartition its GPUs: {}", view_.owner->meta.name,
          view_.standing->cause.message.empty() ? "under way" : view_.standing->cause.message);
    if (view_.differs()) return;
  } else {
    out_.state = in_service(node_) ? "InService" : "OutOfService";
    out_.message = clues_.knows("miglayouts.gpu.berth.dev")
                       ? "no MIGLayout is at work on it"
                       : "whether a MIGLayout is at work on it is not known";
  }
  if (in_service(node_)) return;
  out_.reason = node_.ready ? "Cordoned" : reasons::kNodeNotReady;
  out_.message +=
      fmt::format("; it takes no pods: {}",
                  node_.ready ? told_cordon(snapshot_, node_, clues_) : "it is not Ready");
}

}  // namespace

Explanation explain_node(const Snapshot& snapshot, const Node& node, const Clues& clues) {
  Explanation out = NodeWhy(snapshot, node, clues).explain();
  out.rights = missing_rights(clues.unread, RightsFor::kCluster, snapshot.settings);
  return out;
}

}  // namespace berth
