// SPDX-License-Identifier: Apache-2.0
// PlayedAgents: NVIDIA's mig-manager and device plugin on every node. A new config label makes them
// pause the plugin, report pending, then success, and at last offer the devices; a test can break
// them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tests/mig/memory_cluster.h"

namespace berth::test {

enum class AgentFault {
  kNone,
  kFails,          // pending, then failed
  kFailsPaused,    // failed, and the deploy labels stay paused
  kWedges,         // pending for ever, labels paused
  kLies,           // success without devices
  kUnknownConfig,  // failed at once, until the ConfigMap is older than 60 s
};

class PlayedAgents {
 public:
  // The agent finds the label's config in force already, and does nothing.
  void begin_on(const Node& node);
  void end_on(const std::string& node) { agents_.erase(node); }
  // `times` runs go wrong, then the agent is well. `config` prefix: only for such configs.
  void break_agent(const std::string& node, AgentFault fault, int times, const std::string& config);

  // Takes the steps due by now. True if any was.
  bool run(MemoryCluster& world);
  std::optional<Time> next_due() const;

 private:
  struct Agent {
    AgentFault fault = AgentFault::kNone;
    int times = 0;
    std::string only_config;
    std::string seen_label;
    std::optional<Time> due;  // of the next step of its run
    int step = 0;             // 0 pauses, 1 reports, 2 offers the devices
  };

  void take_step(MemoryCluster& world, const Node& node, Agent& agent);
  void offer_layout(MemoryCluster& world, Node& node, const std::string& config);

  std::map<std::string, Agent> agents_;
};

}  // namespace berth::test
