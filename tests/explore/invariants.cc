// SPDX-License-Identifier: Apache-2.0
// Writes to nodes. invariants_requests.cc has pods, layouts and requests.
#include "tests/explore/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "tests/explore/look.h"
#include "tests/explore/promised.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using sim::Change;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMaxAnnotation = 2048;
constexpr int kMaxOverwrites = 4;  // the first claim, and three more
constexpr std::chrono::nanoseconds kNewsTakes = 1s;
constexpr std::chrono::nanoseconds kLateNewsTakes = 60s;
constexpr std::chrono::nanoseconds kOnItsWay = 100ms;  // for a frame, a guard's answers, a patch
constexpr std::chrono::nanoseconds kGuardTakes = 10s;  // at most; then berth gives the request up

// In berth's format a config's name is alone on its line, bare or quoted.
bool has_config(std::string_view file, std::string_view config) {
  return file.find(fmt::format("\n  {}:", config)) != file.npos ||
         file.find(fmt::format("\n  \"{}\":", config)) != file.npos;
}

// Used GPU hours and costs are written as long as anything runs.
bool is_note(const Change& change) {
  return change.key.name == names::kUsageConfigMap || change.key.name == names::kCostsConfigMap ||
         (change.key.type->plural == "gpuqueues" && tells_use_alone(change));
}

}  // namespace

Invariants::Invariants(const sim::VirtualClock& clock, const Settings& settings, Bounds bounds)
    : clock_(clock),
      settings_(settings),
      bounds_(bounds),
      truth_(settings),
      pools_(settings),
      stop_(settings),
      certificates_(settings) {}

void Invariants::complain(std::string_view invariant, const std::string& what) {
  broken_.push_back(fmt::format("{}: {} [{}]", invariant, what, by_));
}

void Invariants::expect_delays() { delayed_at_ = clock_.now(); }

std::chrono::nanoseconds Invariants::news_takes() const {
  return delayed_at_ ? kLateNewsTakes : kNewsTakes;
}

bool Invariants::is_old_news(const std::optional<MonotonicTime>& since) const {
  return since && *since <= heard_until();
}

// A record identifies its write, because it contains times. For the ledger, the last write is
// taken, which favours berth.
MonotonicTime Invariants::time_of_sending(const Change& change) const {
  const std::string& record = annotation_at(change.after.get(), names::kRolloutAnnotation);
  if (!record.empty())
    if (const auto sent = sent_.find(fmt::format("{} {} {}", change.user, change.key.name, record));
        sent != sent_.end())
      return sent->second;
  const auto sent = ledger_sent_.find(change.user);
  if (change.key.name == names::kSlotsConfigMap && sent != ledger_sent_.end()) return sent->second;
  return clock_.now();
}

void Invariants::count(std::map<std::int64_t, int>& per_minute, int bound, std::string_view what) {
  int& many = per_minute[clock_.now() / 1min];
  if (++many == bound + 1)
    complain("Bounded", fmt::format("more than {} {} in a minute", bound, what));
}

void Invariants::take(const Change& change) {
  const std::string_view plural = change.key.type->plural;
  const bool by_berth = is_berth(change.user);
  if (by_berth) {
    by_ = change.key.str() + " by " + change.user;
    sent_at_ = time_of_sending(change);
    judge_unseen(change);
    if (plural != "leases" && plural != "events" && !is_note(change)) {
      last_write_ = clock_.now();
      last_write_was_ = by_;
      count(writes_, bounds_.writes_per_minute, "writes");
    }
  }
  const auto complain_of = [this](std::string_view invariant, const std::string& what) {
    complain(invariant, what);
  };
  pools_.take(change, by_berth, clock_.now(), clock_.wall(), complain_of);
  health_.take(change, by_berth, clock_.now(), clock_.wall(), news_takes(), complain_of);
  stop_.take(change, by_berth, clock_.now(), news_takes(), complain_of);
  retreats_.take(change, by_berth, clock_.now(), clock_.wall(), complain_of);
  dead_nodes_.take(change, by_berth, clock_.now(), clock_.wall(), news_takes(), complain_of);
  certificates_.take(change, by_berth, clock_.now(), clock_.wall(), complain_of);
  if (by_berth && plural == "pods") judge_pod(change);
  if (by_berth && plural == "miglayouts") judge_layout(change);
  if (by_berth && change.key.name == settings_.mig_config_map) judge_agent_file(change);
  std::optional<TrueNode> before;
  if (by_berth && plural == "nodes")
    if (const TrueNode* node = truth_.node(change.key.name)) before = *node;
  truth_.take(change, clock_.now());
  if (before) judge_node(change, *before);
  // berth counts in its record: removing the record restarts the count.
  if (const TrueNode* node = plural == "nodes" ? truth_.node(change.key.name) : nullptr;
      node != nullptr && node->edited)
    std::erase_if(overwritten_, [&](const auto& at) { return at.first.starts_with(node->uid); });
  if (by_berth && plural == "leases") judge_told();
}

