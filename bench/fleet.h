// SPDX-License-Identifier: Apache-2.0
// Fleet: a cluster for measurements, as JSON that an API server would say. Nodes of sixteen A100s
// with MIG off and ten one-GPU pods on each; a hundred pods an app, each app with a budget, every
// tenth app a Job, the others Deployments; NVIDIA's agents set up to read berth's file; one
// MIGLayout that wants every node cut anew.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "controller/core/cluster_state.h"

namespace berth {

struct FleetSize {
  int nodes = 2000;
  int pods = 20000;
};

struct Fleet {
  std::vector<nlohmann::json> nodes;
  std::vector<nlohmann::json> pods;
  std::vector<nlohmann::json> budgets;
  std::vector<nlohmann::json> jobs;
  std::vector<nlohmann::json> layouts;
  std::vector<nlohmann::json> daemon_sets;
  std::vector<nlohmann::json> config_maps;
  std::vector<nlohmann::json> cluster_policies;
};
Fleet make_fleet(const FleetSize& size);

// The fleet as berth's caches hold it.
ClusterState load(const Fleet& fleet);

}  // namespace berth
