// SPDX-License-Identifier: Apache-2.0
// MigParted: NVIDIA's mig-parted: a strict YAML file, `assert` and `apply`. It behaves like the
// real one. Apply skips a GPU that no entry covers, but assert fails for it. A zero count never
// equals the hardware. One mode change clears every covered GPU. A layout that does not fit leaves
// its GPU cleared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/sim/nvidia/mig_hardware.h"

namespace berth::sim {

struct PartedEntry {
  std::vector<std::string> device_filter;   // empty: every GPU
  std::optional<std::vector<int>> devices;  // nullopt: all
  bool mig_enabled = false;
  Instances mig_devices;
};

struct PartedFile {
  std::map<std::string, std::vector<PartedEntry>> configs;
  std::string error;  // why the whole file is refused; "" if it is valid
};

PartedFile parse_parted_file(const std::string& yaml);

// Whether the GPUs already have this config.
bool is_applied(const std::vector<PartedEntry>& config, const Product& product,
                const std::vector<Gpu>& gpus);

// Applies the config; returns "" or the error, with the GPUs in the state in which the real one
// leaves them.
std::string apply_config(const std::vector<PartedEntry>& config, const Product& product,
                         std::vector<Gpu>& gpus);

}  // namespace berth::sim