void Invariants::judge_unseen(const Change& change) {
  if (change.before == nullptr) return;
  if (change.key.name == names::kSlotsConfigMap && truth_.ledger_since > sent_at_)
    complain("Unseen", "the ledger is written over what its writer cannot have known");
  const TrueNode* node =
      change.key.type->plural == "nodes" ? truth_.node(change.key.name) : nullptr;
  if (node == nullptr || change.after == nullptr || node->record_since <= sent_at_) return;
  if (annotation_at(change.after.get(), names::kRolloutAnnotation) != node->record_text)
    complain("Unseen", fmt::format("the record of {} is written over one that its writer cannot "
                                   "have known: {}",
                                   change.key.name, node->record_text));
}

// A label that appears between the live list of nodes and the write is allowed.
void Invariants::judge_agent_file(const Change& change) {
  const std::string& file = text_at(change.after.get(), {"data", names::kMigPartedKey});
  const auto grace = delayed_at_ ? kGuardTakes : kOnItsWay;
  for (const auto& [name, node] : truth_.nodes) {
    const std::string config = base_config(node.config);
    if (config.empty() || clock_.now() - node.config_since < grace) continue;
    if (has_config(truth_.agent_file, config) && !has_config(file, config))
      complain("Config", fmt::format("the agents' file loses {}, which {} names", config, name));
  }
}

void Invariants::judge_node(const Change& change, const TrueNode& before) {
  const std::string& name = change.key.name;
  const TrueNode* after = truth_.node(name);
  if (after == nullptr) return complain("Fields", name + " is deleted");
  if (after->record_text.size() > kMaxAnnotation)
    complain("Bounded",
             fmt::format("the record of {} has {} bytes", name, after->record_text.size()));
  if (!after->record_text.empty() && !after->record && after->record_text != before.record_text)
    complain("Fields", fmt::format("berth cannot read its own record: {}", after->record_text));
  if (!before.cordoned && after->cordoned) judge_taking(name, before, *after);
  if (!before.open() && after->open()) {
    const auto slot = truth_.slots.find(name);
    const bool has = slot != truth_.slots.end() && slot->second.node_uid == after->uid &&
                     slot->second.seq >= after->record->seq;
    const bool edited = truth_.ledger_edited && !is_old_news(truth_.ledger_edited);
    if (!has && !edited && !before.returned) complain("Slot", name + " is taken without a slot");
  }
  if (before.cordoned && !after->cordoned) judge_uncordon(name, before, *after);
  if (before.config != after->config) judge_relabel(name, before, *after);
  judge_fields(change);
  // Another target restarts the count, and so does a foreign edit or removal of the record.
  const bool retargeted =
      before.record && after->record && before.record->config != after->record->config;
  if (before.edited || retargeted) relabels_.erase(after->uid);
}

void Invariants::judge_taking(const std::string& name, const TrueNode& before,
                              const TrueNode& after) {
  const bool for_health = after.out_for_health && !before.out_for_health;
  if (!for_health && (!after.open() || !after.record->berth_cordoned))
    return complain("Cordon", name + " is cordoned without a record of it in the same write");
  if (is_old_news(before.held)) complain("Others", name + " is held, and is cordoned");
  if (is_old_news(before.others))
    complain("Others", name + " is being upgraded or deleted, and is cordoned");
  if (for_health) return;
  judge_budget(*after.record);
  judge_need(name, before, *after.record);
  judge_capacity(name, before);
}

