// SPDX-License-Identifier: Apache-2.0
// Scenario: a cluster, what runs on it and what happens to it, as a YAML file tells it. People play
// them with `berth simulate -f`; the exploration plays the same files with faults in between.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "controller/core/settings.h"
#include "controller/core/time_zones.h"
#include "controller/runtime/leader_election.h"
#include "controller/scenario/webhook_objects.h"
#include "controller/sim/gpu_agents.h"
#include "controller/sim/kube_actors.h"

namespace berth {

struct ScenarioNodes {
  int count = 1;
  bool numbered = true;  // false: one node of exactly this name
  sim::GpuNode like;     // name is the prefix: "n" makes n1, n2, …
};

struct ScenarioWorkload {
  enum class Kind { kReplicaSet, kJob, kPod };
  Kind kind = Kind::kReplicaSet;
  std::string namespace_ = "team-a";
  std::string name;
  int replicas = 1;
  std::string resource = "nvidia.com/gpu";
  int count = 1;  // of the resource, per pod; 0: none
  std::map<std::string, std::string> node_selector;
  std::map<std::string, std::string> labels;       // of the pods, beside app: NAME
  std::map<std::string, std::string> annotations;  // of the pods
  bool tolerates_gpu = true;
  std::string budget;  // "minAvailable: 1", "maxUnavailable: 0"; empty: no PodDisruptionBudget
};

// berth's webhook, as the chart installs it. It is asked from the beginning of the timeline.
struct ScenarioWebhook {
  int replicas = 0;      // 0: none is installed
  bool ignored = false;  // failurePolicy: Ignore
  // Another webhook changes each object after it, so it is asked twice.
  bool reinvoked = false;
  std::chrono::milliseconds timeout = std::chrono::seconds(3);
};

// One thing that happens. Verbs and what they take stand in docs/simulation.md.
struct Incident {
  // Either a time since the start, or the first moment a node enters this rollout phase; then
  // `after` later.
  std::optional<std::chrono::milliseconds> at;
  std::string when_phase;  // "Draining", "Applying", …; with `node` of that node only
  std::chrono::milliseconds after{0};
  std::string verb;  // "apply", "delete", "cordon", "crash", …
  // "node/n1", "berth/0", "webhook/0", "pod/team-a/x", of other kinds the plural:
  // "miglayouts/a100". "node/all", "berth/all" and "webhook/all" are each of them, "berth/leader"
  // the one that leads just then; empty where a verb needs none.
  std::string target;
  std::map<std::string, std::string> args;  // maps and patches as JSON
  std::string manifest;                     // of apply: YAML, as kubectl would get it
};

struct Scenario {
  std::string name;
  std::string description;
  std::vector<ScenarioNodes> nodes;
  std::vector<ScenarioWorkload> workloads;
  // JSON, created before berth starts, ConfigMaps before there are nodes. An owner reference
  // without a uid gets that of its owner.
  std::vector<std::string> objects;
  std::vector<Incident> timeline;
  sim::KubeOptions kube;
  sim::GpuAgentOptions agents;
  Settings settings;  // of berth
  // Set: there is a webhook, and berth keeps its certificates.
  std::optional<ScenarioCertificates> certificates;
  const TimeZones* zones = &utc_only();  // outlives the run
  int berths = 1;
  LeaseOptions lease;  // of each replica, which says whose it is
  ScenarioWebhook webhook;
  bool prometheus = false;    // there is one, whatever its address, and it has what GPUs show
  bool history = false;       // berth keeps one, as it does in a cluster
  bool queue_policy = false;  // the chart's, from the beginning of the timeline
  std::chrono::milliseconds limit = std::chrono::hours(4);  // simulated; past it, it has not ended
  // So long nothing moves before it is given up though the limit has not passed.
  std::chrono::milliseconds patience = std::chrono::hours(4);
  // What must hold at the end: layout, or "gpuclusterpolicy/cluster" → Ready's status and perhaps
  // its reason ("True", "False InvalidGeometry"). Empty: all that is left is Ready.
  std::map<std::string, std::string> expect;
};

// The names of its nodes, in order.
std::vector<std::string> node_names(const ScenarioNodes& nodes);

// `source` is the file's path: errors name it, one line each with line, field and what to write,
// and `file:` of an apply is looked for beside it.
Result<Scenario> parse_scenario(std::string_view yaml, const std::string& source);

}  // namespace berth
