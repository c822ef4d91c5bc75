// SPDX-License-Identifier: Apache-2.0
// Reads mig-parted files by mig-parted's own strict rules: if one entry has an unknown key, no node
// gets any config.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "apis/base/cut.h"
#include "controller/fleet/geometry.h"
#include "controller/mig/agent_config.h"

namespace berth {
namespace {

// YAML anchors allow a small file to expand to a huge one. This limits both.
constexpr std::size_t kMaxInputBytes = 4 * 1024 * 1024;

// yaml-cpp throws, and so do these helpers, within this file only. parse_file turns every exception
// into an Error.
struct Refusal {
  std::string message;
};

constexpr std::size_t kShown = 60;  // characters of a file's text in a message

[[noreturn]] void refuse(std::string message) { throw Refusal{std::move(message)}; }

const std::string& scalar(const YAML::Node& node, const char* what) {
  if (!node.IsScalar()) refuse(fmt::format("{} is not a scalar", what));
  return node.Scalar();
}

bool is_plain(const YAML::Node& node) { return node.IsScalar() && node.Tag() == "?"; }

std::int64_t integer(const YAML::Node& node, const std::string& what) {
  std::int64_t value = 0;
  const std::string& text = scalar(node, what.c_str());
  const bool decimal =
      !text.empty() && text.size() <= 18 &&
      text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) == std::string::npos;
  if (!is_plain(node) || !decimal || text == "-")
    refuse(fmt::format("{} is \"{}\", not a whole number", what, head(text, kShown)));
  value = std::stoll(text);
  return value;
}

bool boolean(const YAML::Node& node, const char* what) {
  bool value = false;
  if (!is_plain(node) || !YAML::convert<bool>::decode(node, value))
    refuse(fmt::format("{} is neither true nor false", what));
  return value;
}

// Reads a value that mig-parted reads into a Go string. mig-parted rejects a bare number or bool
// there.
std::string text(const YAML::Node& node, const char* what) {
  const std::string& value = scalar(node, what);
  if (is_plain(node) && (value.empty() || value.find_first_not_of("0123456789abcdefABCDEFxX.+-") ==
                                              std::string::npos))
    refuse(fmt::format("{} \"{}\" must stand in quotes", what, head(value, kShown)));
  return value;
}

std::vector<std::string> read_filter(const YAML::Node& node) {
  std::vector<std::string> filters;
  if (!node.IsSequence()) return {text(node, "device-filter")};
  for (const YAML::Node& item : node) filters.push_back(text(item, "device-filter"));
  return filters;
}

std::string read_devices(const YAML::Node& node) {
  if (node.IsScalar()) {
    if (node.Scalar() != "all")
      refuse(fmt::format("devices is \"{}\"; write all or a list of GPU indices",
                         head(node.Scalar(), kShown)));
    return "all";
  }
  if (!node.IsSequence()) refuse("devices must be all or a list of GPU indices");
  std::vector<std::int64_t> gpus;
  for (const YAML::Node& item : node) gpus.push_back(integer(item, "a GPU index in devices"));
  for (std::int64_t gpu : gpus)
    if (gpu < 0) refuse(fmt::format("devices names GPU {}", gpu));
  return fmt::format("[{}]", fmt::join(gpus, ", "));
}

// mig-parted also accepts compute instances such as "1c.3g.40gb".
bool is_profile(std::string_view name) {
  const std::size_t c = name.find_first_not_of("0123456789");
  if (c != std::string_view::npos && c > 0 && name.substr(c).starts_with("c."))
    name.remove_prefix(c + 2);
  return parse_profile_name(name).has_value();
}

ProfileCounts read_profiles(const YAML::Node& node) {
  ProfileCounts counts;
  std::int64_t sum = 0;
  if (!node.IsMap()) refuse("mig-devices is not a map");
  for (const auto& item : node) {
    const std::string& name = scalar(item.first, "a key of mig-devices");
    if (!is_profile(name)) refuse(fmt::format("\"{}\" is not a MIG profile", head(name, kShown)));
    const std::int64_t count = integer(item.second, fmt::format("the count of {}", name));
    if (count < 0) refuse(fmt::format("the count of {} is negative", name));
    if (!counts.emplace(name, count).second) refuse(fmt::format("{} is listed twice", name));
    sum += count;
  }
  if (!counts.empty() && sum == 0) refuse("every count in mig-devices is 0");
  return counts;
}

MigConfigEntry read_entry(const YAML::Node& node) {
  if (!node.IsMap()) refuse("an entry is not a map");
  MigConfigEntry entry;
  std::set<std::string> seen;
  for (const auto& item : node) {
    const std::string& key = scalar(item.first, "a key");
    if (!seen.insert(key).second) refuse(fmt::format("key {} is listed twice", head(key, kShown)));
    if (key == "device-filter")
      entry.device_filter = read_filter(item.second);
    else if (key == "devices")
      entry.devices = read_devices(item.second);
    else if (key == "mig-enabled")
      entry.mig_enabled = boolean(item.second, "mig-enabled");
    else if (key == "mig-devices")
      entry.mig_devices = read_profiles(item.second);
    else
      refuse(fmt::format("unknown key \"{}\" in an entry", head(key, kShown)));
  }
  for (const char* required : {"devices", "mig-enabled"})
    if (!seen.contains(required)) refuse(fmt::format("an entry lacks {}", required));
  if (entry.mig_enabled && !seen.contains("mig-devices"))
    refuse("an entry with mig-enabled: true lacks mig-devices");
  if (!entry.mig_enabled && !entry.mig_devices.empty())
    refuse("an entry with mig-enabled: false has mig-devices");
  return entry;
}

struct ReadConfig {
  std::vector<MigConfigEntry> entries;
  std::string content;  // the entries as text
};

ReadConfig read_config(const YAML::Node& node) {
  if (!node.IsSequence() || node.size() == 0) refuse("is not a list of entries");
  ReadConfig config;
  for (const YAML::Node& entry : node) {
    config.content += render_entry(config.entries.emplace_back(read_entry(entry)));
    if (config.content.size() > kMaxInputBytes) refuse("is too large");
  }
  return config;
}

std::map<std::string, ReadConfig> read_configs(const YAML::Node& root) {
  if (!root.IsMap()) refuse("not a mig-parted file: the document is not a map");
  std::set<std::string> seen;
  YAML::Node found;
  for (const auto& item : root) {
    const std::string& key = scalar(item.first, "a top-level key");
    if (key != "version" && key != "mig-configs")
      refuse(fmt::format("unknown top-level key \"{}\"", head(key, kShown)));
    if (!seen.insert(key).second) refuse(fmt::format("key {} is listed twice", key));
    if (key == "mig-configs")
      found.reset(item.second);
    else if (!item.second.IsScalar() || item.second.Scalar() != "v1")
      refuse("version is not v1");
  }
  if (!seen.contains("version")) refuse("version is missing; it must be v1");
  if (!seen.contains("mig-configs") || !found.IsMap() || found.size() == 0)
    refuse("mig-configs is missing or empty");
  std::map<std::string, ReadConfig> configs;
  std::size_t bytes = 0;
  for (const auto& item : found) {
    const std::string& name = scalar(item.first, "a config's name");
    try {
      if (!configs.emplace(name, read_config(item.second)).second) refuse("is listed twice");
    } catch (Refusal& refusal) {
      refuse(fmt::format("config {}: {}", head(name, kShown), refusal.message));
    }
    bytes += configs[name].content.size();
    if (bytes > kMaxInputBytes) refuse("the file is too large");
  }
  return configs;
}

Result<std::map<std::string, ReadConfig>> parse(std::string_view yaml) {
  if (yaml.size() > kMaxInputBytes)
    return decode_error("", "the mig-parted file is larger than any ConfigMap");
  try {
    return read_configs(YAML::Load(std::string(yaml)));
  } catch (const Refusal& refusal) {
    return decode_error("", refusal.message);
  } catch (const YAML::Exception& error) {
    return decode_error("", fmt::format("not YAML: line {}: {}", error.mark.line + 1, error.msg));
  }
}

}  // namespace

Result<MigConfigs> parse_file(std::string_view yaml) {
  Result<std::map<std::string, ReadConfig>> read = parse(yaml);
  if (!read) return std::move(read).error();
  MigConfigs configs;
  for (auto& [name, config] : *read) configs.emplace(name, std::move(config.content));
  return configs;
}

Result<MigConfigEntries> parse_entries(std::string_view yaml) {
  Result<std::map<std::string, ReadConfig>> read = parse(yaml);
  if (!read) return std::move(read).error();
  MigConfigEntries configs;
  for (auto& [name, config] : *read) configs.emplace(name, std::move(config.entries));
  return configs;
}

}  // namespace berth
