// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/health_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "apis/base/names.h"
#include "controller/core/samples.h"
#include "controller/health/findings.h"
#include "tests/explore/look.h"
#include "tests/explore/stored_policy.h"

namespace berth::explore {

using nlohmann::json;
using namespace std::chrono_literals;
using Kind = ShownFault::Kind;

namespace {

// The time until berth has seen a fault: a sampling round, a leader that stops for a while, and
// another that starts.
constexpr std::chrono::nanoseconds kSeenIn = 2min;
// How long after its last measurement a GPU counts as seen, and the time to notice it.
constexpr std::chrono::nanoseconds kUnseenFor = 150s;
constexpr std::chrono::nanoseconds kSameTime = 60s;  // two writers may not know of each other
constexpr std::chrono::nanoseconds kMoment = 5s;     // for requests in flight
constexpr std::int64_t kDoublings = 10;
constexpr std::chrono::nanoseconds kLongestWait = 24h;

std::optional<HealthRecord> record_of(const json* node) {
  const std::string& text = annotation_at(node, names::kHealthAnnotation);
  std::optional<HealthRecord> record = text.empty() ? std::nullopt : decode_health(text);
  if (record && record->node_uid != text_at(node, {"metadata", "uid"})) record.reset();
  return record;
}

bool is_in_others_hands(const json* node) {
  const std::string& upgrade = label_at(node, names::kDriverUpgradeState);
  return !annotation_at(node, names::kHoldAnnotation).empty() ||
         !annotation_at(node, names::kRolloutAnnotation).empty() ||
         (!upgrade.empty() && upgrade != "upgrade-done");
}

bool same_at(const json* before, const json* after, Path path) {
  const json *was = at(before, path), *is = at(after, path);
  return was == nullptr || is == nullptr ? was == is : *was == *is;
}

// Most changes of a node affect neither its labels nor its records nor its cordon.
bool is_heartbeat(const json* before, const json* after) {
  return before != nullptr && same_at(before, after, {"metadata", "labels"}) &&
         same_at(before, after, {"metadata", "annotations"}) &&
         same_at(before, after, {"metadata", "uid"}) &&
         same_at(before, after, {"spec", "unschedulable"});
}

}  // namespace

bool is_out_for_health(const json* node) {
  const auto record = record_of(node);
  return record && record->phase == HealthPhase::kCordoned;
}

void HealthInvariants::take_gauges(const std::string& node, const sim::GaugedNode* gauges,
                                   MonotonicTime now) {
  const HealthSpec spec = policy_ ? policy_->spec.health : HealthSpec();
  history_.take(node, gauges, now, spec.max_temperature);
}

void HealthInvariants::take_policy(const sim::Change& change, MonotonicTime now) {
  std::optional<GPUClusterPolicy> next = policy_after(change);
  if (!next || !policy_ || policy_->spec != next->spec) policy_since_ = now;
  policy_ = std::move(next);
}

void HealthInvariants::take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
                            std::chrono::nanoseconds news_takes, const Complain& complain) {
  const std::string& name = change.key.name;
  if (change.key.type->plural == "gpuclusterpolicies") return take_policy(change, now);
  if (change.key.type->plural != "nodes") return;
  if (change.kind == sim::Change::Kind::kDeleted) {
    nodes_.erase(name);
    return;
  }
  const json* after = change.after.get();
  const bool known = nodes_.contains(name);
  if (known && is_heartbeat(change.before.get(), after)) return;
  KnownNode& node = nodes_[name];
  if (const std::string& uid = text_at(after, {"metadata", "uid"}); node.uid != uid)
    node = {.uid = uid};
  const std::optional<HealthRecord> record = record_of(after);
  const bool out = record && record->phase == HealthPhase::kCordoned;
  const bool cordoned = true_at(after, {"spec", "unschedulable"});
  if (by_berth && out && !node.out) {
    const MonotonicTime sent = now - (wall - record->since);
    judge_cordon(name, node, *record, now, sent, news_takes, complain);
  }
  const bool recovers = record && record->phase == HealthPhase::kRecovered;
  if (by_berth && node.out && node.cordoned && !cordoned && recovers)
    judge_return(name, node, now, complain);
  if (!by_berth && node.out && node.cordoned && !cordoned) node.overruled_at = now;
  if (!by_berth && record != node.record) {
    node.edited = true;
    node.overruled_at.reset();  // the record no longer says so
  }
  if (by_berth && node.record && !record) node.cordons = 0;
  if (node.out && !out) node.back_at = now;
  if (out && !node.out) node.out_since = now;
  node.out = out;
  node.record = record;
  node.cordoned = cordoned;
  node.others = is_in_others_hands(after);
  node.labels.clear();
  if (const json* labels = at(after, {"metadata", "labels"}))
    for (const auto& [key, value] : labels->items())
      if (value.is_string()) node.labels[key] = value.get<std::string>();
}

