// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/plugin_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/core/content_hash.h"

namespace berth {
namespace {

constexpr std::size_t kHashDigits = 8;
constexpr char kDefaultText[] = "version: v1\n";

std::string render_sharing(const SharingSpec& sharing) {
  std::string out = fmt::format("sharing:\n  {}:\n    renameByDefault: {}\n",
                                sharing.strategy == SharingStrategy::kMPS ? "mps" : "timeSlicing",
                                sharing.rename_by_default);
  if (sharing.fail_requests_greater_than_one)
    out += fmt::format("    failRequestsGreaterThanOne: {}\n",
                       *sharing.fail_requests_greater_than_one);
  out += "    resources:\n";
  std::vector<std::string> resources = sharing.resources;
  if (resources.empty()) resources = {std::string(kGpuResource)};
  std::ranges::sort(resources);
  for (const std::string& resource : resources)
    out += fmt::format("    - name: {}\n      replicas: {}\n", resource, sharing.replicas);
  return out;
}

}  // namespace

bool is_berths_plugin_key(std::string_view key) {
  if (key.size() < kHashDigits + 2 || key[key.size() - kHashDigits - 1] != '-') return false;
  return std::ranges::all_of(key.substr(key.size() - kHashDigits), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool is_berths_default(std::string_view key, std::string_view text) {
  return key == kDefaultPluginConfig && text == kDefaultText;
}

// This finds the word in any style of YAML. No other field of NVIDIA's contains it.
bool mentions_sharing(std::string_view plugin_text) {
  return plugin_text.find("sharing") != plugin_text.npos;
}

std::optional<PluginConfig> render_plugin_config(const PoolSpec& pool) {
  const bool shared = pool.sharing.strategy != SharingStrategy::kNone;
  if (!shared && !pool.mig_strategy) return std::nullopt;
  PluginConfig config{.key = {}, .text = kDefaultText};
  if (pool.mig_strategy)
    config.text += fmt::format("flags:\n  migStrategy: {}\n", to_string(*pool.mig_strategy));
  if (shared) config.text += render_sharing(pool.sharing);
  config.key = fmt::format("{}-{}", pool.name, content_hash(config.text));
  return config;
}

std::map<std::string, std::string> plugin_configs(
    const std::vector<PoolSpec>& pools, const std::map<std::string, std::string>& standing,
    const std::set<std::string>& named_by_nodes) {
  std::map<std::string, std::string> data;
  for (const auto& [key, text] : standing)
    if (is_berths_plugin_key(key) && named_by_nodes.contains(key)) data[key] = text;
  // An existing default stays, even if a user wrote it: nodes of pools without sharing follow it.
  const auto mine = standing.find(kDefaultPluginConfig);
  data[kDefaultPluginConfig] = mine != standing.end() ? mine->second : kDefaultText;
  for (const PoolSpec& pool : pools)
    if (std::optional<PluginConfig> config = render_plugin_config(pool))
      data[config->key] = std::move(config->text);
  return data;
}

std::string shared_name(std::string_view resource) {
  return fmt::format("{}{}", resource, kSharedSuffix);
}

}  // namespace berth
