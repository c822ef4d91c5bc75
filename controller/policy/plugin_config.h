// SPDX-License-Identifier: Apache-2.0
// PluginConfig: the ConfigMap that NVIDIA's device plugin reads. Each key is a whole config file,
// and the node label nvidia.com/device-plugin.config names a key. The plugin does not notice a
// changed content, and does not start if its key is missing. So a key's name contains a hash of its
// content, and a key that a node still names stays.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"

namespace berth {

// For nodes of pools without sharing or migStrategy. NVIDIA's operator needs a default by name.
inline constexpr char kDefaultPluginConfig[] = "default";
// Whether the text is berth's own, empty config under that key.
bool is_berths_default(std::string_view key, std::string_view text);
// Whether a config, by any writer, sets sharing.
bool mentions_sharing(std::string_view plugin_text);

struct PluginConfig {
  std::string key;  // "<pool>-<content hash>", a label value
  std::string text;
};

// Returns the config for a pool's nodes; nothing if the pool sets neither sharing nor migStrategy.
std::optional<PluginConfig> render_plugin_config(const PoolSpec& pool);

// Whether the key has the form "<pool>-<content hash>". berth adds and removes such keys.
bool is_berths_plugin_key(std::string_view key);

// Returns berth's keys of the ConfigMap: the default, the pools' keys, and berth's existing keys
// that a node's label still names.
std::map<std::string, std::string> plugin_configs(
    const std::vector<PoolSpec>& pools, const std::map<std::string, std::string>& standing,
    const std::set<std::string>& named_by_nodes);

// Returns the name under which renameByDefault advertises a resource: "nvidia.com/gpu.shared".
std::string shared_name(std::string_view resource);

}  // namespace berth
