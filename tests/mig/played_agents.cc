// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/played_agents.h"

#include <sstream>

#include "apis/names.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/allocatable.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/preflight.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

// What the config of that name makes of a node with so many GPUs, read from the canonical file.
std::optional<NodeLayout> read_config(const std::string& file, const std::string& name, int gpus) {
  Result<MigConfigs> configs = parse_file(file);
  if (!configs || !configs->contains(name)) return std::nullopt;
  NodeLayout layout;
  layout.per_gpu.resize(static_cast<std::size_t>(gpus));
  std::vector<std::size_t> indices;
  std::istringstream lines(configs->at(name));
  for (std::string line; std::getline(lines, line);) {
    if (auto at = line.find("devices: ");
        at != line.npos && line.find("mig-devices") == line.npos) {
      indices.clear();
      if (line.find("all") != line.npos) {
        for (std::size_t i = 0; i < layout.per_gpu.size(); ++i) indices.push_back(i);
      } else {
        std::string list = line.substr(line.find('[') + 1);
        for (char& c : list)
          if (c < '0' || c > '9') c = ' ';
        std::istringstream numbers(list);
        for (std::size_t i; numbers >> i;) indices.push_back(i);
      }
    } else if (line.starts_with("    ")) {
      const std::size_t colon = line.rfind(": ");
      std::string profile = line.substr(4, colon - 4);
      std::erase(profile, '"');
      for (std::size_t i : indices)
        if (i < layout.per_gpu.size())
          layout.per_gpu[i][profile] = std::stoll(line.substr(colon + 2));
    }
  }
  return layout;
}

}  // namespace

void PlayedAgents::begin_on(const Node& node) {
  agents_[node.meta.name].seen_label = label_of(node, names::kMigConfig);
}

void PlayedAgents::break_agent(const std::string& node, AgentFault fault, int times,
                               const std::string& config) {
  Agent& agent = agents_[node];
  agent.fault = fault;
  agent.times = times;
  agent.only_config = config;
}

bool PlayedAgents::run(MemoryCluster& world) {
  bool moved = false;
  for (auto& [name, agent] : agents_) {
    const Node* found = world.cluster.nodes().find(name);
    if (found == nullptr) continue;
    if (!agent.due && label_of(*found, names::kMigConfig) != agent.seen_label) {
      agent.seen_label = label_of(*found, names::kMigConfig);
      agent.due = world.now + seconds(1);
      agent.step = 0;
    }
    if (!agent.due || *agent.due > world.now) continue;
    take_step(world, *found, agent);
    moved = true;
  }
  return moved;
}

void PlayedAgents::take_step(MemoryCluster& world, const Node& node, Agent& agent) {
  const std::string name = node.meta.name;
  const std::string plugin = "nvidia.com/gpu.deploy.device-plugin";
  const bool faulty = agent.times > 0 && agent.seen_label.starts_with(agent.only_config);
  const AgentFault fault = faulty ? agent.fault : AgentFault::kNone;
  auto state = [&](const char* value) {
    world.change_node(name, [&](Node& n) { n.meta.labels.set(names::kMigConfigState, value); });
  };
  auto pause = [&](const char* value) {
    world.change_node(name, [&](Node& n) { n.meta.labels.set(plugin, value); });
  };
  switch (agent.step++) {
    case 0: {
      const std::optional<Time> changed = agent_config_changed_at(world.snapshot());
      if (fault == AgentFault::kUnknownConfig && changed && world.now - *changed < seconds(60)) {
        agent.due.reset();
        return state("failed");
      }
      state("pending");
      pause(names::kPausedForMigChange);
      world.change_node(name, [](Node& n) {
        for (const auto& [resource, quantity] : ResourceList(n.allocatable))
          n.allocatable.set(resource, Quantity());
      });
      agent.due = world.now + seconds(10);
      if (fault == AgentFault::kWedges) {
        agent.due.reset();
        --agent.times;
      }
      return;
    }
    case 1:
      if (fault == AgentFault::kFails || fault == AgentFault::kFailsPaused) {
        --agent.times;
        agent.due.reset();
        if (fault == AgentFault::kFails) pause("true");
        return state("failed");
      }
      pause("true");
      state("success");
      agent.due = world.now + seconds(5);
      if (fault == AgentFault::kLies) {
        --agent.times;
        agent.due.reset();
      }
      return;
    default:
      agent.due.reset();
      world.change_node(name, [&](Node& n) { offer_layout(world, n, agent.seen_label); });
  }
}

void PlayedAgents::offer_layout(MemoryCluster& world, Node& node, const std::string& config) {
  const ConfigMap* file = find_agent_config(world.snapshot());
  std::optional<NodeLayout> layout =
      read_config(file->data.at(names::kMigPartedKey), config, inventory_of(node)->count);
  if (!layout) return world.breach("the agents' file has no " + config);
  for (const auto& [resource, count] : expected_allocatable(*layout, MigStrategy::kMixed, {}))
    node.allocatable.set(resource, Quantity::whole(count));
}

std::optional<Time> PlayedAgents::next_due() const {
  std::optional<Time> due;
  for (const auto& [name, agent] : agents_)
    if (agent.due && (!due || *agent.due < *due)) due = agent.due;
  return due;
}

}  // namespace berth::test
