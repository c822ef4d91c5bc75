// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/incident_table.h"

#include <algorithm>

namespace berth {
namespace {

using Target = IncidentVerb::Target;
using Type = IncidentArg::Type;

const IncidentArg kOn{.name = "on"};  // of several pods of a workload, the one on this node
const IncidentArg kSet{.name = "set", .type = Type::kTextMap, .required = true};
const std::vector<std::string> kFaults = {"none", "wedge",         "fail", "fail-labels-paused",
                                          "lie",  "stale-success", "slow", "reboot"};

const std::vector<std::string> kWrites = {"cordon", "mig.config",  "uncordon",
                                          "node",   "agents-file", "release"};

// clang-format off
const std::vector<IncidentVerb>& table() {
  static const std::vector<IncidentVerb> verbs = {
      // A user or another controller writes to the API server.
      {"apply", Target::kManifest, {}},
      {"delete", Target::kObject, {kOn}},
      {"edit", Target::kObject,
       {{.name = "patch", .type = Type::kObject, .required = true}, {.name = "subresource"}, kOn}},
      {"cordon", Target::kNodeOrAll, {}},
      {"uncordon", Target::kNodeOrAll, {}},
      {"label", Target::kNodeOrAll, {kSet}},
      {"annotate", Target::kNodeOrAll, {kSet}},
      {"hold", Target::kNodeOrAll, {{.name = "reason"}}},
      {"unhold", Target::kNodeOrAll, {}},
      {"evict", Target::kPod, {kOn}},
      // berth's replicas.
      {"crash", Target::kBerthOrAll, {}},
      {"freeze", Target::kBerthOrAll, {}},
      {"thaw", Target::kBerthOrAll, {}},
      {"terminate", Target::kBerthOrAll, {}},
      {"start", Target::kBerthOrAll, {}},
      {"set-clock", Target::kBerthOrAll,
       {{.name = "ahead", .type = Type::kDuration}, {.name = "behind", .type = Type::kDuration}}},
      // Machines and their workloads.
      {"agent-fault", Target::kNodeOrAll,
       {{.name = "fault", .type = Type::kChoice, .required = true, .words = kFaults},
        {.name = "times", .type = Type::kInteger}}},
      {"reboot", Target::kNodeOrAll, {}},
      {"gauges", Target::kNodeOrAll,
       {{.name = "gpu", .type = Type::kInteger}, {.name = "xid", .type = Type::kInteger},
        {.name = "temperature", .type = Type::kInteger},
        {.name = "doubleBitErrors", .type = Type::kInteger},
        {.name = "remapFailed", .type = Type::kInteger}, {.name = "lost", .type = Type::kInteger}}},
      {"forge", Target::kNodeOrAll,
       {{.name = "gpu", .type = Type::kInteger}, {.name = "xid", .type = Type::kInteger},
        {.name = "temperature", .type = Type::kInteger},
        {.name = "doubleBitErrors", .type = Type::kInteger},
        {.name = "remapFailed", .type = Type::kInteger}}},
      {"use", Target::kPod,
       {{.name = "percent", .type = Type::kInteger, .required = true, .least = 0, .most = 100}}},
      {"stop-exporter", Target::kNodeOrAll, {}},
      {"start-exporter", Target::kNodeOrAll, {}},
      {"stop-kubelet", Target::kNodeOrAll, {}},
      {"start-kubelet", Target::kNodeOrAll, {}},
      {"hang-pod", Target::kPod, {kOn}},
      {"finish-pod", Target::kPod,
       {kOn, {.name = "result", .type = Type::kChoice, .words = {"Succeeded", "Failed"}}}},
      {"add-node", Target::kNewNode,
       {{.name = "product"}, {.name = "gpus", .type = Type::kInteger},
        {.name = "labels", .type = Type::kTextMap}}},
      {"remove-node", Target::kNode, {}},
      {"recreate-node", Target::kNode,
       {{.name = "as", .type = Type::kChoice, .words = {"new", "saved"}}}},
      // The API server and the network to it.
      {"compact", Target::kNone, {}},
      {"backup", Target::kNone, {}},
      {"restore", Target::kNone, {}},
      {"break-watches", Target::kBerthOrAll, {}},
      {"lag", Target::kBerthOrAll, {{.name = "by", .type = Type::kDuration, .required = true}}},
      {"stall", Target::kBerthOrAll,
       {{.name = "by", .type = Type::kDuration, .required = true},
        {.name = "for", .type = Type::kDuration, .required = true}}},
      {"outage", Target::kBerthOrAll,
       {{.name = "for", .type = Type::kDuration, .required = true},
        {.name = "code", .type = Type::kInteger}}},
      {"refuse", Target::kBerthOrAll,
       {{.name = "write", .type = Type::kChoice, .required = true, .words = kWrites},
        {.name = "of"},
        {.name = "for", .type = Type::kDuration, .required = true}}},
  };
  return verbs;
}
// clang-format on

}  // namespace

std::span<const IncidentVerb> incident_verbs() { return table(); }

const IncidentVerb* find_incident_verb(std::string_view name) {
  auto it = std::ranges::find(table(), name, &IncidentVerb::name);
  return it == table().end() ? nullptr : &*it;
}

}  // namespace berth
