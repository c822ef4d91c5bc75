// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/gpu_cluster_policy.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/kinds/status_json.h"

namespace berth {
namespace {

using Json = StatusJson;

Json encode(const PolicyTotals& totals) {
  Json json{{"pools", totals.pools},
            {"nodes", totals.nodes},
            {"gpus", totals.gpus},
            {"allocated", totals.allocated}};
  if (totals.idle_gpus) json["idleGPUs"] = *totals.idle_gpus;
  if (totals.reclaimed) json["reclaimed"] = *totals.reclaimed;
  if (totals.unhealthy_nodes) json["unhealthyNodes"] = *totals.unhealthy_nodes;
  if (totals.cordoned_nodes > 0) json["cordonedNodes"] = totals.cordoned_nodes;
  json["conflicts"] = totals.conflicts;
  if (!totals.monthly_waste.empty()) json["monthlyWaste"] = totals.monthly_waste;
  return json;
}

Json encode(const PoolStatus& pool) {
  Json json{{"name", pool.name},
            {"nodes", pool.nodes},
            {"gpus", pool.gpus},
            {"allocated", pool.allocated},
            {"sharedBy", pool.shared_by}};
  if (pool.utilization) json["utilization"] = *pool.utilization;
  if (pool.idle_gpus) json["idleGPUs"] = *pool.idle_gpus;
  if (!pool.monthly_waste.empty()) json["monthlyWaste"] = pool.monthly_waste;
  return json;
}

Json encode(const DisruptionStatus& disruption) {
  Json json{{"open", disruption.open}};
  if (disruption.next_opening) json["nextOpening"] = format_time(*disruption.next_opening);
  if (disruption.closes) json["closes"] = format_time(*disruption.closes);
  return json;
}

Json encode(const GPUClusterPolicyStatus& status) {
  // Writes empty lists too, because a merge patch keeps fields that it does not name.
  Json json{{"observedGeneration", status.observed_generation},
            {"totals", encode(status.totals)},
            {"pools", Json::array()},
            {"conflicts", Json::array()},
            {"disruption", encode(status.disruption)},
            {"conditions", encode(status.conditions)}};
  for (const PoolStatus& pool : status.pools) json["pools"].push_back(encode(pool));
  std::size_t conflicts = std::min(status.conflicts.size(), limits::kMaxConflicts);
  for (std::size_t i = 0; i < conflicts; ++i) {
    const PoolConflict& conflict = status.conflicts[i];
    json["conflicts"].push_back({{"node", conflict.node}, {"pools", conflict.pools}});
  }
  return json;
}

// Sets fields to null that the status had when it was read and that it no longer has.
void clear_gone(const Json& read, Json& after) {
  for (auto it = read.begin(); it != read.end(); ++it) {
    if (!after.contains(it.key())) after[it.key()] = nullptr;
  }
}

}  // namespace

const char* to_string(SharingStrategy value) {
  switch (value) {
    case SharingStrategy::kTimeSlicing:
      return "TimeSlicing";
    case SharingStrategy::kMPS:
      return "MPS";
    default:
      return "None";
  }
}

const char* to_string(PluginMigStrategy value) {
  switch (value) {
    case PluginMigStrategy::kSingle:
      return "single";
    case PluginMigStrategy::kMixed:
      return "mixed";
    default:
      return "none";
  }
}

const char* to_string(CapacityType value) {
  switch (value) {
    case CapacityType::kSpot:
      return "Spot";
    case CapacityType::kReserved:
      return "Reserved";
    default:
      return "OnDemand";
  }
}

const char* to_string(Enforcement value) {
  switch (value) {
    case Enforcement::kWarn:
      return "Warn";
    case Enforcement::kOff:
      return "Off";
    default:
      return "Enforce";
  }
}

const char* to_string(Permission value) { return value == Permission::kAllow ? "Allow" : "Refuse"; }

const char* to_string(PodReplacement value) {
  return value == PodReplacement::kAny ? "Any" : "Failed";
}

const char* to_string(PolicyDeletion value) {
  return value == PolicyDeletion::kRemove ? "Remove" : "Retain";
}

const char* to_string(Operations value) {
  return value == Operations::kStopped ? "Stopped" : "Normal";
}

const char* to_string(IdlePolicy value) {
  switch (value) {
    case IdlePolicy::kNotify:
      return "Notify";
    case IdlePolicy::kOnPressure:
      return "OnPressure";
    case IdlePolicy::kAlways:
      return "Always";
    default:
      return "Observe";
  }
}

const char* to_string(XidPolicy value) {
  return value == XidPolicy::kIgnore ? "Ignore" : "Default";
}

const char* to_string(HealthAction value) {
  switch (value) {
    case HealthAction::kReport:
      return "Report";
    case HealthAction::kDrain:
      return "Drain";
    default:
      return "Cordon";
  }
}

std::string encode_status(const GPUClusterPolicyStatus& status) { return dump(encode(status)); }

std::string encode_status_patch(const GPUClusterPolicy& read, const GPUClusterPolicyStatus& after) {
  Json status = encode(after);
  clear_gone(encode(read.status.totals), status["totals"]);
  clear_gone(encode(read.status.disruption), status["disruption"]);
  return dump_status_patch(read.meta, std::move(status));
}

}  // namespace berth
