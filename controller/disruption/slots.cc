// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/slots.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/core/flat_json.h"
#include "controller/core/json_patch.h"
#include "controller/core/ledger_epoch.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollout_annotation.h"

namespace berth {
namespace {

constexpr std::string_view kLayoutHolder = "MIGLayout/";

// Returns {"name":value,…}, with null for an entry to remove.
std::string encode_data(const SlotChanges& changes) {
  std::string members;
  for (const auto& [node, slot] : changes)
    fmt::format_to(std::back_inserter(members), "{}{}:{}", members.empty() ? "" : ",",
                   quote_json(node), slot ? quote_json(encode_slot(*slot)) : "null");
  return "{" + members + "}";
}

std::string create_body(const Settings& settings, std::int64_t epoch, const std::string& data) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":{},)"
      R"("labels":{{"{}":"berth","{}":"true"}},"annotations":{{"{}":"{}"}}}},"data":{}}})",
      names::kSlotsConfigMap, quote_json(settings.berth_namespace), names::kManagedByLabel,
      kNoBackupLabel, names::kEpochAnnotation, epoch, data);
}

}  // namespace

std::string encode_slot(const Slot& slot) {
  std::string more;
  if (slot.berth_cordoned) more += fmt::format(R"(,"berthCordoned":{})", *slot.berth_cordoned);
  if (slot.lost > 0) more += fmt::format(R"(,"lost":{})", slot.lost);
  if (slot.recall) more += fmt::format(R"(,"recall":"{}")", format_micro_time(*slot.recall));
  return fmt::format(R"({{"uid":{},"holder":{},"seq":{},"epoch":{},"since":"{}"{}}})",
                     quote_json(slot.node_uid), quote_json(slot.holder), slot.seq, slot.epoch,
                     format_micro_time(slot.since), more);
}

std::optional<Slot> decode_slot(std::string_view text) {
  std::optional<FlatJson> json = FlatJson::parse(text);
  if (!json) return std::nullopt;
  Slot slot;
  slot.node_uid = json->string("uid");
  slot.holder = json->string("holder");
  slot.seq = json->number("seq");
  slot.epoch = json->number("epoch");
  Result<Time> since = parse_time(json->string("since"));
  if (json->has("berthCordoned")) slot.berth_cordoned = json->boolean("berthCordoned");
  slot.lost = json->number("lost");
  if (json->has("recall")) {
    Result<Time> recall = parse_time(json->string("recall"));
    if (!recall) return std::nullopt;
    slot.recall = *recall;
  }
  if (!since || json->wrong() || slot.node_uid.empty() || slot.holder.empty()) return std::nullopt;
  for (std::int64_t counter : {slot.seq, slot.epoch, slot.lost})
    if (counter < 0 || counter >= kMaxCounter) return std::nullopt;
  slot.since = *since;
  return slot;
}

std::optional<std::string_view> Slot::layout() const {
  if (!holder.starts_with(kLayoutHolder)) return std::nullopt;
  return std::string_view(holder).substr(kLayoutHolder.size());
}

std::string layout_holder(std::string_view layout) {
  return std::string(kLayoutHolder).append(layout);
}

bool is_record_lost(const Slot& slot, const RolloutRecord& record) {
  return slot.berth_cordoned && record.seq() < slot.seq;
}

const Slot* SlotLedger::find(std::string_view node) const {
  auto it = slots.find(node);
  return it == slots.end() ? nullptr : &it->second;
}

SlotLedger read_ledger(const ConfigMap* config_map) {
  SlotLedger ledger;
  ledger.config_map = config_map;
  if (config_map == nullptr) return ledger;
  ledger.epoch = epoch_of(*config_map);
  for (const auto& [node, text] : config_map->data) {
    if (std::optional<Slot> slot = decode_slot(text))
      ledger.slots.emplace(node, *std::move(slot));
    else
      ledger.unreadable.push_back(node);
  }
  return ledger;
}

void SlotLedgers::follow(const Change<ConfigMap>& change) {
  const ConfigMap& either = change.now != nullptr ? *change.now : *change.old;
  if (either.meta.name != names::kSlotsConfigMap) return;
  if (change.now == nullptr)
    ledgers_.erase(either.meta.namespace_);
  else
    ledgers_[either.meta.namespace_] = read_ledger(change.now);
}

const SlotLedger& SlotLedgers::in(std::string_view namespace_) const {
  static const SlotLedger kNone;
  const auto found = ledgers_.find(Text(namespace_));
  return found == ledgers_.end() ? kNone : found->second;
}

const SlotLedger& read_ledger(const ClusterState& cluster, const Settings& settings) {
  return cluster.view<SlotLedgers>().in(settings.berth_namespace);
}

ObjectRef ledger_ref(const Settings& settings, const ConfigMap* config_map) {
  return {"ConfigMap", settings.berth_namespace, names::kSlotsConfigMap,
          config_map != nullptr ? config_map->meta.uid : std::string()};
}

Write write_slots(const Snapshot& snapshot, const SlotLedger& ledger, const SlotChanges& changes,
                  std::string reason) {
  Write write;
  write.object = ledger_ref(snapshot.settings, ledger.config_map);
  write.field_manager = names::kManagerMig;
  write.reason = std::move(reason);
  write.in_history = false;  // the nodes' own writes say what it is for
  if (ledger.config_map == nullptr) {
    write.verb = Verb::kCreate;
    write.body = create_body(snapshot.settings, snapshot.epoch, encode_data(changes));
    return write;
  }
  write.verb = Verb::kMergePatch;
  if (seeded(SeededBug::kUnconditionalLedger)) {
    write.body = fmt::format(R"({{"data":{}}})", encode_data(changes));
    return write;
  }
  write.body =
      MergePatch::same_version(ledger.config_map->meta).field("data", encode_data(changes)).str();
  return write;
}

EpochClaim claim_epoch(const ConfigMap* ledger, const Settings& settings, std::int64_t above) {
  EpochClaim claim;
  claim.write.object = ledger_ref(settings, ledger);
  claim.write.field_manager = names::kManagerMig;
  claim.write.in_history = false;
  if (ledger == nullptr) {
    claim.epoch = above + 1;
    claim.write.verb = Verb::kCreate;
    claim.write.reason = "start the ledger of unavailable nodes";
    claim.write.body = create_body(settings, claim.epoch, "{}");
    return claim;
  }
  // The epoch must also exceed that of every claim, because a user may have edited the annotation.
  claim.epoch = std::max(above, epoch_of(*ledger));
  for (const auto& [node, slot] : read_ledger(ledger).slots)
    claim.epoch = std::max(claim.epoch, slot.epoch);
  if (claim.epoch < kMaxCounter - 1) ++claim.epoch;  // a higher one could not be read back
  claim.write.verb = Verb::kMergePatch;
  claim.write.reason = fmt::format("begin epoch {}", claim.epoch);
  claim.write.body = MergePatch::same_version(ledger->meta)
                         .annotation(names::kEpochAnnotation, std::to_string(claim.epoch))
                         .str();
  return claim;
}

}  // namespace berth
