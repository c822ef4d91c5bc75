// SPDX-License-Identifier: Apache-2.0
// PluginFile: the device plugin's ConfigMap, as it is and as it should be. A key that was just
// written is not on the nodes yet, and a plugin that has to read it would crash.
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
  // `named_by_nodes` has the values of nvidia.com/device-plugin.config. `pools` is empty if the
  // policy is being deleted.
  PluginFile(const Snapshot& snapshot, const std::string& name, const std::vector<PoolSpec>& pools,
             const std::set<std::string>& named_by_nodes);

  // Whether the file has the key with this content, for long enough to be on every node.
  bool serves(const PluginConfig& config) const;
  // Returns when the last write will have reached the nodes; nothing if it has.
  std::optional<Time> settles_at() const;
  // Plans to write missing keys and to remove unused ones. It removes keys only after a live list
  // of all nodes shows that none names them.
  void plan(Plan& plan) const;
  const std::map<std::string, std::string>& wanted() const { return wanted_; }
  // Returns the key for nodes without a label if berth did not write it and it shares GPUs; empty
  // otherwise. Such a key also shares GPUs on nodes of pools without sharing.
  std::string shared_default() const;
  // Whether the device plugin reads this file, and does not share GPUs of nodes without a label.
  bool ends_sharing() const;
  // The keys that it keeps of the file that the device plugin reads; nothing if no pool has a
  // config.
  const std::optional<KeptPluginKeys>& kept() const { return kept_; }

 private:
  bool up_to_date() const;
  std::set<std::string> superfluous() const;
  Write create() const;
  Write change() const;

  const Snapshot& snapshot_;
  const std::string name_;
  const ConfigMap* standing_;
  std::map<std::string, std::string> wanted_;  // berth's keys; empty: no file is needed
  std::optional<KeptPluginKeys> kept_;
};

}  // namespace berth
