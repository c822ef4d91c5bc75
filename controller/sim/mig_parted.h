// SPDX-License-Identifier: Apache-2.0
// NVIDIA's mig-parted as its users meet it: a strict YAML file, `assert` and `apply`. It keeps the
// real one's habits: a GPU that no entry covers is skipped by apply but fails the assert, a zero
// count never equals the hardware, one mode change clears every covered GPU, and a layout that does
// not fit leaves its GPU cleared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/sim/mig_hardware.h"

namespace berth::sim {

struct PartedEntry {
  std::vector<std::string> device_filter;   // empty: every GPU
  std::optional<std::vector<int>> devices;  // nothing: all
  bool mig_enabled = false;
  Instances mig_devices;
};

struct PartedFile {
  std::map<std::string, std::vector<PartedEntry>> configs;
  std::string error;  // why the file as a whole is refused; "" if it is fine
};

PartedFile parse_parted_file(const std::string& yaml);

// Is this config what the GPUs are already?
bool is_applied(const std::vector<PartedEntry>& config, const Product& product,
                const std::vector<Gpu>& gpus);

// Applies it; returns "" or what failed, with the GPUs left as the real one leaves them.
std::string apply_config(const std::vector<PartedEntry>& config, const Product& product,
                         std::vector<Gpu>& gpus);

}  // namespace berth::sim
