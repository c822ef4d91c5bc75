// SPDX-License-Identifier: Apache-2.0
// Scenario: a cluster, its workloads and a timeline, from a YAML file. Users play it with `berth
// simulate -f`. The exploration plays the same files and adds faults.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/core/settings.h"
#include "controller/core/time_zones.h"
#include "controller/runtime/leader_election.h"
#include "controller/scenario/webhook_objects.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/nvidia/gpu_agents.h"

namespace berth {

struct ScenarioNodes {
  int count = 1;
  bool numbered = true;  // false: one node of exactly this name
  sim::GpuNode like;     // its name is the prefix: "n" makes n1, n2, …
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
  std::map<std::string, std::string> labels;       // of the pods, in addition to app: NAME
  std::map<std::string, std::string> annotations;  // of the pods
  bool tolerates_gpu = true;
  std::string budget;  // "minAvailable: 1", "maxUnavailable: 0"; empty: no PodDisruptionBudget
};

// berth's webhook, as the chart installs it. The server asks it from the start of the timeline.
struct ScenarioWebhook {
  int replicas = 0;      // 0: none is installed
  bool ignored = false;  // failurePolicy: Ignore
  // Another webhook changes each object after it, so the server asks it twice.
  bool reinvoked = false;
  std::chrono::milliseconds timeout = std::chrono::seconds(3);
};

// One event of the timeline. docs/simulation.md describes the verbs and their arguments.
struct Incident {
  // Either a time since the start, or the first moment when a node enters this rollout phase, plus
  // `after`.
  std::optional<std::chrono::milliseconds> at;
  std::string when_phase;  // "Draining", "Applying", …; with `node` only for that node
  std::chrono::milliseconds after{0};
  std::string verb;  // "apply", "delete", "cordon", "crash", …
  // "node/n1", "berth/0", "webhook/0", "pod/team-a/x"; for other kinds the plural:
  // "miglayouts/a100". "node/all", "berth/all" and "webhook/all" mean each of them. "berth/leader"
  // means the present leader. Empty for a verb without a target.
  std::string target;
  std::map<std::string, std::string> args;  // maps and patches as JSON
  std::string manifest;                     // for apply: YAML, as kubectl gets it
};

struct Scenario {
  std::string name;
  std::string description;
  std::vector<ScenarioNodes> nodes;
  std::vector<ScenarioWorkload> workloads;
  // JSON of objects to create before berth starts, ConfigMaps before the nodes. An owner reference
  // without a uid gets its owner's.
  std::vector<std::string> objects;
  std::vector<Incident> timeline;
  sim::KubeOptions kube;
  sim::GpuAgentOptions agents;
  Settings settings;  // of berth
  // If set: there is a webhook, and berth manages its certificates.
  std::optional<ScenarioCertificates> certificates;
  const TimeZones* zones = &utc_only();  // must outlive the run
  int berths = 1;
  LeaseOptions lease;  // of each replica, which sets its own identity
  ScenarioWebhook webhook;
  bool prometheus = false;    // a Prometheus with the GPUs' metrics exists at any address
  bool history = false;       // berth keeps its history, as in a real cluster
  bool queue_policy = false;  // the chart's policies, from the start of the timeline
  // simulated time; after it the scenario has failed to end
  std::chrono::milliseconds limit = std::chrono::hours(4);
  // If nothing changes for this long, the run stops before the limit.
  std::chrono::milliseconds patience = std::chrono::hours(4);
  // Expectations for the end: layout or "gpuclusterpolicy/cluster" → status of Ready and maybe its
  // reason ("True", "False InvalidGeometry"). Empty: all remaining objects must be Ready.
  std::map<std::string, std::string> expect;
};

// The names of its nodes, in order.
std::vector<std::string> node_names(const ScenarioNodes& nodes);

// `source` is the file's path. Errors name it, one line each with line, field and what to write.
// `file:` of an apply is relative to its folder.
Result<Scenario> parse_scenario(std::string_view yaml, const std::string& source);

}  // namespace berth
