// SPDX-License-Identifier: Apache-2.0
// The agents' file: what every layout means on every kind of node it selects, and whatever any node
// still names. The agent re-asserts at each restart, so a name that a node carries must never
// vanish from the file, whoever wrote it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

// The text under `key` of the mig-parted ConfigMap, or nullptr.
const std::string* agent_file_of(const ConfigMap* config_map);

struct AgentFile {
  // A layout without which the others fit into a ConfigMap.
  struct LeftOut {
    const MIGLayout* layout = nullptr;
    std::string why;  // with sizes, and what to do
  };
  std::string text;
  std::vector<LeftOut> left_out;

  const LeftOut* find_left_out(const MIGLayout& layout) const;
};

// Those of the one file's configs, without aliases, that the other lacks. Of a file that no agent
// can read there are none.
std::set<std::string> configs_dropped(std::string_view from, std::string_view to);

// An error where the file would be too large without any layout: what stands must be kept then.
Result<AgentFile> compute_agent_file(const Snapshot& snapshot);

}  // namespace berth
