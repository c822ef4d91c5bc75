// SPDX-License-Identifier: Apache-2.0
// KeptPluginKeys: the keys of the device plugin's file that nodes use. berth's file must have them
// before it replaces that file. A plugin that does not find its key stops, and all GPUs of its node
// disappear. A plugin that finds another text under its key offers other resources.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"

namespace berth {

// Which file the device plugin reads.
struct PluginReader {
  bool reads_ours = false;
  std::string name;         // the ConfigMap, if it is another one; empty: none is read or known
  std::string default_key;  // for nodes without a label; empty: they get no config
};
PluginReader plugin_reader(const Snapshot& snapshot, const std::string& ours);

class KeptPluginKeys {
 public:
  // `ours` is the name of berth's file, `planned` its next content, and `named` the keys that nodes
  // name.
  KeptPluginKeys(const Snapshot& snapshot, const std::string& ours,
                 const std::map<std::string, std::string>& planned,
                 const std::set<std::string>& named);

  // Keys to copy from the other file: those that berth's file lacks, and `default` if berth's file
  // has only berth's own text there.
  const std::map<std::string, std::string>& copied() const { return copied_; }
  // The key that ClusterPolicy should name as default once it names berth's file.
  const std::string& default_key() const { return default_key_; }
  // Returns why berth's file may not replace the other one, with keys, nodes and what to do.
  std::optional<Cause> lost() const;

 private:
  using Keys = std::set<std::string>;
  void keep(const std::string& key, const std::string* planned);
  // Returns the GPU nodes that use any of the keys, by label or by default.
  std::vector<std::string> users_of(const Keys& keys) const;
  std::optional<Cause> told(const Keys& keys, bool differ) const;

  const Snapshot& snapshot_;
  const std::string ours_;
  const PluginReader reader_;
  const ConfigMap* standing_ = nullptr;
  const ConfigMap* read_ = nullptr;
  std::map<std::string, std::string> copied_;
  std::string default_key_;
  Keys missing_;  // in no file
  Keys differ_;   // berth's file has another text there
};

}  // namespace berth
