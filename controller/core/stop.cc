// SPDX-License-Identifier: Apache-2.0
#include "controller/core/stop.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/cut.h"
#include "apis/base/names.h"
#include "apis/base/printable.h"
#include "apis/base/reasons.h"
#include "controller/core/conditions.h"
#include "controller/core/flat_json.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

// So that both fit into a condition's message with the rest.
constexpr std::size_t kLongestReason = 100;
constexpr std::size_t kLongestName = 50;

std::optional<Stop> described_by(const ObjectMeta& meta) {
  const Text* text = meta.annotations.find(names::kStopAnnotation);
  return text != nullptr ? std::optional(decode_stop(text->view())) : std::nullopt;
}

std::optional<Stop> stop_by(const GPUClusterPolicy* policy) {
  if (policy == nullptr || policy->spec.operations != Operations::kStopped) return std::nullopt;
  return described_by(policy->meta).value_or(Stop());
}

std::optional<Stop> stop_by(const Namespace* one, const Settings& settings) {
  if (one == nullptr || one->meta.name != settings.berth_namespace) return std::nullopt;
  return described_by(one->meta);
}

std::string describe(const Stop& stop) {
  std::string text = "berth is stopped";
  if (stop.since) text += " since " + format_time(*stop.since);
  if (!stop.by.empty()) text += " by " + cut(printable(stop.by), kLongestName);
  if (!stop.reason.empty()) text += ": " + cut(printable(stop.reason), kLongestReason);
  return text + "; `berth resume` ends the stop";
}

}  // namespace

Stop decode_stop(std::string_view text) {
  if (std::optional<FlatJson> json = FlatJson::parse(text)) {
    Stop stop{.reason = json->string("reason"), .by = json->string("by")};
    if (const Result<Time> since = parse_time(json->string("since"))) stop.since = *since;
    if (!json->wrong()) return stop;
  }
  return {.reason = std::string(text)};
}

std::string encode_stop(const Stop& stop) {
  return fmt::format(R"({{"reason":{},"by":{}{}}})", flat_json_string(stop.reason),
                     flat_json_string(stop.by),
                     stop.since ? fmt::format(R"(,"since":"{}")", format_time(*stop.since)) : "");
}

std::optional<Stop> stop_of(const ClusterState& cluster, const Settings& settings) {
  const GPUClusterPolicy* policy = cluster.gpu_policies().find(limits::kPolicyName);
  const Namespace* own = cluster.namespaces().find(settings.berth_namespace);
  if (const auto stop = stop_by(policy)) return stop;
  return stop_by(own, settings);
}

bool is_stopped(const Snapshot& snapshot) {
  if (seeded(SeededBug::kIgnoreStop)) return false;
  return stop_of(snapshot.cluster, snapshot.settings).has_value();
}

std::optional<Cause> why_stopped(const Snapshot& snapshot) {
  const std::optional<Stop> stop = stop_of(snapshot.cluster, snapshot.settings);
  if (!stop) return std::nullopt;
  return Cause{reasons::kOperationsStopped, describe(*stop)};
}

void add_stopped(const Snapshot& snapshot, std::int64_t generation,
                 std::vector<Condition>& conditions) {
  if (const std::optional<Cause> why = why_stopped(snapshot))
    conditions.push_back({kStoppedCondition, "True", why->reason,
                          cut_before_advice(why->message, limits::kMaxMessage), generation,
                          snapshot.now});
}

Figures stop_figures(const ClusterState& cluster, const Settings& settings) {
  Figure stopped{"berth_operations_stopped",
                 "1 while the emergency stop keeps berth from taking nodes and pods away, else 0."};
  stopped.add({}, stop_of(cluster, settings) ? 1 : 0);
  return {std::move(stopped)};
}

bool changes_stop(const Settings&, const GPUClusterPolicy* old, const GPUClusterPolicy* now) {
  return stop_by(old) != stop_by(now);
}

bool changes_stop(const Settings& settings, const Namespace* old, const Namespace* now) {
  return stop_by(old, settings) != stop_by(now, settings);
}

}  // namespace berth
