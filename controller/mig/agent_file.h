// SPDX-License-Identifier: Apache-2.0
// AgentFile: the file for the mig-managers. It has the configs of every layout for every kind of
// node that it selects, and every config that a node still names. A mig-manager applies its node's
// config again at each restart. So a name that a node carries must never vanish from the file, even
// if a user wrote it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

// Returns the mig-parted file in the ConfigMap, or nullptr.
const std::string* agent_file_of(const ConfigMap* config_map);

struct AgentFile {
  // A layout that was left out because the ConfigMap would become too large.
  struct LeftOut {
    const MIGLayout* layout = nullptr;
    std::string why;  // with sizes, and what to do
  };
  std::string text;
  std::vector<LeftOut> left_out;

  const LeftOut* find_left_out(const MIGLayout& layout) const;
};

// Returns the configs of `from` that `to` lacks, without aliases. A file that no mig-manager can
// read has no configs.
std::set<std::string> configs_dropped(std::string_view from, std::string_view to);

// Returns an error if the file would be too large even without any layout. Then the current file
// must stay.
Result<AgentFile> compute_agent_file(const Snapshot& snapshot);

}  // namespace berth
