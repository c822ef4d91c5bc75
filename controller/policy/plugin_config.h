// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's device plugin reads: one ConfigMap, in which each key is a whole config file and
// the node label nvidia.com/device-plugin.config names a key. The plugin does not notice that a
// key's content has changed, and does not start where its key is missing: so a key names its
// content, and one that a node still names stays.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apis/gpu_cluster_policy.h"

namespace berth {

// For the nodes of no pool that sets sharing or migStrategy: NVIDIA's operator wants it by name.
inline constexpr char kDefaultPluginConfig[] = "default";
// Whether this is what berth itself has under that key: nothing.
bool is_berths_default(std::string_view key, std::string_view text);
// Whether a config, whoever wrote it, has a say in sharing.
bool mentions_sharing(std::string_view plugin_text);

struct PluginConfig {
  std::string key;  // "<pool>-<content hash>", a label's value
  std::string text;
};

// What a pool's nodes are to run with; nothing if it sets neither sharing nor migStrategy.
std::optional<PluginConfig> render_plugin_config(const PoolSpec& pool);

// "<pool>-<content hash>" of whatever pool and content: berth's to add and to drop.
bool is_berths_plugin_key(std::string_view key);

// berth's keys in the ConfigMap: the default, the pools' own, and of those that stand there the
// ones of berth's that a node's label still names.
std::map<std::string, std::string> plugin_configs(
    const std::vector<PoolSpec>& pools, const std::map<std::string, std::string>& standing,
    const std::set<std::string>& named_by_nodes);

// "nvidia.com/gpu.shared": how renameByDefault advertises a resource.
std::string shared_name(std::string_view resource);

}  // namespace berth
