// SPDX-License-Identifier: Apache-2.0
// Incidents: performs a timeline's verbs on the simulated cluster, at once. One class, with a file
// for each group of verbs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/result.h"
#include "controller/scenario/berth_process.h"
#include "controller/scenario/object_names.h"
#include "controller/scenario/scenario.h"
#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/simulation.h"
#include "controller/sim/nvidia/gpu_agents.h"
#include "controller/sim/nvidia/gpu_gauges.h"

namespace berth {

// The user of people's writes, and the subject of their lines in the transcript.
inline constexpr char kPerson[] = "person";

class Incidents {
 public:
  struct World {
    sim::Simulation& simulation;
    sim::KubeActors& kube;
    sim::GpuAgents& agents;
    sim::GpuGauges& gauges;
    std::vector<std::unique_ptr<BerthProcess>>& berths;
    std::vector<std::unique_ptr<BerthProcess>>& webhooks;
    const Settings& settings;
  };
  explicit Incidents(World world);

  // Remembers a node so that a verb can re-create it: all nodes of the scenario.
  void remember(const sim::GpuNode& node) { machines_[node.name] = node; }

  struct Told {
    std::string subject;  // "person", "berth-0", "n3"
    std::string text;     // "cordons n3", "crashes"
    bool done = true;     // false: the cluster refused it; `text` says why
  };
  // One line for each action: `all` gives several.
  std::vector<Told> play(const Incident& incident);
  // Called later with the result of a write that webhooks held; may be empty.
  std::function<void(const Told&)> on_held;

 private:
  Told apply_document(const std::string& json);
  Told submit(const sim::ResourceType& type, nlohmann::json object, const std::string& shown);
  Told on_object(const Incident& incident);
  Told on_node(const Incident& incident, const std::string& name);
  Told on_machine(const Incident& incident, const std::string& name);
  Told on_gauges(const Incident& incident, const std::string& name);
  Told on_pod(const Incident& incident);
  Told on_berth(const Incident& incident, BerthProcess& berth);
  Told on_etcd(const std::string& verb);
  std::string disturb(const Incident& incident, BerthProcess& berth);
  Told patch_node(const std::string& name, const std::string& metadata_field,
                  const std::string& set);
  Told evict(const std::string& namespace_, const std::string& pod);
  // `meets`: which of its requests the fault hits; empty: all.
  void meet_for(BerthProcess& berth, std::chrono::milliseconds span, sim::ExchangeFault fault,
                std::function<bool(const HttpRequest&)> meets = {});
  void add_node(const Incident& incident, const std::string& name);
  void recreate_node(const std::string& name, bool saved);

  std::vector<std::string> nodes_of(const Incident& incident) const;
  std::vector<BerthProcess*> berths_of(const Incident& incident) const;
  BerthProcess* leader() const;
  // The pod with that name, or a pod of the workload with that name; empty if there is none.
  std::string pod_of(const std::string& namespace_, const std::string& name,
                     const std::string& node) const;

  World world_;
  sim::ActorClient person_;
  std::map<std::string, sim::GpuNode> machines_;
  std::optional<sim::Store::Backup> backup_;  // the last of etcd
};

}  // namespace berth
