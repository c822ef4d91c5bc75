// SPDX-License-Identifier: Apache-2.0
// ScenarioRun: a scenario in progress: the simulated cluster, its actors, berth's processes and the
// timeline. The same scenario and seed give the same transcript, byte for byte.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/scenario/berth_process.h"
#include "controller/scenario/incidents.h"
#include "controller/scenario/scenario.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/simulation.h"
#include "controller/sim/nvidia/gpu_agents.h"
#include "controller/sim/nvidia/gpu_gauges.h"
#include "controller/sim/server/admission_webhooks.h"

namespace berth {

class ScenarioRun {
 public:
  // Afterwards the nodes are Ready and the pods are placed as far as capacity allows. berth has
  // been started, and the timeline begins.
  ScenarioRun(const Scenario& scenario, std::uint64_t seed);
  ~ScenarioRun();
  ScenarioRun(const ScenarioRun&) = delete;
  ScenarioRun& operator=(const ScenarioRun&) = delete;

  // Runs one event. False once the scenario is over: the timed incidents are played, and either all
  // expectations have been met without a change for a minute, or the limit or the patience is
  // exceeded.
  bool step();
  // Calls step() until the scenario is over.
  void run();

  // Whether the timeline is played and all expectations are met.
  bool settled() const { return unsettled().empty(); }
  // Why not, for users: "layout a100: Ready is False (NodesPending: …)". Empty if settled.
  std::string unsettled() const;

  // Simulated time since the start of the timeline.
  std::chrono::nanoseconds elapsed() const;

  sim::Simulation& simulation() { return *simulation_; }
  sim::KubeActors& kube() { return *kube_; }
  sim::GpuAgents& agents() { return *agents_; }
  sim::GpuGauges& gauges() { return gauges_; }
  std::vector<std::unique_ptr<BerthProcess>>& berths() { return berths_; }
  // Controllers and webhooks.
  std::vector<BerthProcess*> processes() const;
  // Null: no webhook is installed.
  sim::AdmissionWebhooks* admission() { return admission_.get(); }
  const Scenario& scenario() const;
  // Plays one incident now, whatever its time.
  void play(const Incident& incident);
  // Called for every incident; may be empty.
  std::function<void(const Incidents::Told&)> on_told;

 private:
  struct Timeline;
  void set_up();
  void start_berth();
  void install_webhook();
  void create(const std::string& text);
  void schedule();
  void on_change(const sim::Change& change);
  void tell(const Incidents::Told& line);
  bool over() const;

  std::unique_ptr<sim::Simulation> simulation_;
  std::unique_ptr<sim::KubeActors> kube_;
  std::unique_ptr<sim::GpuAgents> agents_;
  sim::GpuGauges gauges_;
  sim::Prometheus prometheus_;
  sim::Exporters exporters_;
  std::unique_ptr<sim::AdmissionWebhooks> admission_;
  std::vector<std::unique_ptr<BerthProcess>> berths_;
  std::vector<std::unique_ptr<BerthProcess>> webhooks_;
  std::unique_ptr<Timeline> timeline_;
};

}  // namespace berth