MonotonicTime HealthInvariants::begin_of(const std::string& name, const ShownFault& fault,
                                         std::chrono::nanoseconds gap) const {
  // A rise may be of several kinds, which the history does not distinguish.
  MonotonicTime begin = fault.from;
  if (fault.kind == Kind::kRise) return begin;
  for (const ShownFault& earlier : history_.of(name) | std::views::reverse)
    if (earlier.kind == fault.kind && earlier.gpu == fault.gpu && earlier.from < begin &&
        earlier.until && begin - *earlier.until < gap)
      begin = earlier.from;
  return begin;
}

// Whether berth may cordon the node for the fault. A fault that a user has overruled counts as
// continued over gaps that berth can't have seen as its end.
bool HealthInvariants::is_a_cause(const std::string& name, const KnownNode& node,
                                  const ShownFault& fault, MonotonicTime sent) const {
  const std::chrono::nanoseconds recover_after = policy_->spec.health.recover_after;
  if (sent - fault.last(sent) > recover_after + kSeenIn) return false;
  const auto surely_goes_on = recover_after - recover_after / 4 - kSameTime;
  if (node.overruled_at && begin_of(name, fault, surely_goes_on) <= *node.overruled_at)
    return false;
  return fault.kind != Kind::kHot ||
         fault.last(sent) - begin_of(name, fault, kSeenIn) >= kHotFor - kMoment;
}

void HealthInvariants::judge_cordon(const std::string& name, KnownNode& node,
                                    const HealthRecord& record, MonotonicTime now,
                                    MonotonicTime sent, std::chrono::nanoseconds news_takes,
                                    const Complain& complain) {
  ++node.cordons;
  if (node.edited) node.cordons = record.cordons;
  node.edited = false;
  node.cause.reset();
  if (!policy_ || now - policy_since_ < kSameTime) return;
  for (const ShownFault& fault : history_.of(name))
    if (const MonotonicTime last = fault.last(sent); is_a_cause(name, node, fault, sent))
      node.cause = std::min(node.cause.value_or(last), last);
  // Gauges do not show what the kubelet offers.
  const bool offers_less =
      record.keys.find(to_string(FaultKind::kDevicesUnhealthy)) != std::string::npos;
  if (!node.cause && !offers_less)
    complain("Sick", fmt::format("{} is cordoned for {}, and its GPUs have shown nothing new", name,
                                 record.keys));
  const PoolSpec* pool = pool_of(node);
  std::int64_t out = 1;
  for (const auto& [other, known] : nodes_) {
    if (other == name || !known.out || pool_of(known) != pool) continue;
    const bool same_plan = known.record->since == record.since;
    out += same_plan || known.out_since + news_takes <= sent;
  }
  if (const std::int64_t most = limit(pool); out > most)
    complain("Fraction", fmt::format("{} nodes are out for their health with {}, and {} may be",
                                     out, name, most));
}

