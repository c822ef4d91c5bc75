// SPDX-License-Identifier: Apache-2.0
// A node's lines: phases of its rollout, mig-manager's states, its resources, and changes by
// others.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "apis/base/int_or_percent.h"
#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/scenario/gpu_pods.h"
#include "controller/scenario/phases.h"
#include "controller/scenario/story.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

bool unschedulable(const json& node) { return sim::true_at(node, {"spec", "unschedulable"}); }

std::string label(const json& node, const char* name) {
  return text_at(node, {"metadata", "labels", name});
}

std::string ready(const json& node) {
  const json* conditions = sim::find_at(node, {"status", "conditions"});
  if (conditions == nullptr) return "";
  for (const json& condition : *conditions)
    if (text_at(condition, {"type"}) == "Ready") return text_at(condition, {"status"});
  return "";
}

// "slot 1 of 2": how many of the allowed nodes are out of service.
std::string slot_text(const sim::Store& store, const Settings& settings,
                      const std::string& layout_name) {
  const sim::ObjectPtr ledger = store.find(
      {sim::find_resource_type("configmaps"), settings.berth_namespace, names::kSlotsConfigMap});
  const sim::ObjectPtr layout =
      store.find({sim::find_resource_type("miglayouts"), "", layout_name});
  const json* slots = ledger ? sim::find_at(*ledger, {"data"}) : nullptr;
  if (slots == nullptr || layout == nullptr) return "";
  IntOrPercent budget;
  if (const json* value = sim::find_at(*layout, {"spec", "rollout", "maxUnavailable"})) {
    const Result<IntOrPercent> parsed =
        IntOrPercent::parse(value->is_string() ? value->get<std::string>() : value->dump());
    if (parsed) budget = *parsed;
  }
  const auto selected = sim::integer_at(*layout, {"status", "nodes", "selected"});
  return fmt::format(" (slot {} of {})", slots->size(), budget.of(selected.value_or(1)));
}

class NodeStory {
 public:
  NodeStory(const sim::Change& change, const sim::Store& store, const Settings& settings)
      : store_(store),
        settings_(settings),
        user_(change.user),
        name_(change.key.name),
        before_(*change.before),
        after_(*change.after) {}

  Story tell() {
    tell_rollout();
    if (!cordon_told_ && unschedulable(before_) != unschedulable(after_) && !by_person())
      say("{} by {}", unschedulable(after_) ? "cordoned" : "uncordoned", who(user_));
    tell_labels();
    tell_status();
    return std::move(story_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    story_.push_back({name_, fmt::format(text, std::forward<Args>(args)...)});
  }

  bool by_person() const { return user_ == "person"; }

  void tell_rollout() {
    const RolloutRecord old = rollout_of(before_);
    const RolloutRecord now = rollout_of(after_);
    if (old.text == now.text || !now.rollout) return;
    const RolloutPhase from = old.rollout ? old.rollout->phase : RolloutPhase::kIdle;
    const NodeRollout& r = *now.rollout;
    if (from == r.phase) return;  // an event describes a further attempt
    switch (r.phase) {
      case RolloutPhase::kCordoned:
        return tell_taken(r);
      case RolloutPhase::kApplying:
        return say("empty after {}: {} becomes {}", span(r.taken.value_or(r.since), r.since),
                   names::kMigConfig, label(after_, names::kMigConfig));
      case RolloutPhase::kRollingBack:
        return say("rolls back: {} becomes {}", names::kMigConfig,
                   label(after_, names::kMigConfig));
      case RolloutPhase::kFailed:
        return say("given up by berth, stays cordoned: {}", r.why);
      case RolloutPhase::kIdle:
        return tell_returned(from, *old.rollout);
    }
  }

  void tell_taken(const NodeRollout& r) {
    cordon_told_ = true;
    const std::string slot = slot_text(store_, settings_, r.layout);
    if (r.berth_cordoned)
      say("cordoned by berth for layout {}{}", r.layout, slot);
    else
      say("taken by berth for layout {}{}; cordoned before, it stays so", r.layout, slot);
  }

  // If the node is put back unchanged, the event gives the reason.
  void tell_returned(RolloutPhase from, const NodeRollout& old) {
    if (from == RolloutPhase::kCordoned || from == RolloutPhase::kIdle) return;
    const bool uncordoned = unschedulable(before_) && !unschedulable(after_);
    cordon_told_ = uncordoned;
    if (from == RolloutPhase::kFailed) return say("released by berth");
    const char* what = from == RolloutPhase::kRollingBack ? "rolled back and verified" : "verified";
    say("{}: {}", what,
        uncordoned           ? "uncordoned by berth, in service again"
        : old.berth_cordoned ? "in service again"
                             : "stays cordoned, as berth found it");
  }

  static std::string span(Time from, Time to) {
    const auto ms = std::chrono::duration_cast<Duration>(to - from);
    return format_duration_short(std::chrono::round<std::chrono::seconds>(ms));
  }

  void tell_labels() {
    const std::string state = label(after_, names::kMigConfigState);
    if (state != label(before_, names::kMigConfigState) && !state.empty() && !by_person())
      say("mig-manager: {}", state);
    const std::string config = label(after_, names::kMigConfig);
    if (config != label(before_, names::kMigConfig) && !user_.starts_with("berth") && !by_person())
      say("{} becomes {}, by {}", names::kMigConfig, config, user_);
    if (!by_person()) tell_pool();
  }

  void tell_pool() {
    const std::string pool = label(after_, names::kPoolLabel);
    const std::string was = label(before_, names::kPoolLabel);
    if (pool != was && pool.empty()) say("leaves pool {}", was);
    if (pool != was && !pool.empty()) say("enters pool {}", pool);
    const std::string plugin = label(after_, names::kDevicePluginConfig);
    if (plugin != label(before_, names::kDevicePluginConfig))
      say("{} becomes {}", names::kDevicePluginConfig, plugin.empty() ? "the default" : plugin);
  }

  void tell_status() {
    const std::string offers = devices_of_node(after_);
    if (offers != devices_of_node(before_)) say("{}{}", kOffers, offers);
    const std::string is = ready(after_), was = ready(before_);
    if (is != was && !was.empty()) say("{}", is == "True" ? "is Ready again" : "is NotReady");
    const std::string boot = text_at(after_, {"status", "nodeInfo", "bootID"});
    const std::string booted = text_at(before_, {"status", "nodeInfo", "bootID"});
    if (boot != booted && !booted.empty()) say("has rebooted");
  }

  const sim::Store& store_;
  const Settings& settings_;
  const std::string& user_;
  const std::string& name_;
  const json& before_;
  const json& after_;
  Story story_;
  bool cordon_told_ = false;
};

}  // namespace

Story tell_node(const sim::Change& change, const sim::Store& store, const Settings& settings) {
  if (change.kind == sim::Change::Kind::kModified) return NodeStory(change, store, settings).tell();
  if (change.kind == sim::Change::Kind::kDeleted) return {{change.key.name, "is gone"}};
  return {
      {change.key.name, fmt::format("is new: {} with {}", label(*change.after, names::kGpuProduct),
                                    devices_of_node(*change.after))}};
}

}  // namespace berth
