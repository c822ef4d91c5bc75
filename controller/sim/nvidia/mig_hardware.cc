// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/mig_hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace berth::sim {
namespace {

// The seven-slot class: 8 memory units; the names differ by product only in their gigabytes.
std::vector<Profile> seven_slots(const std::string& one, const std::string& one_double,
                                 const std::string& two, const std::string& three,
                                 const std::string& four, const std::string& seven) {
  return {
      {one, 1, {0, 1, 2, 3, 4, 5, 6}, 7, 1},
      {one + "+me", 1, {0, 1, 2, 3, 4, 5, 6}, 1, 1, 0, 1},
      {one_double, 2, {0, 2, 4, 6}, 4, 1},
      {two, 2, {0, 2, 4}, 3, 2},
      {three, 4, {0, 4}, 2, 3},
      {four, 4, {0}, 1, 4},
      {seven, 8, {0}, 1, 7},
  };
}

std::vector<Profile> four_slots() {
  return {
      {"1g.6gb", 1, {0, 1, 2, 3}, 4, 1}, {"1g.6gb+me", 1, {0, 1, 2, 3}, 1, 1, 0, 1},
      {"2g.12gb", 2, {0, 2}, 2, 2},      {"2g.12gb+me", 2, {0, 2}, 1, 2, 0, 1},
      {"4g.24gb", 4, {0}, 1, 4},
  };
}

std::vector<Profile> twelve_units() {
  return {
      {"1g.24gb", 3, {0, 3, 6, 9}, 4, 1, 1, 0},     {"1g.24gb+me", 3, {0, 3, 6, 9}, 1, 1, 1, 1},
      {"1g.24gb+gfx", 3, {0, 3, 6, 9}, 4, 1, 1, 0}, {"1g.24gb+me.all", 3, {0, 3, 6, 9}, 1, 1, 4, 1},
      {"1g.24gb-me", 3, {0, 3, 6, 9}, 4, 1, 0, 0},  {"2g.48gb", 6, {0, 6}, 2, 2, 2, 0},
      {"2g.48gb+gfx", 6, {0, 6}, 2, 2, 2, 0},       {"2g.48gb+me.all", 6, {0, 6}, 1, 2, 4, 1},
      {"2g.48gb-me", 6, {0, 6}, 2, 2, 0, 0},        {"4g.96gb", 12, {0}, 1, 4, 4, 1},
      {"4g.96gb+gfx", 12, {0}, 1, 4, 4, 1},
  };
}

// The table in the order of NVIDIA's lists: by chip, then each board's label and PCI device.
class Products {
 public:
  Products() {
    chip_ = {.family = "ampere", .compute_major = 8, .compute_minor = 0, .units = 8};
    chip(40960, seven_slots("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"));
    board("NVIDIA-A100-SXM4-40GB", "20B0");
    board("NVIDIA-A100-PCIE-40GB", "20F1");
    board("NVIDIA-A100-40GB-PCIe", "20F1");
    board("NVIDIA-A800-SXM4-40GB", "20BD");
    board("NVIDIA-A800-PCIE-40GB", "20F6");
    board("NVIDIA-A800-40GB-PCIe", "20F6");
    const auto of_80 =
        seven_slots("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb");
    chip(81920, of_80);
    board("NVIDIA-A100-SXM4-80GB", "20B2");
    board("NVIDIA-A100-80GB-PCIe", "20B5");
    board("NVIDIA-A100-PCIE-80GB", "20B5");
    board("NVIDIA-A800-SXM4-80GB", "20F3");
    board("NVIDIA-A800-80GB-PCIe", "20F5");
    board("NVIDIA-A800-PCIE-80GB", "20F5");
    chip_.units = 4;
    chip(24576, four_slots());
    board("NVIDIA-A30", "20B7");
    board("NVIDIA-A30-PCIE-24GB", "20B7");

    chip_ = {.family = "hopper", .compute_major = 9, .compute_minor = 0, .units = 8};
    chip(81559, of_80);
    board("NVIDIA-H100-80GB-HBM3", "2330");
    board("NVIDIA-H100-PCIe", "2331");
    board("NVIDIA-H800", "2324");
    board("NVIDIA-H800-PCIe", "2322");
    chip(95830, seven_slots("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"));
    board("NVIDIA-H100-NVL", "2321");
    board("NVIDIA-H800-NVL", "233A");
    chip(97871, seven_slots("1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"));
    board("NVIDIA-H100-96GB-HBM3", "233D");
    board("NVIDIA-H100-SXM5-96GB", "233D");
    board("NVIDIA-H100-96GB", "233D");
    board("NVIDIA-H20", "2329");
    board("NVIDIA-GH200-480GB", "2342");  // the label names the CPU's memory
    board("NVIDIA-GH200-120GB", "2342");
    chip(146831, seven_slots("1g.18gb", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"));
    board("NVIDIA-GH200-144G-HBM3e", "2348");
    chip(143771, seven_slots("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"));
    board("NVIDIA-H200", "2335");
    board("NVIDIA-H200-NVL", "233B");

    chip_ = {.family = "blackwell", .compute_major = 10, .compute_minor = 0, .units = 8};
    chip(183359, seven_slots("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"));
    board("NVIDIA-B200", "2901");
    chip(189471, seven_slots("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"));
    board("NVIDIA-GB200", "2941");
    chip_.compute_minor = 3;
    chip(275040, seven_slots("1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"));
    board("NVIDIA-B300-SXM6-AC", "3182");
    board("NVIDIA-B300", "3182");
    chip(284208, seven_slots("1g.35gb", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb"));
    board("NVIDIA-GB300", "31C2");
    chip_ = {.family = "blackwell", .compute_major = 12, .units = 12, .decoders = 4};
    chip(97887, twelve_units());
    board("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "2BB5");
    board("NVIDIA-RTX-PRO-6000-Blackwell-Workstation-Edition", "2BB1");
    board("NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", "2BB4");
  }

  const std::vector<Product>& all() const { return all_; }

 private:
  void chip(int memory_mib, std::vector<Profile> profiles) {
    chip_.memory_mib = memory_mib;
    chip_.profiles = std::move(profiles);
  }
  void board(const char* label, const char* device) {
    Product& product = all_.emplace_back(chip_);
    product.name = label;
    product.device_id = fmt::format("0x{}10DE", device);
  }

  Product chip_;
  std::vector<Product> all_;
};

const Profile* profile_of(const Product& product, const std::string& name) {
  for (const Profile& profile : product.profiles)
    if (profile.name == name) return &profile;
  return nullptr;
}

bool place(const Product& product, const std::vector<const Profile*>& todo, std::size_t next,
           unsigned used) {
  if (next == todo.size()) return true;
  const Profile& profile = *todo[next];
  for (const int start : profile.starts) {
    if (start + profile.size > product.units) continue;
    const unsigned mask = ((1u << profile.size) - 1) << start;
    if ((used & mask) == 0 && place(product, todo, next + 1, used | mask)) return true;
  }
  return false;
}

std::string resource_suffix(std::string profile) {
  std::replace(profile.begin(), profile.end(), '+', '.');
  return profile;
}

int total(const Instances& instances) {
  int sum = 0;
  for (const auto& [name, count] : instances) sum += count;
  return sum;
}

// For "single": all GPUs have MIG off, or all have MIG on with a single profile.
bool homogeneous(const std::vector<Gpu>& gpus) {
  std::set<std::string> kinds;
  for (const Gpu& gpu : gpus) {
    if (!gpu.mig_enabled) kinds.insert("off");
    if (gpu.mig_enabled && gpu.instances.empty()) kinds.insert("empty");
    for (const auto& [name, count] : gpu.instances) kinds.insert(name);
  }
  return kinds.size() == 1 && *kinds.begin() != "empty";
}

bool any_mig(const std::vector<Gpu>& gpus) {
  return std::any_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.mig_enabled; });
}

void add_mixed_labels(const Product& product, const std::vector<Gpu>& gpus,
                      std::map<std::string, std::string>& out) {
  Instances sum;
  for (const Gpu& gpu : gpus)
    for (const auto& [name, count] : gpu.instances) sum[name] += count;
  for (const auto& [name, count] : sum) {
    const std::string suffix = resource_suffix(name);
    const std::string prefix = "nvidia.com/mig-" + suffix;
    const Profile* profile = profile_of(product, name);
    out[prefix + ".count"] = std::to_string(count);
    const std::string shown = product.name + "-MIG-" + suffix;
    if (shown.size() <= 63) out[prefix + ".product"] = shown;  // a longer one is no valid label
    out[prefix + ".replicas"] = "1";
    out[prefix + ".sharing-strategy"] = "none";
    out[prefix + ".memory"] = std::to_string(product.memory_mib * profile->size / product.units);
    out[prefix + ".slices.gi"] = std::to_string(profile->slices);
    out[prefix + ".slices.ci"] = std::to_string(profile->slices);
  }
}

void add_single_labels(const Product& product, const std::vector<Gpu>& gpus,
                       std::map<std::string, std::string>& out) {
  if (!any_mig(gpus)) return;
  if (!homogeneous(gpus)) {
    out["nvidia.com/gpu.product"] = product.name + "-MIG-INVALID";
    out["nvidia.com/gpu.count"] = "0";
    out["nvidia.com/gpu.replicas"] = "0";
    out["nvidia.com/gpu.sharing-strategy"] = "";
    out["nvidia.com/gpu.memory"] = "0";
    return;
  }
  const std::string name = gpus.front().instances.begin()->first;
  int count = 0;
  for (const Gpu& gpu : gpus) count += total(gpu.instances);
  const Profile* profile = profile_of(product, name);
  out["nvidia.com/gpu.product"] = product.name + "-MIG-" + resource_suffix(name);
  out["nvidia.com/gpu.count"] = std::to_string(count);
  out["nvidia.com/gpu.memory"] = std::to_string(product.memory_mib * profile->size / product.units);
  out["nvidia.com/gpu.slices.gi"] = std::to_string(profile->slices);
  out["nvidia.com/gpu.slices.ci"] = std::to_string(profile->slices);
}

}  // namespace

const Product& product_of(const std::string& name) {
  static const Products products;
  for (const Product& product : products.all())
    if (product.name == name) return product;
  throw std::runtime_error("no table of MIG profiles for the product " + name);
}

std::string why_not_placeable(const Product& product, const Instances& wanted) {
  std::vector<const Profile*> todo;
  int decoders = 0, ofa = 0;
  for (const auto& [name, count] : wanted) {
    const Profile* profile = profile_of(product, name);
    if (profile == nullptr) return fmt::format("{} has no profile {}", product.name, name);
    if (count > profile->max) return fmt::format("at most {} of {}", profile->max, name);
    decoders += count * profile->decoders;
    ofa += count * profile->ofa;
    todo.insert(todo.end(), static_cast<std::size_t>(count), profile);
  }
  if (decoders > product.decoders || ofa > 1) return "not enough media engines";
  std::stable_sort(todo.begin(), todo.end(),
                   [](const Profile* a, const Profile* b) { return a->size > b->size; });
  return place(product, todo, 0, 0) ? "" : "Insufficient Resources";
}

Advertised advertise(const std::vector<Gpu>& gpus, const std::string& strategy) {
  Advertised out;
  const std::string full = "nvidia.com/gpu";
  if (strategy == "none") {
    out.resources[full] = static_cast<int>(gpus.size());
  } else if (strategy == "single") {
    if (!homogeneous(gpus)) return {{}, true};
    for (const Gpu& gpu : gpus) out.resources[full] += gpu.mig_enabled ? total(gpu.instances) : 1;
  } else {
    for (const Gpu& gpu : gpus) {
      if (!gpu.mig_enabled) ++out.resources[full];
      for (const auto& [name, count] : gpu.instances)
        out.resources["nvidia.com/mig-" + resource_suffix(name)] += count;
    }
  }
  return out;
}

std::map<std::string, std::string> discovery_labels(const Product& product,
                                                    const std::vector<Gpu>& gpus,
                                                    const std::string& strategy) {
  const auto off =
      std::count_if(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return !gpu.mig_enabled; });
  std::map<std::string, std::string> out = {
      {"nvidia.com/gpu.product", product.name},
      {"nvidia.com/gpu.count", std::to_string(gpus.size())},
      {"nvidia.com/gpu.memory", std::to_string(product.memory_mib)},
      {"nvidia.com/gpu.replicas", off == 0 && strategy != "single" ? "0" : "1"},
      {"nvidia.com/gpu.sharing-strategy", "none"},
      {"nvidia.com/gpu.family", product.family},
      {"nvidia.com/gpu.compute.major", std::to_string(product.compute_major)},
      {"nvidia.com/gpu.compute.minor", std::to_string(product.compute_minor)},
      {"nvidia.com/gpu.machine", "unknown"},
      {"nvidia.com/gpu.mode", "compute"},
      {"nvidia.com/mig.capable", "true"},
      {"nvidia.com/mps.capable", "false"},
      {"nvidia.com/cuda.driver-version.full", "580.65.06"},
      {"nvidia.com/cuda.driver-version.major", "580"},
      {"nvidia.com/cuda.runtime-version.full", "13.0"},
  };
  if (strategy != "none") out["nvidia.com/mig.strategy"] = strategy;
  if (strategy == "mixed") add_mixed_labels(product, gpus, out);
  if (strategy == "single") add_single_labels(product, gpus, out);
  return out;
}

}  // namespace berth::sim