void HealthInvariants::judge_return(const std::string& name, const KnownNode& node,
                                    MonotonicTime now, const Complain& complain) const {
  if (node.edited || !policy_ || policy_since_ > node.out_since) return;
  if (policy_->spec.health.action == HealthAction::kReport) return;
  // A record's `last` is a little older than the last observation.
  const auto wait = wait_after(node.cordons) - policy_->spec.health.recover_after / 4 - kMoment;
  if (node.cause && now < *node.cause + wait)
    complain("Early",
             fmt::format("{} goes back too early, out {} times by now", name, node.cordons));
  const auto told = static_cast<std::int64_t>(history_.told(name));
  if (told < node.record->gpus && now - history_.told_since(name) > kUnseenFor)
    complain("Blind", fmt::format("{} goes back, and {} of its {} GPUs are seen", name, told,
                                  node.record->gpus));
}

const PoolSpec* HealthInvariants::pool_of(const KnownNode& node) const {
  if (!policy_) return nullptr;
  StringMap labels;
  for (const auto& [key, value] : node.labels) labels.set(key, value);
  for (const PoolSpec& pool : policy_->spec.pools)
    if (pool.node_selector.matches(labels)) return &pool;
  return nullptr;
}

std::int64_t HealthInvariants::limit(const PoolSpec* pool) const {
  const auto total = std::ranges::count_if(
      nodes_, [&](const auto& known) { return pool_of(known.second) == pool; });
  return policy_->spec.health.max_unhealthy_fraction.of(total);
}

std::chrono::nanoseconds HealthInvariants::wait_after(std::int64_t cordons) const {
  const std::int64_t doublings = std::clamp<std::int64_t>(cordons - 1, 0, kDoublings);
  const std::chrono::nanoseconds first = policy_->spec.health.recover_after;
  return std::max(first, std::min(first * (std::int64_t{1} << doublings), kLongestWait));
}

bool HealthInvariants::may_drain(const std::string& name, MonotonicTime heard_until) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || !policy_) return false;
  const KnownNode& node = found->second;
  const bool drains =
      policy_->spec.health.action == HealthAction::kDrain || policy_since_ > heard_until;
  return drains && (node.out || (node.back_at && *node.back_at > heard_until));
}

bool HealthInvariants::shows_what_stands(const std::string& name, const KnownNode& node) const {
  const auto may_go_on = policy_->spec.health.recover_after + kSeenIn;
  return std::ranges::any_of(history_.of(name), [&](const ShownFault& fault) {
    const bool overruled =
        node.overruled_at && begin_of(name, fault, may_go_on) <= *node.overruled_at;
    return fault.kind == Kind::kStands && !fault.until && !overruled && history_.told(name) > 0;
  });
}

std::string HealthInvariants::judge_rest(const std::string& name, const KnownNode& node,
                                         MonotonicTime now) const {
  if (node.others || node.edited || pool_of(node) == nullptr) return "";
  if (shows_what_stands(name, node) && !node.cordoned) {
    const auto is_out = [&](const auto& known) {
      return known.second.out && pool_of(known.second) == pool_of(node);
    };
    if (std::ranges::count_if(nodes_, is_out) < limit(pool_of(node)))
      return fmt::format("{} shows a fault that stands, and is in service", name);
  }
  if (!node.out || static_cast<std::int64_t>(history_.told(name)) < node.record->gpus) return "";
  MonotonicTime last = node.out_since;
  for (const ShownFault& fault : history_.of(name)) last = std::max(last, fault.last(now));
  if (now > last + wait_after(node.record->cordons) + policy_->spec.health.recover_after + kSeenIn)
    return fmt::format("{} is out for its health, and nothing is wrong with it", name);
  return "";
}

std::string HealthInvariants::unstill(MonotonicTime now) const {
  if (!policy_ || policy_->spec.health.action == HealthAction::kReport) return "";
  for (const auto& [name, node] : nodes_)
    if (std::string why = judge_rest(name, node, now); !why.empty()) return why;
  return "";
}

}  // namespace berth::explore
