// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/mig_parted.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <stdexcept>

namespace berth::sim {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error(why); }

PartedEntry parse_entry(const YAML::Node& node) {
  PartedEntry out;
  if (!node.IsMap()) refuse("an entry is not a map");
  for (const auto& field : node) {
    const std::string key = field.first.as<std::string>();
    const YAML::Node& value = field.second;
    if (key == "device-filter") {
      if (value.IsScalar()) out.device_filter.push_back(value.as<std::string>());
      for (const auto& one : value) out.device_filter.push_back(one.as<std::string>());
    } else if (key == "devices") {
      if (value.IsScalar() && value.as<std::string>() != "all")
        refuse("devices is neither \"all\" nor a list");
      if (value.IsSequence()) out.devices = value.as<std::vector<int>>();
    } else if (key == "mig-enabled") {
      out.mig_enabled = value.as<bool>();
    } else if (key == "mig-devices") {
      for (const auto& one : value)
        out.mig_devices[one.first.as<std::string>()] = one.second.as<int>();
    } else {
      refuse("unknown field " + key);
    }
  }
  if (!node["devices"] || !node["mig-enabled"]) refuse("devices and mig-enabled are required");
  if (out.mig_enabled && !node["mig-devices"]) refuse("mig-devices is required with mig-enabled");
  if (!out.mig_enabled && !out.mig_devices.empty())
    refuse("mig-devices must be empty without mig-enabled");
  const auto positive = [](const auto& entry) { return entry.second > 0; };
  for (const auto& [name, count] : out.mig_devices)
    if (count < 0) refuse("a negative count of " + name);
  if (!out.mig_devices.empty() &&
      std::none_of(out.mig_devices.begin(), out.mig_devices.end(), positive))
    refuse("all counts are zero");
  return out;
}

bool matches(const PartedEntry& entry, const Product& product, std::size_t index) {
  if (!entry.device_filter.empty() &&
      std::find(entry.device_filter.begin(), entry.device_filter.end(), product.device_id) ==
          entry.device_filter.end())
    return false;
  if (!entry.devices.has_value()) return true;
  return std::find(entry.devices->begin(), entry.devices->end(), static_cast<int>(index)) !=
         entry.devices->end();
}

Instances without_zeros(const Instances& counts) {
  Instances out;
  for (const auto& [name, count] : counts)
    if (count > 0) out[name] = count;
  return out;
}

void apply_modes(const std::vector<PartedEntry>& config, const Product& product,
                 std::vector<Gpu>& gpus) {
  bool flips = false;
  for (const PartedEntry& entry : config)
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (matches(entry, product, i)) flips = flips || gpus[i].mig_enabled != entry.mig_enabled;
  if (!flips) return;
  for (const PartedEntry& entry : config)
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (matches(entry, product, i)) gpus[i] = {entry.mig_enabled, {}};
}

}  // namespace

PartedFile parse_parted_file(const std::string& yaml) {
  PartedFile out;
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) refuse("the file is not a map");
    for (const auto& field : root) {
      const std::string key = field.first.as<std::string>();
      if (key != "version" && key != "mig-configs") refuse("unknown field " + key);
    }
    if (!root["version"] || root["version"].as<std::string>() != "v1") refuse("version is not v1");
    if (!root["mig-configs"] || root["mig-configs"].size() == 0) refuse("mig-configs is empty");
    for (const auto& config : root["mig-configs"]) {
      const std::string name = config.first.as<std::string>();
      if (!config.second.IsSequence() || config.second.size() == 0)
        refuse(name + " is not a list with entries");
      for (const auto& entry : config.second) out.configs[name].push_back(parse_entry(entry));
    }
  } catch (const std::exception& error) {  // also yaml-cpp's exceptions
    out.error = error.what();
  }
  return out;
}

bool is_applied(const std::vector<PartedEntry>& config, const Product& product,
                const std::vector<Gpu>& gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const PartedEntry* last = nullptr;
    for (const PartedEntry& entry : config) {
      if (!matches(entry, product, i)) continue;
      if (entry.mig_enabled != gpus[i].mig_enabled) return false;
      last = &entry;
    }
    if (last == nullptr || last->mig_devices != gpus[i].instances) return false;
  }
  return true;
}

std::string apply_config(const std::vector<PartedEntry>& config, const Product& product,
                         std::vector<Gpu>& gpus) {
  apply_modes(config, product, gpus);
  for (const PartedEntry& entry : config) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (!matches(entry, product, i) || !entry.mig_enabled) continue;
      const Instances wanted = without_zeros(entry.mig_devices);
      if (gpus[i].instances == wanted) continue;
      gpus[i].instances.clear();
      const std::string refused = why_not_placeable(product, wanted);
      if (!refused.empty()) return fmt::format("GPU {}: {}", i, refused);
      gpus[i].instances = wanted;
    }
  }
  return "";
}

}  // namespace berth::sim
