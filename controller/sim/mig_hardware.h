// SPDX-License-Identifier: Apache-2.0
// The GPUs of a pretended node: what the driver would answer. Written from NVIDIA's tables again,
// on purpose without controller/mig: if berth's geometry is wrong, this one refuses what berth
// rolls out.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth::sim {

using Instances = std::map<std::string, int>;  // profile ("3g.40gb", "1g.10gb+me") → how many

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
  int slices;  // compute slices: the g of the name
  // Of the GPU's media engines, where they can run short.
  int decoders = 0;  // as many encoders and JPEG engines
  int ofa = 0;
};

struct Product {
  std::string name;       // nvidia.com/gpu.product
  std::string device_id;  // as mig-parted's device-filter writes it: 0x20B210DE
  std::string family;
  int compute_major;
  int compute_minor;
  int memory_mib;
  int units;
  std::vector<Profile> profiles;
  int decoders = 0;
};

// Throws std::runtime_error for a product this file has no table for.
const Product& product_of(const std::string& name);

// "" if these instances fit one GPU of the product; else what the driver would say.
std::string why_not_placeable(const Product& product, const Instances& wanted);

// What the device plugin would advertise: resource → count. Under "single" a node whose GPUs differ
// makes the real plugin crash: then nothing is advertised and `crashed` is set.
struct Advertised {
  std::map<std::string, int> resources;
  bool crashed = false;
};
Advertised advertise(const std::vector<Gpu>& gpus, const std::string& strategy);

// What GPU feature discovery would write, all keys it owns.
std::map<std::string, std::string> discovery_labels(const Product& product,
                                                    const std::vector<Gpu>& gpus,
                                                    const std::string& strategy);

}  // namespace berth::sim
