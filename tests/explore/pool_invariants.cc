// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/pool_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "apis/codec/decode_policy.h"
#include "controller/core/time_zones.h"
#include "controller/fleet/disruption_calendar.h"
#include "controller/policy/plugin_config.h"
#include "tests/explore/health_invariants.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr int kMaxCorrections = 3;
constexpr std::chrono::nanoseconds kSameTime = 60s;      // two writers may not know
constexpr std::chrono::nanoseconds kReachesNodes = 60s;  // by the kubelets' update period

PoolItem label_item(const std::string& key) { return {Text(key), {}}; }

// A node's labels or taints, by their identity.
std::map<PoolItem, std::string> labels_of(const json* node) {
  std::map<PoolItem, std::string> out;
  if (const json* labels = at(node, {"metadata", "labels"}))
    for (const auto& [key, value] : labels->items())
      if (value.is_string()) out[label_item(key)] = value.get<std::string>();
  return out;
}

std::vector<std::pair<PoolItem, std::string>> taints_of(const json* node) {
  std::vector<std::pair<PoolItem, std::string>> out;
  if (const json* taints = at(node, {"spec", "taints"}); taints != nullptr && taints->is_array())
    for (const json& taint : *taints)
      out.push_back(
          {{Text(text_at(&taint, {"key"})), Text(text_at(&taint, {"effect"}))}, taint.dump()});
  return out;
}

// Labels and taints together.
std::map<PoolItem, std::string> items_of(const json* node) {
  std::map<PoolItem, std::string> out = labels_of(node);
  for (auto& [item, text] : taints_of(node)) out[item] = std::move(text);
  return out;
}

bool same_at(const json* before, const json* after, Path path) {
  const json *was = at(before, path), *is = at(after, path);
  return was == nullptr || is == nullptr ? was == is : *was == *is;
}

// Most changes of a node (heartbeats, statuses, cordons) do not concern pools.
bool same_items(const json* before, const json* after) {
  return same_at(before, after, {"metadata", "labels"}) &&
         same_at(before, after, {"metadata", "annotations"}) &&
         same_at(before, after, {"spec", "taints"});
}

std::set<PoolItem> changed_items(const json* before, const json* after) {
  const auto was = items_of(before), is = items_of(after);
  std::set<PoolItem> out;
  for (const auto& [item, value] : was)
    if (const auto found = is.find(item); found == is.end() || found->second != value)
      out.insert(item);
  for (const auto& [item, value] : is)
    if (!was.contains(item)) out.insert(item);
  return out;
}

std::optional<PoolKeys> record_of(const json* node) {
  const std::string& text = annotation_at(node, names::kPoolKeysAnnotation);
  return text.empty() ? std::nullopt : decode_pool_keys(text);
}

bool holds(const std::optional<PoolKeys>& record, const PoolItem& item) {
  return record && record->items.contains(item);
}

std::vector<std::pair<PoolItem, std::string>> without(
    std::vector<std::pair<PoolItem, std::string>> taints, const std::set<PoolItem>& items) {
  std::erase_if(taints, [&](const auto& taint) { return items.contains(taint.first); });
  return taints;
}

}  // namespace

bool is_pool_item(const json* before, const json* after, const PoolItem& item) {
  return item.key == names::kPoolLabel || item.key == names::kDevicePluginConfig ||
         holds(record_of(before), item) || holds(record_of(after), item);
}

void PoolInvariants::take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
                          const Complain& complain) {
  const std::string_view plural = change.key.type->plural;
  const json* before = change.before.get();
  if (plural == "nodes" && by_berth && !true_at(before, {"spec", "unschedulable"}) &&
      true_at(change.after.get(), {"spec", "unschedulable"}) &&
      !is_out_for_health(change.after.get()))  // a health cordon alone evicts no pod
    judge_window(change.key.name, now, wall, complain);
  if (plural == "nodes") return take_node(change, by_berth, now, complain);
  if (plural == "configmaps") return take_plugin_file(change, by_berth, now, complain);
  if (plural == "priorityclasses") return take_priority_class(change, by_berth, complain);
  if (plural == "gpuclusterpolicies") return take_policy(change, now);
}

