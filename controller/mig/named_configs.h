// SPDX-License-Identifier: Apache-2.0
// NamedConfigs: what the configs that nodes name in nvidia.com/mig.config do to their GPUs, as
// found in the files that mig-manager may have read. So a layout does not drain a node that already
// has the right layout under another name.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/target.h"

namespace berth {

// The mig-parted files in the stores, each parsed at its first use. A view (core/view.h).
class ConfigFiles {
 public:
  void follow(const Change<ConfigMap>& change);
  // nullptr: the ConfigMap has no such config, or its file is one that mig-manager would reject.
  const std::vector<MigConfigEntry>* find(const ConfigMap& file, std::string_view config) const;

 private:
  // A file that mig-manager would reject has no configs.
  mutable std::unordered_map<const ConfigMap*, std::shared_ptr<const MigConfigEntries>> parsed_;
};

class NamedConfigs {
 public:
  explicit NamedConfigs(const Snapshot& snapshot);

  // Whether the config of this name gives the node's GPUs what the target asks for. False for a
  // config that no file has.
  bool gives(const Node& node, std::string_view config, const Target& target);
  // Whether any file that the node's mig-manager may have read has a config of this name.
  bool knows(const Node& node, std::string_view config) const;
  // Returns the config's entries as the node's mig-manager may have read them; nullptr: no file has
  // the config.
  const std::vector<MigConfigEntry>* find(const Node& node, std::string_view config) const;

 private:
  const std::vector<MigConfigEntry>* find_named(const Node& node, std::string_view label) const;

  const ClusterState& cluster_;
  const ConfigFiles& files_;
  std::string_view agents_namespace_;
  const ConfigMap* named_ = nullptr;      // the file that mig-manager is configured to read
  std::vector<const ConfigMap*> others_;  // mounted, berth's, NVIDIA's default
  std::map<std::pair<const Target*, const std::vector<MigConfigEntry>*>, bool> known_;
};

}  // namespace berth
