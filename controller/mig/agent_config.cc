// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/agent_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/kinds/mig_layout.h"
#include "controller/core/content_hash.h"

namespace berth {
namespace {

constexpr std::string_view kPrefix = "berth-";
constexpr std::size_t kHashDigits = 8;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Whether the name has the form "berth-<something>-<8 hex digits>", without an alias suffix.
bool is_plain_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.size() < kPrefix.size() + kHashDigits + 2) return false;
  const std::string_view hash = name.substr(name.size() - kHashDigits);
  return name[name.size() - kHashDigits - 1] == '-' &&
         std::all_of(hash.begin(), hash.end(), is_hex);
}

// Whether YAML reads the bare key as a string. berth quotes any other key: a config may be called
// "1e3" or "on".
bool is_bare_key(std::string_view name) {
  static constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on",
                                                "off",  "null",  "y",   "n"};
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool starts_with_letter = !lower.empty() && lower[0] >= 'a' && lower[0] <= 'z';
  return starts_with_letter &&
         std::find(std::begin(kWords), std::end(kWords), lower) == std::end(kWords) &&
         std::all_of(lower.begin(), lower.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                  c == '-';
         });
}

std::string indented(std::string_view text, std::string_view by) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.append(by).append(text.substr(0, end)).push_back('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string render_config(const NodeLayout& layout) {
  std::vector<std::pair<ProfileCounts, std::vector<std::size_t>>>
      groups;  // in the order of the first index
  for (std::size_t gpu = 0; gpu < layout.per_gpu.size(); ++gpu) {
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const auto& group) { return group.first == layout.per_gpu[gpu]; });
    if (same == groups.end()) same = groups.insert(groups.end(), {layout.per_gpu[gpu], {}});
    same->second.push_back(gpu);
  }
  std::string out;
  for (const auto& [profiles, gpus] : groups)
    out += render_entry({.devices = fmt::format("[{}]", fmt::join(gpus, ", ")),
                         .mig_enabled = !profiles.empty(),
                         .mig_devices = profiles});
  return out;
}

std::string render_entry(const MigConfigEntry& entry) {
  std::string out;
  auto line = [&](const std::string& text) { out += (out.empty() ? "- " : "  ") + text + "\n"; };
  if (!entry.device_filter.empty()) {
    std::vector<std::string> filters;
    for (const std::string& filter : entry.device_filter) filters.push_back(quote_yaml(filter));
    line(fmt::format("device-filter: [{}]", fmt::join(filters, ", ")));
  }
  line("devices: " + entry.devices);
  line(fmt::format("mig-enabled: {}", entry.mig_enabled));
  if (!entry.mig_enabled) return out;
  if (entry.mig_devices.empty()) {
    line("mig-devices: {}");
    return out;
  }
  line("mig-devices:");
  for (const auto& [profile, count] : entry.mig_devices)
    out += fmt::format("    {}: {}\n", quote_yaml(profile), count);
  return out;
}

std::string quote_yaml(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string combined_hash(std::vector<std::string> contents) {
  // For one device model, this is the hash that users see in the config's name.
  if (contents.size() == 1) return content_hash(contents.front());
  std::sort(contents.begin(), contents.end());
  std::string all;
  for (const std::string& content : contents) all += fmt::format("{}:{}", content.size(), content);
  return content_hash(all);
}

std::string config_name(std::string_view layout_name, std::string_view content) {
  // The API server rejects longer names. But a file on disk may have one, and the result must be a
  // valid label value.
  return fmt::format("{}{}-{}", kPrefix, layout_name.substr(0, limits::kMaxLayoutName),
                     content_hash(content));
}

std::string alias(std::string_view name, int attempt) {
  const int number = attempt <= 0 ? 0 : attempt % (kMaxAlias + 1);
  return number == 0 ? std::string(name) : fmt::format("{}-r{}", name, number);
}

std::string strip_alias(std::string_view name) {
  static_assert(kMaxAlias < 10);
  const std::size_t end = name.rfind("-r");
  if (end == std::string_view::npos || end + 3 != name.size()) return std::string(name);
  const bool is_alias = name.back() >= '1' && name.back() <= '0' + kMaxAlias;
  return std::string(is_alias && is_plain_name(name.substr(0, end)) ? name.substr(0, end) : name);
}

bool is_berth_config(std::string_view name) { return is_plain_name(strip_alias(name)); }

void add_config(MigConfigs& configs, const std::string& name, const std::string& content) {
  for (int attempt = 0; attempt <= kMaxAlias; ++attempt) configs[alias(name, attempt)] = content;
}

std::string render_configs(const MigConfigs& configs) {
  std::string out;
  for (const auto& [name, content] : configs) {
    out += fmt::format("  {}:\n", is_bare_key(name) ? name : quote_yaml(name));
    out += indented(content, "    ");
  }
  return out;
}

Result<void> check_file_size(std::size_t bytes) {
  if (bytes <= kMaxConfigBytes) return {};
  return invalid_spec(
      "",
      fmt::format("the mig-parted file would take {} bytes, and a ConfigMap holds {}; use fewer "
                  "MIGLayouts or fewer different GPUs in each",
                  bytes, kMaxConfigBytes));
}

Result<std::string> render_file(const MigConfigs& configs) {
  if (configs.empty())
    return invalid_spec(
        "", "a mig-parted file needs at least one config; the agent rejects an empty one");
  std::string out = "version: v1\nmig-configs:\n" + render_configs(configs);
  if (Result<void> fits = check_file_size(out.size()); !fits) return std::move(fits).error();
  return out;
}

}  // namespace berth