void PoolInvariants::take_node(const sim::Change& change, bool by_berth, MonotonicTime now,
                               const Complain& complain) {
  const std::string& name = change.key.name;
  const json* before = change.before.get();
  const json* after = change.after.get();
  if (change.kind == sim::Change::Kind::kDeleted) {
    nodes_.erase(name);
    return;
  }
  KnownNode& node = nodes_[name];
  const std::string& uid = text_at(after, {"metadata", "uid"});
  if (node.uid != uid)
    node = KnownNode{.uid = uid};
  else if (before != nullptr && same_items(before, after))
    return;
  if (by_berth && before != nullptr) {
    judge_items(name, before, after, node, complain);
    judge_plugin_label(name, label_at(before, names::kDevicePluginConfig),
                       label_at(after, names::kDevicePluginConfig), now, complain);
  }
  if (node.record || !node.foreign_hand.empty())
    for (const PoolItem& item : changed_items(before, after)) {
      if (by_berth)
        node.foreign_hand.erase(item);
      else if (holds(node.record, item))
        node.foreign_hand.insert(item);
    }
  const std::string& pool = label_at(after, names::kPoolLabel);
  if (pool != label_at(before, names::kPoolLabel)) node.foreign_pool = !by_berth && !pool.empty();
  const std::string& record = annotation_at(after, names::kPoolKeysAnnotation);
  // berth counts in its record: removing the record restarts the count.
  if (record != node.record_text && !by_berth) node.corrections.clear();
  node.record_text = record;
  node.record = record_of(after);
  node.labels.clear();
  if (const json* labels = at(after, {"metadata", "labels"}))
    for (const auto& [key, value] : labels->items())
      if (value.is_string()) node.labels[key] = value.get<std::string>();
}

void PoolInvariants::judge_items(const std::string& name, const json* before, const json* after,
                                 KnownNode& node, const Complain& complain) {
  const std::optional<PoolKeys> was = record_of(before), is = record_of(after);
  const auto standing = items_of(before), next = items_of(after);
  const bool lost = !was && !annotation_at(before, names::kPoolKeysAnnotation).empty();
  std::set<PoolItem> ours;
  bool corrects = false;
  for (const PoolItem& item : changed_items(before, after)) {
    if (item.key == names::kDevicePluginConfig || !is_pool_item(before, after, item)) continue;
    ours.insert(item);
    const bool own = item.key == names::kPoolLabel;
    const bool corrects_own = own && next.contains(item);
    if (standing.contains(item) && !holds(was, item) && !lost && !corrects_own)
      complain("Fields", fmt::format("{}: {} was somebody else's, and changes", name, item.str()));
    if (next.contains(item) && !holds(is, item))
      complain("Fields", fmt::format("{}: {} is set without a record of it", name, item.str()));
    const bool same_wish =
        holds(was, item) && holds(is, item) && was->items.at(item) == is->items.at(item);
    corrects = corrects || (same_wish && node.foreign_hand.contains(item));
  }
  for (const auto& [item, text] : taints_of(before))
    if (!holds(was, item) && !lost) ours.erase(item);
  if (without(taints_of(before), ours) != without(taints_of(after), ours))
    complain("Fields", fmt::format("{}: others' taints change or move", name));
  if (!corrects || !is) return;
  const int times = ++node.corrections[encode_pool_keys({.pool = is->pool, .items = is->items})];
  if (times > kMaxCorrections)
    complain("Others",
             fmt::format("the pool's labels of {} are fought over: {} times", name, times));
}

void PoolInvariants::judge_plugin_label(const std::string& name, const std::string& was,
                                        const std::string& is, MonotonicTime now,
                                        const Complain& complain) const {
  if (is == was) return;
  if (!was.empty() && !is_berths_plugin_key(was) && was != kDefaultPluginConfig)
    complain("Others",
             fmt::format("the plugin's config of {} was {}, which is foreign", name, was));
  if (is.empty()) return;
  if (!is_berths_plugin_key(is))
    complain("Fields", fmt::format("{} is to take the plugin's config {}", name, is));
  if (plugin_file_edited_ && now - *plugin_file_edited_ < kSameTime) return;
  const auto since = plugin_keys_.find(is);
  if (since == plugin_keys_.end())
    complain("Config", fmt::format("{} names {}, which the plugin's file lacks", name, is));
  else if (now - since->second < kReachesNodes)
    complain("Config", fmt::format("{} names {}, which may not have reached it", name, is));
}

void PoolInvariants::take_plugin_file(const sim::Change& change, bool by_berth, MonotonicTime now,
                                      const Complain& complain) {
  const std::string wanted = policy_ ? policy_->object.spec.agents.device_plugin_config_map
                                     : AgentsSpec().device_plugin_config_map;
  if (change.key.name != wanted || change.key.namespace_ != settings_.agents_namespace) return;
  static const json kNothing = json::object();
  const json* old_data = at(change.before.get(), {"data"});
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const json* new_data = gone ? nullptr : at(change.after.get(), {"data"});
  const json& was = old_data == nullptr ? kNothing : *old_data;
  const json& is = new_data == nullptr ? kNothing : *new_data;
  if (!by_berth) plugin_file_edited_ = now;
  std::set<std::string> changed;
  for (const auto& [key, text] : was.items())
    if (!is.contains(key) || is[key] != text) changed.insert(key);
  for (const auto& [key, text] : is.items())
    if (!was.contains(key)) changed.insert(key);
  for (const std::string& key : changed) {
    if (by_berth && key != kDefaultPluginConfig && !is_berths_plugin_key(key))
      complain("Others",
               fmt::format("the key {} of the plugin's file is foreign, and changes", key));
    plugin_keys_.erase(key);
    if (is.contains(key)) plugin_keys_[key] = now;
    if (is.contains(key) || !by_berth) continue;
    for (const auto& [name, node] : nodes_)
      if (const auto label = node.labels.find(names::kDevicePluginConfig);
          label != node.labels.end() && label->second == key)
        complain("Config", fmt::format("the plugin's file loses {}, which {} names", key, name));
  }
}

