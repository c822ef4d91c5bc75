// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/truth.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode_frame.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/recall.h"
#include "tests/explore/health_invariants.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using sim::Change;

namespace {

bool asks_for_gpu(const json& pod) {
  for (const char* list : {"containers", "initContainers"}) {
    const json* containers = at(&pod, {"spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const json& container : *containers) {
      const json* limits = at(&container, {"resources", "limits"});
      if (limits == nullptr) continue;
      for (const auto& [resource, quantity] : limits->items())
        if (resource.starts_with("nvidia.com/") && quantity != "0") return true;
    }
  }
  return false;
}

bool is_exempt(const json& pod, const Settings& settings) {
  if (text_at(&pod, {"metadata", "namespace"}) == settings.agents_namespace) return true;
  if (!annotation_at(&pod, names::kMirrorAnnotation).empty()) return true;
  const json* owners = at(&pod, {"metadata", "ownerReferences"});
  return owners != nullptr && std::ranges::any_of(*owners, [](const json& owner) {
           return text_at(&owner, {"kind"}) == "DaemonSet";
         });
}

bool is_ready(const json& node) {
  const json* conditions = at(&node, {"status", "conditions"});
  return conditions != nullptr && std::ranges::any_of(*conditions, [](const json& condition) {
           return text_at(&condition, {"type"}) == "Ready" &&
                  text_at(&condition, {"status"}) == "True";
         });
}

bool others_at_work(const json& node) {
  const std::string& upgrade = label_at(&node, names::kDriverUpgradeState);
  if (!upgrade.empty() && upgrade != "upgrade-done") return true;
  const json* taints = at(&node, {"spec", "taints"});
  return taints != nullptr && std::ranges::any_of(*taints, [](const json& taint) {
           return text_at(&taint, {"key"}) == "ToBeDeletedByClusterAutoscaler" ||
                  text_at(&taint, {"key"}) == "karpenter.sh/disrupted" ||
                  text_at(&taint, {"key"}) == "karpenter.sh/disruption";
         });
}

bool same_labels(const Change& change) {
  const json* before = at(change.before.get(), {"metadata", "labels"});
  const json* after = at(change.after.get(), {"metadata", "labels"});
  return before != nullptr && after != nullptr && *before == *after;
}

void since(std::optional<MonotonicTime>& mark, bool holds, MonotonicTime now) {
  if (!holds)
    mark.reset();
  else if (!mark)
    mark = now;
}

// `last` is the node before, if known: its record is parsed again only if the text changed, and the
// labels only if they changed.
TrueNode read_node(const json& object, TrueNode* last, bool same_labels) {
  TrueNode node;
  node.uid = text_at(&object, {"metadata", "uid"});
  node.cordoned = true_at(&object, {"spec", "unschedulable"});
  node.ready = is_ready(object);
  node.record_text = annotation_at(&object, names::kRolloutAnnotation);
  node.record = last != nullptr && last->record_text == node.record_text
                    ? last->record
                    : decode_rollout(node.record_text);
  // The record of another node does not count.
  if (node.record && !node.record->node_uid.empty() && node.record->node_uid != node.uid)
    node.record.reset();
  node.out_for_health = is_out_for_health(&object);
  node.config = label_at(&object, names::kMigConfig);
  node.state = label_at(&object, names::kMigConfigState);
  if (const json* allocatable = at(&object, {"status", "allocatable"}))
    for (const auto& [resource, quantity] : allocatable->items())
      if (resource.starts_with("nvidia.com/") && quantity.is_string())
        node.offers[resource] = std::atoll(quantity.get_ref<const std::string&>().c_str());
  if (last != nullptr && same_labels)
    node.labels = std::move(last->labels);
  else if (const json* labels = at(&object, {"metadata", "labels"}))
    for (const auto& [key, value] : labels->items())
      if (value.is_string())
        node.labels.emplace_hint(node.labels.end(), key, value.get_ref<const std::string&>());
  return node;
}

}  // namespace

bool is_berth(std::string_view user) { return user.starts_with("berth-"); }

bool tells_of(const MIGLayout& layout, const std::string& node) {
  const auto details = [&](const NodeDetail& detail) {
    return detail.node == node && !detail.reason.empty() && !detail.message.empty();
  };
  const auto waits = [&](const Condition& condition) {
    return condition.reason == "Deleting" && condition.message.find(node) != std::string::npos;
  };
  return std::ranges::any_of(layout.status.details, details) ||
         std::ranges::any_of(layout.status.conditions, waits);
}

std::vector<const MIGLayoutSpec*> TrueLayout::in_force_since(MonotonicTime then) const {
  std::vector<const MIGLayoutSpec*> specs{&object.spec};
  for (const auto& [until, spec] : former)
    if (until > then) specs.push_back(&spec);
  return specs;
}

void Truth::take(const Change& change, MonotonicTime now) {
  const std::string_view plural = change.key.type->plural;
  if (plural == "nodes") return take_node(change, now);
  if (plural == "pods") return take_pod(change);
  if (plural == "configmaps") return take_config_map(change, now);
  if (plural == "miglayouts") return take_layout(change, now);
  if (plural == "leases") return take_lease(change, now);
  if (plural == "gpuqueues") return take_queue(change, now);
}

void Truth::take_queue(const Change& change, MonotonicTime now) {
  const auto drains = [](const json* queue) {
    return text_at(queue, {"spec", "stopPolicy"}) == "HoldAndDrain";
  };
  if (change.kind != Change::Kind::kDeleted && drains(change.after.get()))
    drained_queues[change.key.name] = std::nullopt;
  else if (drains(change.before.get()))
    drained_queues[change.key.name] = now;
}

const TrueNode* Truth::node(std::string_view name) const {
  const auto found = nodes.find(name);
  return found == nodes.end() ? nullptr : &found->second;
}

const TruePod* Truth::pod(const std::string& namespace_, const std::string& name) const {
  const auto found = pods_.find(namespace_ + "/" + name);
  return found == pods_.end() ? nullptr : &found->second;
}

std::vector<std::string> Truth::tenants_on(const std::string& node) const {
  std::vector<std::string> tenants;
  const auto found = pods_on_.find(node);
  if (found == pods_on_.end()) return tenants;
  for (const std::string& key : found->second) {
    const auto pod = pods_.find(key);
    if (pod != pods_.end() && !pod->second.finished) tenants.push_back(key);
  }
  return tenants;
}

bool Truth::selects(const TrueLayout& layout, const TrueNode& node) const {
  StringMap map;
  for (const auto& [key, value] : node.labels) map.set(key, value);
  const MIGLayoutSpec& spec = layout.object.spec;
  if (spec.node_selector && !spec.node_selector->matches(map)) return false;
  if (spec.product_selector.empty()) return true;
  const auto product = node.labels.find(names::kGpuProduct);
  if (product == node.labels.end()) return false;
  const std::string plain = product->second.substr(0, product->second.find("-MIG-"));
  return std::ranges::find(spec.product_selector, plain) != spec.product_selector.end();
}

void Truth::take_node(const Change& change, MonotonicTime now) {
  if (change.kind == Change::Kind::kDeleted) {
    former_cordons_.erase(change.key.name);
    if (const TrueNode* last = node(change.key.name); last != nullptr && last->berth_cordoned)
      former_cordons_[change.key.name] = last->uid;
    nodes.erase(change.key.name);
    return;
  }
  const auto found = nodes.find(change.key.name);
  TrueNode next = read_node(*change.after, found == nodes.end() ? nullptr : &found->second,
                            same_labels(change));
  const bool known = found != nodes.end() && found->second.uid == next.uid;
  const bool by_berth = is_berth(change.user);
  next.config_since = now;
  // A copy of the former node, with its cordon and berth's record.
  if (const auto former = former_cordons_.find(change.key.name); former != former_cordons_.end()) {
    const std::optional<NodeRollout> copied = decode_rollout(next.record_text);
    next.berth_cordoned = !known && next.cordoned && copied && copied->node_uid == former->second;
    next.returned = next.berth_cordoned;
  }
  if (known) {
    const TrueNode& last = found->second;
    next.held = last.held;
    next.others = last.others;
    next.out = last.out;
    next.cordoned_at = last.cordoned_at;
    next.schedulable_at = last.schedulable_at;
    next.berth_cordoned = last.berth_cordoned;
    next.config_writer = last.config_writer;
    next.offered = last.offered;
    next.edited = next.record_text == last.record_text ? last.edited : !by_berth;
    next.record_since = next.record_text == last.record_text ? last.record_since : now;
    next.returned = last.returned && next.cordoned;
    if (next.cordoned != last.cordoned) next.berth_cordoned = next.cordoned && by_berth;
    const bool forgotten = !by_berth && last.out_for_health && !next.out_for_health;
    next.disowned = next.berth_cordoned && (last.disowned || forgotten ||
                                            (next.edited && !is_remembered(change.key.name)));
    if (next.config != last.config) next.config_writer = change.user;
    next.config_as_found = last.config_as_found && next.config == last.config;
    if (next.config == last.config) next.config_since = last.config_since;
    next.offers_since = next.offers == last.offers ? last.offers_since : now;
    for (const auto& [resource, count] : last.offers)
      if (const auto is = next.offers.find(resource);
          !by_berth && (is == next.offers.end() || is->second < count))
        next.offered[resource] = {count, now};
  }
  since(next.held, !annotation_at(change.after.get(), names::kHoldAnnotation).empty(), now);
  since(next.others, others_at_work(*change.after), now);
  since(next.out, !next.ready || (next.cordoned && !next.berth_cordoned), now);
  since(next.cordoned_at, next.cordoned, now);
  since(next.schedulable_at, !next.cordoned, now);
  nodes.insert_or_assign(change.key.name, std::move(next));
}

// The ledger has recorded whose cordon it is.
bool Truth::is_remembered(std::string_view node) const {
  const auto slot = slots.find(std::string(node));
  return slot != slots.end() && slot->second.berth_cordoned;
}

void Truth::take_pod(const Change& change) {
  const std::string key = change.key.namespace_ + "/" + change.key.name;
  if (const auto old = pods_.find(key); old != pods_.end() && !old->second.node.empty())
    pods_on_[old->second.node].erase(key);
  if (change.kind == Change::Kind::kDeleted) {
    pods_.erase(key);
    return;
  }
  const json& object = *change.after;
  TruePod pod;
  pod.uid = text_at(&object, {"metadata", "uid"});
  pod.node = text_at(&object, {"spec", "nodeName"});
  const std::string& phase = text_at(&object, {"status", "phase"});
  pod.finished = phase == "Succeeded" || phase == "Failed";
  pod.leaving = at(&object, {"metadata", "deletionTimestamp"}) != nullptr;
  pod.tenant = asks_for_gpu(object) && !is_exempt(object, settings_);
  if (pod.tenant && !pod.node.empty()) pods_on_[pod.node].insert(key);
  if (const auto record =
          queue::decode_admission(annotation_at(change.after.get(), names::kAdmittedAnnotation)))
    pod.queue = record->queue, pod.admission = {workload_of(object), record->since};
  pods_[key] = std::move(pod);
}

void Truth::take_config_map(const Change& change, MonotonicTime now) {
  const bool gone = change.kind == Change::Kind::kDeleted;
  if (change.key.name == settings_.mig_config_map) {
    agent_file = gone ? "" : text_at(change.after.get(), {"data", names::kMigPartedKey});
    if (!is_berth(change.user)) agent_file_edited = now;
  }
  if (change.key.name == names::kAdmissionsConfigMap) take_admissions(change, now);
  if (change.key.name != names::kSlotsConfigMap) return;
  if (!is_berth(change.user)) ledger_edited = now;
  ledger_since = now;
  slots.clear();
  const std::string& epoch = annotation_at(change.after.get(), names::kEpochAnnotation);
  if (!gone && is_berth(change.user) &&
      epoch != annotation_at(change.before.get(), names::kEpochAnnotation))
    epochs[change.user] = std::atoll(epoch.c_str());
  const json* data = gone ? nullptr : at(change.after.get(), {"data"});
  if (data != nullptr)
    for (const auto& [node, text] : data->items())
      if (text.is_string())
        if (std::optional<Slot> slot = decode_slot(text.get_ref<const std::string&>()))
          slots[node] = *std::move(slot);
  // The ledger is gone, and the record was edited: it is unknown whose cordon it is.
  if (!is_berth(change.user))
    for (auto& [name, node] : nodes)
      if (node.edited && node.berth_cordoned && !is_remembered(name)) node.disowned = true;
}

void Truth::take_admissions(const Change& change, MonotonicTime now) {
  for (auto& [admission, until] : taken_back)
    if (!until) until = now;
  const json* data =
      change.kind == Change::Kind::kDeleted ? nullptr : at(change.after.get(), {"data"});
  if (data == nullptr) return;
  for (const auto& [uid, text] : data->items())
    if (const auto entry = queue::decode_entry(text.get<std::string>()))
      for (const queue::AheadFact& ahead : entry->ahead)
        if (ahead.evicted) taken_back[{ahead.workload, ahead.since}] = std::nullopt;
  for (const auto& [key, text] : data->items())
    if (const auto recall = queue::decode_recall(text.get<std::string>()))
      taken_back[{recall->workload, recall->since}] = std::nullopt;
}

void Truth::take_layout(const Change& change, MonotonicTime now) {
  std::optional<Error> error;
  MIGLayout decoded;
  read(JsonCursor(change.after.get(), error), decoded);
  if (error) return;
  const std::string uid = decoded.meta.uid;
  if (change.kind == Change::Kind::kDeleted) {
    if (const auto found = layouts.find(uid); found != layouts.end()) {
      gone_layouts[uid] = {now, std::move(found->second)};
      layouts.erase(found);
    }
    return;
  }
  TrueLayout& layout = layouts[uid];
  if (!layout.object.meta.uid.empty() && layout.object.spec != decoded.spec)
    layout.former.emplace_back(now, std::move(layout.object.spec));
  if (layout.object.meta.generation != decoded.meta.generation) layout.spec_since = now;
  layout.object = std::move(decoded);
}

void Truth::take_lease(const Change& change, MonotonicTime now) {
  if (change.key.namespace_ != settings_.berth_namespace) return;
  const bool gone = change.kind == Change::Kind::kDeleted;
  const std::string holder = gone ? "" : text_at(change.after.get(), {"spec", "holderIdentity"});
  if (holder != leader) leader_since = now;
  leader = holder;
  if (!holder.empty() && is_berth(change.user)) renewed[change.user] = now;
}

}  // namespace berth::explore
