// SPDX-License-Identifier: Apache-2.0
// A layout's lines: changes of its counters, its conditions, and nodes that need a user's action.
// For the policy and queues only the conditions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apis/base/reasons.h"
#include "controller/scenario/story.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

// Reasons that end by themselves are already in the counters.
bool worth_telling(std::string_view reason) {
  static constexpr std::array kTold = {std::string_view(reasons::kAgentNotConfigured),
                                       std::string_view(reasons::kCapacityGuard),
                                       std::string_view(reasons::kContested),
                                       std::string_view(reasons::kDoNotDisrupt),
                                       std::string_view(reasons::kDraNode),
                                       std::string_view(reasons::kEvictionForbidden),
                                       std::string_view(reasons::kHeld),
                                       std::string_view(reasons::kInvalidLayout),
                                       std::string_view(reasons::kInventoryUnknown),
                                       std::string_view(reasons::kJobRunning),
                                       std::string_view(reasons::kLastProvider),
                                       std::string_view(reasons::kLocalStorage),
                                       std::string_view(reasons::kOwnerWouldFail),
                                       std::string_view(reasons::kMigManagerMissing),
                                       std::string_view(reasons::kPodDisruptionBudget),
                                       std::string_view(reasons::kUnknownProduct),
                                       std::string_view(reasons::kUnmanagedPod),
                                       std::string_view(reasons::kBackingOff),
                                       std::string_view(reasons::kNodeNotReady),
                                       std::string_view(reasons::kUpgradeInProgress),
                                       std::string_view(reasons::kVirtualMachineNode),
                                       std::string_view(reasons::kAutoscalerDeleting),
                                       std::string_view(reasons::kLateBinding)};
  return std::ranges::find(kTold, reason) != kTold.end();
}

std::int64_t count(const json& layout, const char* which) {
  return sim::integer_at(layout, {"status", "nodes", which}).value_or(0);
}

std::string counters(const json& layout) {
  std::string text =
      fmt::format("{} of {} nodes updated", count(layout, "updated"), count(layout, "selected"));
  constexpr std::array<std::pair<const char*, const char*>, 4> kRest = {
      {{"inProgress", "in progress"},
       {"blocked", "blocked"},
       {"failed", "failed"},
       {"pending", "waiting"}}};
  for (const auto& [field, word] : kRest)
    if (count(layout, field) > 0) text += fmt::format(", {} {}", count(layout, field), word);
  return text;
}

const json& list_at(const json& layout, const char* field) {
  static const json kNothing = json::array();
  const json* list = sim::find_at(layout, {"status", field});
  return list == nullptr || !list->is_array() ? kNothing : *list;
}

const json* entry(const json& list, const char* key, const std::string& value) {
  for (const json& item : list)
    if (text_at(item, {key}) == value) return &item;
  return nullptr;
}

// For Ready only its final states, not each step, unless the layout itself is wrong.
bool ready_worth_telling(const json& condition, const json* old) {
  static constexpr std::array kOfTheLayout = {
      std::string_view(reasons::kInvalidSpec),   std::string_view(reasons::kNoNodesSelected),
      std::string_view(reasons::kNodeFailed),    std::string_view(reasons::kAgentConfigTooLarge),
      std::string_view(reasons::kInvalidLayout), std::string_view(reasons::kPaused)};
  const std::string reason = text_at(condition, {"reason"});
  if (old != nullptr && text_at(*old, {"reason"}) == reason) return false;
  const std::string was = old == nullptr ? "False" : text_at(*old, {"status"});
  return was != text_at(condition, {"status"}) ||
         std::ranges::find(kOfTheLayout, reason) != kOfTheLayout.end();
}

// Why there is no progress, in the words of the transcript; empty while there is.
std::string obstacle_in(const json& conditions) {
  // Also the policy's reasons for progress.
  static constexpr std::array kMoving = {
      std::string_view(reasons::kRollingOut), std::string_view(reasons::kDeleting),
      std::string_view("Labelling"), std::string_view("PluginRollout"),
      std::string_view("Retreating")};
  if (const json* stalled = entry(conditions, "type", "Stalled"); stalled != nullptr)
    return "is Stalled: " + text_at(*stalled, {"reason"});
  const json* going = entry(conditions, "type", "Reconciling");
  const std::string reason = going == nullptr ? "" : text_at(*going, {"reason"});
  const bool moves = std::ranges::find(kMoving, reason) != kMoving.end();
  return reason.empty() || moves ? "" : "waits: " + reason;
}

void tell_conditions(const std::string& name, const json& before, const json& after, Story& story) {
  const json& was = list_at(before, "conditions");
  const json& is = list_at(after, "conditions");
  if (const json* ready = entry(is, "type", "Ready"); ready != nullptr)
    if (ready_worth_telling(*ready, entry(was, "type", "Ready")))
      story.push_back(
          {name, fmt::format("Ready is {} ({}): {}", text_at(*ready, {"status"}),
                             text_at(*ready, {"reason"}), text_at(*ready, {"message"}))});
  const std::string obstacle = obstacle_in(is);
  const std::string before_that = obstacle_in(was);
  if (obstacle != before_that)
    story.push_back({name, obstacle.empty() ? std::string("continues") : obstacle});
}

void tell_details(const json& before, const json& after, Story& story) {
  for (const json& detail : list_at(after, "details")) {
    const std::string node = text_at(detail, {"node"});
    const std::string reason = text_at(detail, {"reason"});
    if (!worth_telling(reason)) continue;
    const json* old = entry(list_at(before, "details"), "node", node);
    if (old != nullptr && text_at(*old, {"reason"}) == reason) continue;
    story.push_back({node, fmt::format("waits ({}): {}", reason, text_at(detail, {"message"}))});
  }
}

}  // namespace

Story tell_conditioned(const sim::Change& change) {
  const std::string& name = change.key.name;
  if (change.kind == sim::Change::Kind::kDeleted) return {{name, "is gone"}};
  if (change.kind == sim::Change::Kind::kAdded) return {};
  Story story;
  if (const std::string text = counters(*change.after);
      text != counters(*change.before) && count(*change.after, "selected") > 0)
    story.push_back({name, text});
  tell_conditions(name, *change.before, *change.after, story);
  tell_details(*change.before, *change.after, story);
  return story;
}

}  // namespace berth