void PoolInvariants::take_priority_class(const sim::Change& change, bool by_berth,
                                         const Complain& complain) {
  const std::string& name = change.key.name;
  if (change.kind == sim::Change::Kind::kAdded && by_berth) berths_classes_.insert(name);
  if (change.kind != sim::Change::Kind::kAdded && by_berth && !berths_classes_.contains(name))
    complain("Others", fmt::format("the PriorityClass {} is somebody else's, and changes", name));
  if (change.kind == sim::Change::Kind::kDeleted) berths_classes_.erase(name);
}

void PoolInvariants::take_policy(const sim::Change& change, MonotonicTime now) {
  const std::optional<Policy> last = std::exchange(policy_, std::nullopt);
  retained_ = change.kind == sim::Change::Kind::kDeleted && last &&
              last->object.spec.deletion_policy == PolicyDeletion::kRetain;
  if (change.kind == sim::Change::Kind::kDeleted) return;
  std::optional<Error> error;
  Policy policy;
  read(JsonCursor(change.after.get(), error), policy.object);
  if (error) return;
  for (const Condition& condition : policy.object.status.conditions)
    if (condition.type == "Ready") policy.ready = condition.status;
  const bool same = last && last->object.spec == policy.object.spec;
  policy.since = same ? last->since : now;
  policy_ = std::move(policy);
}

// A write that was sent in time may arrive a little late.
void PoolInvariants::judge_window(const std::string& name, MonotonicTime now, Time wall,
                                  const Complain& complain) const {
  if (!policy_ || policy_->object.meta.deletion_timestamp || now - policy_->since < kSameTime)
    return;
  const DisruptionCalendar calendar(policy_->object.spec.disruption, utc_only());
  if (!calendar.at(wall).open && !calendar.at(wall - std::chrono::minutes(1)).open)
    complain("Window", fmt::format("{} is cordoned while nodes may not be taken", name));
}

std::string PoolInvariants::expected_pool(const KnownNode& node) const {
  StringMap labels;
  for (const auto& [key, value] : node.labels) labels.set(key, value);
  if (policy_ && !policy_->object.meta.deletion_timestamp)
    for (const PoolSpec& pool : policy_->object.spec.pools)
      if (pool.node_selector.matches(labels)) return pool.name;
  return "";
}

std::string PoolInvariants::judge_rest(const std::string& name, const KnownNode& node) const {
  const auto label = [&](const char* key) {
    const auto found = node.labels.find(key);
    return found == node.labels.end() ? std::string() : found->second;
  };
  const std::string expected = expected_pool(node);
  const std::string pool = label(names::kPoolLabel);
  const bool stays = expected.empty() && node.foreign_pool && node.record_text.empty();
  if (pool != expected && !stays)
    return fmt::format("{} is in pool \"{}\", and belongs to \"{}\"", name, pool, expected);
  if (!expected.empty()) return "";
  if (!node.record_text.empty())
    return fmt::format("{} is in no pool, and keeps a record of one", name);
  if (is_berths_plugin_key(label(names::kDevicePluginConfig)))
    return fmt::format("{} is in no pool, and keeps a config of the plugin", name);
  return "";
}

std::string PoolInvariants::unstill() const {
  if (retained_) return "";
  if (policy_) {
    const GPUClusterPolicy& policy = policy_->object;
    if (policy.status.observed_generation != policy.meta.generation)
      return fmt::format("the policy tells of generation {}, and has {}",
                         policy.status.observed_generation, policy.meta.generation);
    const auto& conditions = policy.status.conditions;
    if (std::ranges::any_of(conditions, [](const Condition& condition) {
          return condition.reason.empty() || condition.message.empty();
        }))
      return "the policy has a condition without a reason";
    if (policy_->ready.empty()) return "the policy says nothing";
    if (policy_->ready != "True") return "";  // and its condition says why
  } else if (!berths_classes_.empty()) {
    return fmt::format("the PriorityClass {} outlives the policy", *berths_classes_.begin());
  }
  for (const auto& [name, node] : nodes_)
    if (std::string why = judge_rest(name, node); !why.empty()) return why;
  return "";
}

}  // namespace berth::explore
