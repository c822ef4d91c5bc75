// SPDX-License-Identifier: Apache-2.0
// Geometry: the MIG profiles of each MIG-capable GPU product. A profile is looked up by product and
// name, never by name alone: 1g.35gb is a double-memory slice on H200 and a plain one on GB300.
// Everything here is a constant table. Pointers and spans into it stay valid for the life of the
// process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"

namespace berth {

// Media engines of a GPU, or the part of them that one instance takes.
struct Engines {
  int nvdec = 0;
  int nvenc = 0;
  int jpeg = 0;
  int ofa = 0;
  bool operator==(const Engines&) const = default;
};

struct Profile {
  std::string name;                  // the name in NVIDIA's newest drivers: "3g.40gb", "1g.10gb+me"
  std::vector<std::string> aliases;  // names of the same profile in other drivers
  int compute_slices = 0;
  int memory_units = 0;     // consecutive units that an instance takes
  std::vector<int> starts;  // units at which it may begin
  int max_count = 0;        // instances per GPU
  std::string attributes;   // "", "+me", "+gfx", "+me.all", "-me"
  // Only engines that can make a set impossible are listed. On the 7-slot products and A30 that is
  // the one OFA, which the +me profiles share. On RTX PRO 6000 it is every engine.
  Engines engines;

  bool named(std::string_view wanted) const;  // by name or alias
  bool operator==(const Profile&) const = default;
};

struct Product {
  std::string model;                      // our short name: "A100-80GB"
  std::string family;                     // nvidia.com/gpu.family: "ampere"
  std::vector<std::string> labels;        // nvidia.com/gpu.product of whole GPUs
  std::vector<std::uint16_t> device_ids;  // PCI device ids (vendor 10DE)
  int memory_gb = 0;                      // as in the name of the whole-GPU profile
  int memory_units = 0;
  int compute_slices = 0;
  Engines engines;                // shared by all instances
  std::vector<Profile> profiles;  // largest first

  const Profile* find_profile(
      std::string_view name) const;  // nullptr: this product has no such profile
};

std::span<const Product> all_products();

// Returns the product for a value of nvidia.com/gpu.product. It ignores suffixes -MIG-… and -SHARED
// and a missing prefix NVIDIA- (older drivers). GH200's label says nothing about its GPU memory (96
// or 144 GB). There `memory_mib` decides, the value of nvidia.com/gpu.memory while MIG is off.
// nullptr: unknown or ambiguous.
const Product* find_product(std::string_view gpu_product_label,
                            std::optional<std::int64_t> memory_mib = std::nullopt);
const Product* find_product_by_device_id(std::uint16_t pci_device_id);
// Finds a product by its model name ("A100-80GB"), in any case, for command lines.
const Product* find_product_by_model(std::string_view model);

// Like find_product, for a user: the error says whether the label is unknown or ambiguous, and what
// berth knows.
Result<const Product*> require_product(std::string_view gpu_product_label,
                                       std::optional<std::int64_t> memory_mib = std::nullopt);

// "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED" → "NVIDIA-A100-SXM4-80GB". It also removes
// -MIG-INVALID.
std::string strip_product_suffix(std::string_view gpu_product_label);

// The numbers in a profile name, "3g.40gb+me" → {3, 40, "+me"}; nothing if it isn't one. They serve
// to order profiles by size where the product is not known. They do not say what a profile takes of
// a GPU.
struct ProfileName {
  int compute_slices = 0;
  int memory_gb = 0;
  std::string attributes;
};
std::optional<ProfileName> parse_profile_name(std::string_view name);

}  // namespace berth
