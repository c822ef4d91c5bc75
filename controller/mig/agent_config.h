// SPDX-License-Identifier: Apache-2.0
// AgentConfig: the one mig-parted file that NVIDIA's mig-manager reads on every node. A config's
// name contains a hash of its content, because the mig-manager reads a config only when the node's
// label changes, and never notices a changed content.
//
// berth writes each config four times, as name, name-r1, name-r2 and name-r3. A retry needs a
// different label value, and must not wait until the kubelet has projected a changed ConfigMap.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/fleet/node_layout.h"

namespace berth {

// Config name → its list of entries as canonical YAML, not indented. Configs of equal meaning have
// equal text.
using MigConfigs = std::map<std::string, std::string>;

inline constexpr int kMaxAlias = 3;
// A ConfigMap holds at most 1 MiB. The rest is for metadata and managedFields.
inline constexpr std::size_t kMaxConfigBytes = 1000 * 1024;

// One entry of a config. The mig-manager applies the entries in order.
struct MigConfigEntry {
  std::vector<std::string> device_filter;  // "0x20B210DE"; empty: any
  std::string devices;                     // "all", or a list in YAML flow style: "[0, 1]"
  bool mig_enabled = false;
  ProfileCounts mig_devices;
};
std::string render_entry(const MigConfigEntry& entry);
std::string quote_yaml(std::string_view text);  // returns a double-quoted scalar

// Returns the canonical text of one config: each GPU index is in exactly one entry, equal GPUs
// share an entry, and there is no device-filter.
std::string render_config(const NodeLayout& layout);

// Returns the hash of several contents for status.configHash. Their order does not matter.
std::string combined_hash(std::vector<std::string> contents);

// Returns "berth-<layout>-<content hash>", a label value of at most 63 characters including an
// alias suffix.
std::string config_name(std::string_view layout_name, std::string_view content);
// Returns the name to write on attempt 0, 1, 2, …: name, name-r1, name-r2, name-r3, name, …. Each
// differs from the one before.
std::string alias(std::string_view name, int attempt);
// Returns the name without berth's alias suffix, or any other text unchanged.
std::string strip_alias(std::string_view name);
// Whether the name has the form of config_name(), with or without alias suffix.
bool is_berth_config(std::string_view name);

// Adds the config under its name and each alias.
void add_config(MigConfigs& configs, const std::string& name, const std::string& content);

// render_configs() returns the lines that these configs add to the file. check_file_size() returns
// kInvalidSpec, with both sizes, if this many bytes do not fit into a ConfigMap.
std::string render_configs(const MigConfigs& configs);
Result<void> check_file_size(std::size_t bytes);

// Returns the whole file, or kInvalidSpec if it does not fit into a ConfigMap.
Result<std::string> render_file(const MigConfigs& configs);

// Returns the configs of any mig-parted file. The mig-manager rejects a file as a whole. So
// anything that it would reject is an error here (kDecode, where = the config's name). If berth
// copied it into its own file, it would break all other layouts.
Result<MigConfigs> parse_file(std::string_view yaml);

// Returns the entries of each config, in the file's order.
using MigConfigEntries = std::map<std::string, std::vector<MigConfigEntry>>;
Result<MigConfigEntries> parse_entries(std::string_view yaml);

}  // namespace berth