// It skips nodes whose label has changed since: only mig-manager knows their state.
void Invariants::judge_need(const std::string& name, const TrueNode& before,
                            const NodeRollout& record) {
  const auto layout = truth_.layouts.find(record.layout_uid);
  const auto gpus = before.labels.find(names::kGpuCount);
  if (layout == truth_.layouts.end() || gpus == before.labels.end()) return;
  if (!before.config_as_found || before.state != "success" || before.offers_since > heard_until())
    return;
  std::map<std::string, std::int64_t> offers = before.offers;
  std::erase_if(offers, [](const auto& entry) { return entry.second == 0; });
  const bool is_right = std::ranges::all_of(
      layout->second.in_force_since(heard_until()), [&](const MIGLayoutSpec* spec) {
        return offers == promised(*spec, std::atoi(gpus->second.c_str()));
      });
  if (is_right)
    complain("Needed",
             fmt::format("{} is taken, and its GPUs are as {} asks", name, record.layout));
}

void Invariants::judge_budget(const NodeRollout& record) {
  const auto layout = truth_.layouts.find(record.layout_uid);
  if (layout == truth_.layouts.end()) return;
  std::int64_t out = 0;
  std::int64_t selected = 0;
  for (const auto& [other, node] : truth_.nodes) {
    // A node that was created with berth's cordon was not claimed.
    out += node.open() && !node.returned && node.record->berth_cordoned &&
           node.record->layout_uid == record.layout_uid;
    selected += truth_.selects(layout->second, node);
  }
  std::int64_t allowed = 0;
  for (const MIGLayoutSpec* spec : layout->second.in_force_since(heard_until()))
    allowed = std::max(allowed, spec->rollout.max_unavailable.of(selected));
  if (out > allowed)
    complain("Budget",
             fmt::format("{} nodes are out by berth, {} allows {}", out, record.layout, allowed));
}

// Compared with what berth can have known: a minimum that a user's cordon and berth's violate
// together is allowed.
void Invariants::judge_capacity(const std::string& name, const TrueNode& before) {
  const auto counted = [&](const TrueNode& node, const std::string& resource) {
    const auto offered = node.offered.find(resource);
    if (offered != node.offered.end() && !is_old_news(offered->second.second))
      return offered->second.first;
    const auto is = node.offers.find(resource);
    return is == node.offers.end() ? std::int64_t{0} : is->second;
  };
  for (const auto& [uid, layout] : truth_.layouts) {
    for (const auto& [resource, least] : layout.object.spec.capacity_guard.min_available) {
      if (!before.ready || counted(before, resource) == 0) continue;
      const auto known = layout.in_force_since(heard_until());
      const bool is_new = std::ranges::any_of(known, [&](const MIGLayoutSpec* spec) {
        return !spec->capacity_guard.min_available.contains(resource) ||
               spec->capacity_guard.min_available.at(resource) < least;
      });
      std::int64_t left = 0;
      for (const auto& [other, node] : truth_.nodes) {
        const bool by_berth = other == name || (node.cordoned && node.berth_cordoned);
        if (!by_berth && !is_old_news(node.out)) left += counted(node, resource);
      }
      if (left < least && !is_new)
        complain("Capacity", fmt::format("{} of {} are left with {} out, {} must be", left,
                                         resource, name, least));
    }
  }
}

void Invariants::judge_uncordon(const std::string& name, const TrueNode& before,
                                const TrueNode& after) {
  // berth can only know from the record whose cordon it is, even if a user edited the record.
  const bool misled = before.edited && before.record && before.record->berth_cordoned;
  if (!before.berth_cordoned && !misled)
    complain("Cordon", name + " was not cordoned by berth, and is uncordoned");
  if (before.held) complain("Cordon", name + " is held by a person, and is uncordoned");
  if (is_old_news(before.others))
    complain("Others", name + " is being upgraded or deleted, and is uncordoned");
  if (!before.open() || before.record->phase == RolloutPhase::kCordoned) return;
  if (before.state != "success")
    complain("Verified", fmt::format("{} returns and is {}", name, before.state));
  // berth counts from its decision about the label, and asked the guard before the label was sent.
  const auto sent = relabel_sent_.find(before.uid);
  MonotonicTime from = before.offers_since;
  if (sent != relabel_sent_.end())
    from = std::max(from, sent->second - std::min(news_takes(), kGuardTakes));
  if (clock_.now() - from < settings_.verify_for)
    complain("Verified", fmt::format("{} returns with {} too early", name, after.config));
}

