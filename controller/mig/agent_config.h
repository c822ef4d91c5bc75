// SPDX-License-Identifier: Apache-2.0
// AgentConfig: the one mig-parted file that NVIDIA's mig-manager reads on every node. A config in
// it is named after its content, since the agent looks at a name only when the node's label
// changes, and never again at the content.
//
// Each of berth's configs stands there four times, as name, name-r1, name-r2 and name-r3: a retry
// needs a label value that differs, and must not wait until the kubelet has projected a changed
// ConfigMap.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "controller/fleet/node_layout.h"

namespace berth {

// Config name → its list of entries as canonical YAML, unindented. Equal meaning gives equal text.
using MigConfigs = std::map<std::string, std::string>;

inline constexpr int kMaxAlias = 3;
// A ConfigMap holds at most 1 MiB; the rest is for metadata and managedFields.
inline constexpr std::size_t kMaxConfigBytes = 1000 * 1024;

// One entry of a config, as the agent walks them in order.
struct MigConfigEntry {
  std::vector<std::string> device_filter;  // "0x20B210DE"; empty: any
  std::string devices;                     // "all", or a list in YAML's flow style: "[0, 1]"
  bool mig_enabled = false;
  ProfileCounts mig_devices;
};
std::string render_entry(const MigConfigEntry& entry);
std::string quote_yaml(std::string_view text);  // a double-quoted scalar

// The canonical text of one config: each GPU index in exactly one entry, equal GPUs in one entry,
// no device-filter.
std::string render_config(const NodeLayout& layout);

// content_hash over several contents, for status.configHash; their order does not matter.
std::string combined_hash(std::vector<std::string> contents);

// "berth-<layout>-<content hash>": a label value, 63 characters at most with its alias.
std::string config_name(std::string_view layout_name, std::string_view content);
// The name to write on attempt 0, 1, 2, …: name, name-r1, name-r2, name-r3, name, …; each differs
// from the one before.
std::string alias(std::string_view name, int attempt);
// The name behind an alias of berth's; any other text unchanged.
std::string strip_alias(std::string_view name);
// Whether the name has the form that config_name gives, alias or not.
bool is_berth_config(std::string_view name);

// Adds the config under its name and every alias.
void add_config(MigConfigs& configs, const std::string& name, const std::string& content);

// What these configs add to the file, and whether so many bytes fit into a ConfigMap (kInvalidSpec
// with both sizes).
std::string render_configs(const MigConfigs& configs);
Result<void> check_file_size(std::size_t bytes);

// The whole file. kInvalidSpec if it would not fit into a ConfigMap.
Result<std::string> render_file(const MigConfigs& configs);

// The configs of a mig-parted file, ours or somebody else's. The agent rejects a file as a whole,
// so whatever it would reject anywhere is an error here (kDecode, where = the config's name):
// copied into our file, it would take every other layout down.
Result<MigConfigs> parse_file(std::string_view yaml);

// The same, taken apart: what each config's entries say, in the file's order.
using MigConfigEntries = std::map<std::string, std::vector<MigConfigEntry>>;
Result<MigConfigEntries> parse_entries(std::string_view yaml);

}  // namespace berth
