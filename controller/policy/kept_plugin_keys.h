// SPDX-License-Identifier: Apache-2.0
// KeptPluginKeys: what nodes use of the device plugin's file, and berth's file has to have before
// it takes that one's place. A plugin that does not find its key stops, and all GPUs of its node
// disappear; one that finds another text under it offers something else.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"

namespace berth {

// What the device plugin reads.
struct PluginReader {
  bool reads_ours = false;
  std::string name;         // the ConfigMap, if it is another one; empty: none is read, or known
  std::string default_key;  // of nodes without a label; empty: they get no config
};
PluginReader plugin_reader(const Snapshot& snapshot, const std::string& ours);

class KeptPluginKeys {
 public:
  // `ours`: the name of berth's file; `planned`: what berth has there next; `named`: by nodes.
  KeptPluginKeys(const Snapshot& snapshot, const std::string& ours,
                 const std::map<std::string, std::string>& planned,
                 const std::set<std::string>& named);

  // To be copied into berth's file as the other file has them: keys that it lacks, and `default`
  // where berth's file has nothing but berth's own text there.
  const std::map<std::string, std::string>& copied() const { return copied_; }
  // What ClusterPolicy is to name as the default once it names berth's file.
  const std::string& default_key() const { return default_key_; }
  // Why berth's file may not take the other one's place, with keys, nodes and what to do.
  std::optional<Cause> lost() const;

 private:
  using Keys = std::set<std::string>;
  void keep(const std::string& key, const std::string* planned);
  // GPU nodes that use any of them, or get one of them without a label.
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
