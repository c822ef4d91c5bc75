// SPDX-License-Identifier: Apache-2.0
// A node n1 with four A100s and NVIDIA's components, five minutes after it joined.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/nvidia/gpu_agents.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {

using Counts = std::map<std::string, std::string>;
inline const Counts kWhole = {{"nvidia.com/gpu", "4"}};
inline const Counts kHalves = {{"nvidia.com/gpu", "0"}, {"nvidia.com/mig-3g.40gb", "8"}};

// mig-manager's file: layouts all-disabled, halves, halves-r1 (the same), mixed and impossible.
extern const char kFile[];

class GpuAgentsFixture : public ::testing::Test {
 protected:
  void SetUp() override;

  void mount(const std::string& file);
  void set_label(const char* key, const nlohmann::json& value);
  // Like berth: the request removes the old state.
  void ask(const char* config);
  bool run_until_state(const char* state,
                       std::chrono::nanoseconds limit = std::chrono::minutes(10));
  void roll(const char* config);

  nlohmann::json node() const { return *person_.get("nodes", "", "n1"); }
  std::string label(const char* key) const;
  std::string state() const { return label("nvidia.com/mig.config.state"); }
  std::string plugin_label() const { return label("nvidia.com/gpu.deploy.device-plugin"); }
  bool ready() const { return is_true(node(), "Ready"); }
  Counts amounts(const char* field) const;
  Counts allocatable() const { return amounts("allocatable"); }
  std::string agent_pod(const std::string& app) const;
  void delete_agent_pod(const std::string& app);
  // A running pod of a user with a GPU on the node.
  void use_gpu();

  Simulation world_{7};
  KubeActors kube_{world_, {}};
  GpuAgents agents_{world_, kube_, {}};
  ActorClient person_{world_.server(), "person"};
  std::vector<std::string> states_;  // values of the state label, in order
};

}  // namespace berth::sim
