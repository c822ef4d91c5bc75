// SPDX-License-Identifier: Apache-2.0
// MigHardware: the GPUs of a simulated node, as the driver would report them. It is written again
// from NVIDIA's tables, on purpose without controller/mig. If berth's geometry is wrong, this one
// refuses what berth rolls out.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth::sim {

using Instances = std::map<std::string, int>;  // profile ("3g.40gb", "1g.10gb+me") → count

struct Gpu {
  bool mig_enabled = false;
  Instances instances;
  bool operator==(const Gpu&) const = default;
};

struct Profile {
  std::string name;
  int size;                 // memory units
  std::vector<int> starts;  // first units allowed
  int max;
  int slices;  // compute slices: the g in the name
  // The number of media engines, if they are limited.
  int decoders = 0;  // as many encoders and JPEG engines
  int ofa = 0;
};

struct Product {
  std::string name;       // nvidia.com/gpu.product
  std::string device_id;  // as in mig-parted's device-filter: 0x20B210DE
  std::string family;
  int compute_major;
  int compute_minor;
  int memory_mib;
  int units;
  std::vector<Profile> profiles;
  int decoders = 0;
};

// Throws std::runtime_error for a product without a table in this file.
const Product& product_of(const std::string& name);

// "" if these instances fit on one GPU of the product; else the driver's message.
std::string why_not_placeable(const Product& product, const Instances& wanted);

// The device plugin's resources: resource → count. With "single", different GPUs on a node crash
// the real plugin: then it advertises nothing and `crashed` is set.
struct Advertised {
  std::map<std::string, int> resources;
  bool crashed = false;
};
Advertised advertise(const std::vector<Gpu>& gpus, const std::string& strategy);

// The labels of GPU feature discovery: all keys that it owns.
std::map<std::string, std::string> discovery_labels(const Product& product,
                                                    const std::vector<Gpu>& gpus,
                                                    const std::string& strategy);

}  // namespace berth::sim
