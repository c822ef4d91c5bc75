// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/text_under_way.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <string_view>
#include <vector>

namespace berth {
namespace {

std::string change_of(const NodeChange& node) {
  return fmt::format("{} → {}", node.from.empty() ? "(none)" : node.from, node.to);
}

// Its GPUs are being repartitioned, or already are.
bool is_cut(const InHand& stood) {
  return stood.phase == "Applying" || stood.phase == "Retrying" || stood.phase == "Verifying" ||
         stood.phase == "RollingBack";
}

std::string doing(const NodeChange& node) {
  const InHand& stood = *node.in_hand;
  if (stood.phase == "Draining") return "being drained";
  if (stood.phase == "Applying") return fmt::format("being repartitioned to {}", stood.config);
  if (stood.phase == "Retrying") return fmt::format("waiting to try {} again", stood.config);
  if (stood.phase == "Verifying") return "being verified";
  if (stood.phase == "RollingBack") return fmt::format("being rolled back to {}", stood.config);
  if (stood.phase == "Failed") return "failed";
  return stood.phase == "Waiting" ? "taken" : "cordoned";
}

std::string when(Time since, Time today) {
  const std::string text = format_time(since);
  const bool same_day =
      std::chrono::floor<std::chrono::days>(since) == std::chrono::floor<std::chrono::days>(today);
  return same_day ? text.substr(text.find('T') + 1) : text;
}

// The results may point into `change` and `node`, which must outlive them.
std::vector<std::string_view> steps_to_the_end(const NodeChange& node, std::string_view change) {
  std::vector<std::string_view> steps;
  if (!is_cut(*node.in_hand) || node.to != node.in_hand->config) steps.push_back(change);
  if (node.in_hand->phase == "Applying" || node.in_hand->phase == "Retrying")
    steps.push_back("verified");
  if (!node.was_out) steps.push_back("back in service");
  return steps;
}

std::string next(const NodeChange& node) {
  const std::string stays = node.was_out ? "; stays cordoned, as it was before" : "";
  switch (node.outcome) {
    case NodeChange::Outcome::kRepartitioned: {
      const std::string change = change_of(node);
      const std::vector<std::string_view> steps = steps_to_the_end(node, change);
      if (steps.empty()) return stays;
      if (steps.size() == 1) return fmt::format(", {} next{}", steps.front(), stays);
      return fmt::format(", then {}{}", fmt::join(steps, ", then "), stays);
    }
    case NodeChange::Outcome::kPutBack:
      return fmt::format(", then {} unchanged{}{}{}", node.was_out ? "given up" : "back in service",
                         node.in_hand->cause.message.empty() ? "" : ": ",
                         node.in_hand->cause.message, stays);
    case NodeChange::Outcome::kUnfinished:
      break;
  }
  return fmt::format(", stays out of service: {}", node.in_hand->cause.message);
}

}  // namespace

std::string tell_under_way(const NodeChange& node, Time today) {
  return fmt::format("{} since {}{}", doing(node), when(node.in_hand->since, today), next(node));
}

}  // namespace berth
