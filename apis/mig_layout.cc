// SPDX-License-Identifier: Apache-2.0
#include "apis/mig_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

// The server refuses a longer message, and with it the whole status. Cut between characters, never
// inside one.
std::string clip(const std::string& message) {
  if (message.size() <= limits::kMaxMessage) return message;
  constexpr std::string_view kDots = "...";
  std::size_t end = limits::kMaxMessage - kDots.size();
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;
  return message.substr(0, end).append(kDots);
}

Json encode(const NodeCounts& nodes) {
  return Json{{"selected", nodes.selected},      {"updated", nodes.updated},
              {"inProgress", nodes.in_progress}, {"blocked", nodes.blocked},
              {"failed", nodes.failed},          {"pending", nodes.pending}};
}

Json encode(const NodeDetail& detail) {
  Json json{{"node", detail.node}, {"phase", detail.phase}};
  if (!detail.reason.empty()) json["reason"] = detail.reason;
  if (!detail.message.empty()) json["message"] = clip(detail.message);
  if (detail.since) json["since"] = format_time(*detail.since);
  return json;
}

Json encode(const Condition& condition) {
  return Json{{"type", condition.type},
              {"status", condition.status},
              {"observedGeneration", condition.observed_generation},
              {"lastTransitionTime", format_time(condition.last_transition_time)},
              {"reason", condition.reason},
              {"message", clip(condition.message)}};
}

Json encode(const MIGLayoutStatus& status) {
  // Empty lists are written out: a merge patch keeps what it does not name.
  Json json{{"observedGeneration", status.observed_generation},
            {"configHash", status.config_hash},
            {"configs", Json::array()},
            {"nodes", encode(status.nodes)},
            {"capacity", Json::object()},
            {"details", Json::array()},
            {"conditions", Json::array()}};
  for (const RenderedConfig& config : status.configs) {
    json["configs"].push_back({{"product", config.product}, {"name", config.name}});
  }
  for (const auto& [resource, count] : status.capacity) json["capacity"][resource] = count;
  std::size_t details = std::min(status.details.size(), limits::kMaxDetails);
  for (std::size_t i = 0; i < details; ++i) json["details"].push_back(encode(status.details[i]));
  for (const Condition& c : status.conditions) json["conditions"].push_back(encode(c));
  return json;
}

// A message may quote foreign bytes: what is no UTF-8 is replaced, never thrown over.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

const char* to_string(RolloutOrder value) {
  return value == RolloutOrder::kName ? "Name" : "LeastDisruption";
}
const char* to_string(FailurePolicy value) {
  return value == FailurePolicy::kRollback ? "Rollback" : "Halt";
}
const char* to_string(DrainScope value) {
  return value == DrainScope::kAllPods ? "AllPods" : "GPUPods";
}
const char* to_string(OnTimeout value) { return value == OnTimeout::kForce ? "Force" : "Abort"; }
const char* to_string(DeletionPolicy value) {
  return value == DeletionPolicy::kDisableMIG ? "DisableMIG" : "Retain";
}

std::string encode_status(const MIGLayoutStatus& status) { return dump(encode(status)); }

std::string encode_status_patch(const MIGLayout& read, const MIGLayoutStatus& after) {
  Json status = encode(after);
  for (const auto& [resource, count] : read.status.capacity) {
    if (after.capacity.count(resource) == 0) status["capacity"][resource] = nullptr;
  }
  Json meta{{"resourceVersion", read.meta.resource_version}};
  return dump(Json{{"metadata", std::move(meta)}, {"status", std::move(status)}});
}

}  // namespace berth
