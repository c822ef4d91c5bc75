// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/mig_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/kinds/status_json.h"

namespace berth {
namespace {

using Json = StatusJson;

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

Json encode(const MIGLayoutStatus& status) {
  // Writes empty lists too, because a merge patch keeps fields that it does not name.
  Json json{{"observedGeneration", status.observed_generation},
            {"configHash", status.config_hash},
            {"configs", Json::array()},
            {"nodes", encode(status.nodes)},
            {"capacity", Json::object()},
            {"details", Json::array()},
            {"conditions", encode(status.conditions)}};
  for (const RenderedConfig& config : status.configs) {
    json["configs"].push_back({{"product", config.product}, {"name", config.name}});
  }
  for (const auto& [resource, count] : status.capacity) json["capacity"][resource] = count;
  std::size_t details = std::min(status.details.size(), limits::kMaxDetails);
  for (std::size_t i = 0; i < details; ++i) json["details"].push_back(encode(status.details[i]));
  return json;
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
  return dump_status_patch(read.meta, std::move(status));
}

}  // namespace berth
