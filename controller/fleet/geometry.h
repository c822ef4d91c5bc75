// SPDX-License-Identifier: Apache-2.0
// Geometry: what each MIG-capable GPU product can be cut into. A profile is looked up by product
// and name, never by name alone: 1g.35gb is a double-memory slice on H200 and a plain one on GB300.
// Everything here is a constant table; pointers and spans into it stay valid for the life of the
// process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"

namespace berth {

// Media engines of a GPU, or the share of them that one instance takes.
struct Engines {
  int nvdec = 0;
  int nvenc = 0;
  int jpeg = 0;
  int ofa = 0;
  bool operator==(const Engines&) const = default;
};

struct Profile {
  std::string name;                  // as NVIDIA's newest drivers write it: "3g.40gb", "1g.10gb+me"
  std::vector<std::string> aliases;  // other drivers' names for the same thing
  int compute_slices = 0;
  int memory_units = 0;     // how many consecutive units an instance takes
  std::vector<int> starts;  // the units it may begin at
  int max_count = 0;        // instances per GPU
  std::string attributes;   // "", "+me", "+gfx", "+me.all", "-me"
  // Only what can make a set impossible is recorded. On the 7-slot products and A30 that is the one
  // OFA, which the +me profiles share; on RTX PRO 6000 it is every engine.
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
  Engines engines;                // the budget all instances share
  std::vector<Profile> profiles;  // largest first

  const Profile* find_profile(
      std::string_view name) const;  // nullptr: this product has no such profile
};

std::span<const Product> all_products();

// The product behind a value of nvidia.com/gpu.product; -MIG-… and -SHARED suffixes and a missing
// NVIDIA- prefix (older drivers) don't matter. GH200's label says nothing about its GPU memory (96
// or 144 GB): there `memory_mib`, the value of nvidia.com/gpu.memory read while MIG is off,
// decides. nullptr: unknown, or not to be told apart.
const Product* find_product(std::string_view gpu_product_label,
                            std::optional<std::int64_t> memory_mib = std::nullopt);
const Product* find_product_by_device_id(std::uint16_t pci_device_id);
// By model name ("A100-80GB"), in any case, for command lines.
const Product* find_product_by_model(std::string_view model);

// find_product for a user: the error says whether the label is unknown or ambiguous, and what is
// known.
Result<const Product*> require_product(std::string_view gpu_product_label,
                                       std::optional<std::int64_t> memory_mib = std::nullopt);

// "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED" → "NVIDIA-A100-SXM4-80GB". -MIG-INVALID goes too.
std::string strip_product_suffix(std::string_view gpu_product_label);

// The numbers of a profile name, "3g.40gb+me" → {3, 40, "+me"}; nothing if it isn't one. For
// ordering by size where no product is at hand; it says nothing about what the profile takes up.
struct ProfileName {
  int compute_slices = 0;
  int memory_gb = 0;
  std::string attributes;
};
std::optional<ProfileName> parse_profile_name(std::string_view name);

}  // namespace berth
