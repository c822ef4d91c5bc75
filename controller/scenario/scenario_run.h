// SPDX-License-Identifier: Apache-2.0
// ScenarioRun: a scenario being played: the simulated cluster, its actors, berth's processes and
// the timeline. Same scenario, same seed, same bytes of transcript.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controller/scenario/berth_process.h"
#include "controller/scenario/scenario.h"
#include "controller/sim/gpu_agents.h"
#include "controller/sim/kube_actors.h"
#include "controller/sim/simulation.h"

namespace berth {

class ScenarioRun {
 public:
  ScenarioRun(const Scenario& scenario, std::uint64_t seed);
  ~ScenarioRun();

  // One thing happens. False once the scenario is over: the timeline is played and everything is as
  // expected and still (settled()), or the limit has passed.
  bool step();
  // As often as it takes.
  void run();

  // The timeline is played, and what the scenario expects holds.
  bool settled() const;
  // Why it is not, for people: "layout a100: Ready is False (NodesPending: …)". Empty if it is.
  std::string unsettled() const;

  sim::Simulation& simulation() { return *simulation_; }
  sim::KubeActors& kube() { return *kube_; }
  sim::GpuAgents& agents() { return *agents_; }
  std::vector<std::unique_ptr<BerthProcess>>& berths() { return berths_; }
  // A person's hand: plays one incident now, whatever its time.
  void play(const Incident& incident);

 private:
  std::unique_ptr<sim::Simulation> simulation_;
  std::unique_ptr<sim::KubeActors> kube_;
  std::unique_ptr<sim::GpuAgents> agents_;
  std::vector<std::unique_ptr<BerthProcess>> berths_;
  struct Timeline;
  std::unique_ptr<Timeline> timeline_;
};

}  // namespace berth