void Invariants::judge_relabel(const std::string& name, const TrueNode& before,
                               const TrueNode& after) {
  relabel_sent_[after.uid] = sent_at_;
  if (!before.cordoned)
    complain("Relabel", fmt::format("{} gets {} while it is schedulable", name, after.config));
  if (!before.open() || !after.open())
    return complain("Relabel", fmt::format("{} gets {} and is not berth's", name, after.config));
  const bool first = before.record->phase == RolloutPhase::kCordoned;
  if (first && before.cordoned_at && clock_.now() - *before.cordoned_at < settings_.settle)
    complain("Relabel",
             fmt::format("{} gets {} before bindings in flight have landed", name, after.config));
  if (!after.state.empty())
    complain("Relabel",
             fmt::format("{} gets {} and keeps the state {}", name, after.config, after.state));
  for (const std::string& pod : truth_.tenants_on(name))
    complain("Relabel", fmt::format("{} gets {} under the GPU pod {}", name, after.config, pod));
  // No patch of a node can test another object. A config that a user removed a moment ago is still
  // mounted, and berth renders it again; berth does not believe a `failed` that soon.
  const bool edited = truth_.agent_file_edited && clock_.now() - *truth_.agent_file_edited <
                                                      (delayed_at_ ? kLateNewsTakes : kOnItsWay);
  if (truth_.agent_file.find(base_config(after.config)) == std::string::npos && !edited)
    complain("Relabel",
             fmt::format("{} gets {}, which the agents' file lacks", name, after.config));
  const NodeRollout& record = *after.record;
  std::set<std::string>& written = relabels_[after.uid];
  if (!written
           .insert(fmt::format("{} {} {} {}", record.seq, record.attempt, record.reasserts,
                               after.config))
           .second &&
      !before.edited)
    complain("Once", fmt::format("{} gets {} twice in one attempt", name, after.config));
  if ((first && is_old_news(before.held)) || is_old_news(before.others))
    complain("Others", fmt::format("{} is somebody else's, and gets {}", name, after.config));
  const auto layout = truth_.layouts.find(record.layout_uid);
  if (is_berth(before.config_writer) || layout == truth_.layouts.end()) return;
  const int times = ++overwritten_[fmt::format("{} {} {}", after.uid, record.layout_uid,
                                               layout->second.object.meta.generation)];
  if (times > kMaxOverwrites)
    complain("Others", fmt::format("mig.config of {} is fought over: {} times", name, times));
}

void Invariants::judge_fields(const Change& change) {
  const json* before = change.before.get();
  const json* after = change.after.get();
  const std::string& name = change.key.name;
  for (const std::string& key :
       changed_keys(at(before, {"metadata", "labels"}), at(after, {"metadata", "labels"}))) {
    const bool ours = key == names::kMigConfig ||
                      (key == names::kMigConfigState && label_at(after, key).empty()) ||
                      (key.starts_with(names::kDeployPrefix) &&
                       label_at(before, key) == names::kPausedForMigChange) ||
                      is_pool_item(before, after, {Text(key), {}});
    if (!ours) complain("Fields", fmt::format("{}: label {} changes", name, key));
  }
  for (const std::string& key : changed_keys(at(before, {"metadata", "annotations"}),
                                             at(after, {"metadata", "annotations"})))
    if (!key.starts_with("gpu.berth.dev/"))
      complain("Fields", fmt::format("{}: annotation {} changes", name, key));
  for (const std::string& key : changed_keys(at(before, {"spec"}), at(after, {"spec"})))
    if (key != "unschedulable" && key != "taints")
      complain("Fields", fmt::format("{}: spec.{} changes", name, key));
  if (!changed_keys(at(before, {"status"}), at(after, {"status"})).empty())
    complain("Fields", name + ": its status changes");
  if (at(after, {"metadata", "finalizers"}) != nullptr &&
      at(before, {"metadata", "finalizers"}) == nullptr)
    complain("Finalizer", name + " gets one");
}

}  // namespace berth::explore
