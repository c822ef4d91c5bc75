// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/core/cluster_state.h"
#include "controller/core/ledger_epoch.h"
#include "controller/core/stop.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/node_facts.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

std::string check_rollout(const Node& node, std::string_view text) {
  const std::optional<NodeRollout> rollout = decode_rollout(text);
  if (!rollout) return {};
  // A rewrite may truncate texts and drop control characters, and change nothing else.
  const std::string written = encode_rollout(*rollout);
  const std::optional<NodeRollout> again = decode_rollout(written);
  if (!again || encode_rollout(*again) != written) return "written as another: " + written;
  if (again->phase != rollout->phase || again->since != rollout->since ||
      again->seq != rollout->seq || again->taken != rollout->taken)
    return "written as another: " + written;
  ClusterState cluster;
  cluster.upsert(node, Time());
  // An idle record of a user may count as in progress, but never the other way round.
  if (rollout->phase != RolloutPhase::kIdle && nodes_under_way(cluster).empty())
    return "under way, and not counted so";
  cluster.erase<Node>("", node.meta.name);
  return nodes_under_way(cluster).empty() ? "" : "gone, and still counted";
}

std::string check_inventory(const Node& node) {
  const std::optional<Inventory> known = inventory_of(node);
  Node labelled = node;
  labelled.meta.labels.set("nvidia.com/gpu.product", "NVIDIA-A30");
  labelled.meta.labels.set("nvidia.com/gpu.count", "2");
  if (const std::optional<std::string> record = inventory_to_record(labelled)) {
    labelled.meta.annotations.set(names::kInventoryAnnotation, *record);
    if (inventory_to_record(labelled)) return "recorded, and still to be recorded";
  }
  const bool possible = !known || (known->count > 0 && !known->product.empty());
  return possible ? "" : "no such inventory";
}

}  // namespace

Verdict check_annotation(std::string_view text) {
  Node node;
  node.meta.name = "n1";
  node.meta.annotations.set(names::kRolloutAnnotation, text);
  node.meta.annotations.set(names::kInventoryAnnotation, text);
  Verdict verdict{check_rollout(node, text), decode_rollout(text).has_value()};
  if (verdict.wrong.empty()) verdict.wrong = check_inventory(node);
  if (const std::optional<Slot> slot = decode_slot(text)) {
    verdict.read = true;
    const std::optional<Slot> again = decode_slot(encode_slot(*slot));
    // JSON allows more escapes than the reader supports: ids and names need none.
    if (!again || again->seq != slot->seq || again->since != slot->since)
      verdict.wrong = "a slot written as another: " + encode_slot(*slot);
  }
  // A stop that was written once reads as the same stop again.
  const Stop stop = decode_stop(encode_stop(decode_stop(text)));
  if (decode_stop(encode_stop(stop)) != stop)
    verdict.wrong = "a stop written as another: " + encode_stop(stop);
  return verdict;
}

Verdict check_ledger(std::string_view text) {
  std::string json(text);
  Result<ConfigMap> map = decode_object<ConfigMap>(json);
  if (!map.has_value()) return {};
  const SlotLedger ledger = read_ledger(&*map);
  if (ledger.slots.size() + ledger.unreadable.size() != map->data.size())
    return {.wrong = "an entry is neither a slot nor unreadable"};
  const EpochClaim claim = claim_epoch(&*map, Settings());
  if (!nlohmann::json::accept(claim.write.body)) return {.wrong = "no JSON: " + claim.write.body};
  map->meta.annotations.set(names::kEpochAnnotation, std::to_string(claim.epoch));
  // At the maximum it stays: a user wrote that number.
  const bool higher = claim.epoch > ledger.epoch || claim.epoch == kMaxCounter - 1;
  const bool counted = higher && read_ledger(&*map).epoch == claim.epoch;
  return {.wrong = counted ? "" : "an epoch that is claimed and does not count",
          .read = !ledger.slots.empty()};
}

}  // namespace berth::test
