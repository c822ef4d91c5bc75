// SPDX-License-Identifier: Apache-2.0
// PluginFile: the device plugin's ConfigMap as it stands and as it is to be. A key that has just
// been written is not on the nodes yet, and a plugin that is told to read it would crash.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/policy/kept_plugin_keys.h"
#include "controller/policy/plugin_config.h"

namespace berth {

class PluginFile {
 public:
  // `named_by_nodes`: values of nvidia.com/device-plugin.config. `pools` is empty where the policy
  // goes.
  PluginFile(const Snapshot& snapshot, const std::string& name, const std::vector<PoolSpec>& pools,
             const std::set<std::string>& named_by_nodes);

  // The file has the key, with this content, and has had it long enough to be on every node.
  bool serves(const PluginConfig& config) const;
  // When what was written last will have reached the nodes; nothing if it has.
  std::optional<Time> settles_at() const;
  // Writes what is missing or superfluous, if anything; the latter once a live list of all nodes
  // has shown that none names it.
  void plan(Plan& plan) const;
  const std::map<std::string, std::string>& wanted() const { return wanted_; }
  // The key that nodes without a label get, if berth did not write it and it shares GPUs: it does
  // so on nodes of pools that set no sharing, too. Else empty.
  std::string shared_default() const;
  // Whether the device plugin reads this file, and shares no GPU of nodes without a label.
  bool ends_sharing() const;
  // What it keeps of the file that the device plugin reads; nothing where no pool has a config.
  const std::optional<KeptPluginKeys>& kept() const { return kept_; }

 private:
  bool up_to_date() const;
  std::set<std::string> superfluous() const;
  Write create() const;
  Write change() const;

  const Snapshot& snapshot_;
  const std::string name_;
  const ConfigMap* standing_;
  std::map<std::string, std::string> wanted_;  // berth's keys; empty: there need be no file
  std::optional<KeptPluginKeys> kept_;
};

}  // namespace berth
