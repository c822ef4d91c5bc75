// SPDX-License-Identifier: Apache-2.0
// KubeWorld: a simulated cluster with only Kubernetes' own actors, for tests. Objects are created
// from JSON text, and read field by field as text.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/kube_actors.h"
#include "controller/sim/kube/simulation.h"

namespace berth::sim {

struct KubeWorld {
  explicit KubeWorld(KubeOptions options = {}, std::uint64_t seed = 1);

  // A ready node that offers GPUs, two seconds old.
  void add_node(const std::string& name, int gpus, const std::string& labels = "{}");
  // A pod in "team" with a GPU request; `spec` is merged into its own.
  void add_pod(const std::string& name, int gpus, const std::string& spec = "{}");
  void create(const char* plural, const std::string& object);
  // RFC 7386.
  void merge(const char* plural, const std::string& name, const std::string& patch,
             const std::string& subresource = "");
  void remove(const char* plural, const std::string& name, const std::string& options = "{}");
  int evict(const std::string& pod);

  // The value at the JSON pointer: text as it is, anything else as JSON; "" if absent. Namespaced
  // kinds are in "team".
  std::string at(const char* plural, const std::string& name, const std::string& pointer) const;
  std::string condition(const char* plural, const std::string& name, const char* type) const;
  bool exists(const char* plural, const std::string& name) const;
  std::vector<std::string> names(const char* plural) const;
  // "unschedulable not-ready": keys without prefix, NoSchedule ones in their order.
  std::string taints(const std::string& node) const;
  bool run_until(const std::function<bool()>& done, std::chrono::nanoseconds limit);
  void run_for(std::chrono::nanoseconds span) { simulation.run_for(span); }

  Simulation simulation;
  KubeActors kube;
  ActorClient user;
};

}  // namespace berth::sim
