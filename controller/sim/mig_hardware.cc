// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/mig_hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace berth::sim {
namespace {

// The seven-slot class: 8 memory units; the names differ by product only in their gigabytes.
std::vector<Profile> seven_slots(const char* one, const char* one_double, const char* two,
                                 const char* three, const char* four, const char* seven) {
  return {
      {one, 1, {0, 1, 2, 3, 4, 5, 6}, 7, 1},
      {std::string(one) + "+me", 1, {0, 1, 2, 3, 4, 5, 6}, 1, 1},
      {one_double, 2, {0, 2, 4, 6}, 4, 1},
      {two, 2, {0, 2, 4}, 3, 2},
      {three, 4, {0, 4}, 2, 3},
      {four, 4, {0}, 1, 4},
      {seven, 8, {0}, 1, 7},
  };
}

std::vector<Profile> four_slots() {
  return {
      {"1g.6gb", 1, {0, 1, 2, 3}, 4, 1}, {"1g.6gb+me", 1, {0, 1, 2, 3}, 1, 1},
      {"2g.12gb", 2, {0, 2}, 2, 2},      {"2g.12gb+me", 2, {0, 2}, 1, 2},
      {"4g.24gb", 4, {0}, 1, 4},
  };
}

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

// Under "single" every GPU has MIG off, or every GPU has MIG on and all devices are of one profile.
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
    out[prefix + ".product"] = product.name + "-MIG-" + suffix;
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

const std::vector<Product>& products() {
  static const std::vector<Product> table = [] {
    const auto a100_40 =
        seven_slots("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb");
    const auto x80 = seven_slots("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb");
    const auto h200 =
        seven_slots("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb");
    const auto b200 =
        seven_slots("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb");
    return std::vector<Product>{
        {"NVIDIA-A100-SXM4-40GB", "0x20B010DE", "ampere", 8, 0, 40960, 8, a100_40},
        {"NVIDIA-A100-SXM4-80GB", "0x20B210DE", "ampere", 8, 0, 81920, 8, x80},
        {"NVIDIA-A100-80GB-PCIe", "0x20B510DE", "ampere", 8, 0, 81920, 8, x80},
        {"NVIDIA-H100-80GB-HBM3", "0x233010DE", "hopper", 9, 0, 81559, 8, x80},
        {"NVIDIA-H200", "0x233510DE", "hopper", 9, 0, 143771, 8, h200},
        {"NVIDIA-B200", "0x290110DE", "blackwell", 10, 0, 183359, 8, b200},
        {"NVIDIA-A30", "0x20B710DE", "ampere", 8, 0, 24576, 4, four_slots()},
    };
  }();
  return table;
}

const Product& product_of(const std::string& name) {
  for (const Product& product : products())
    if (product.name == name) return product;
  throw std::runtime_error("no table of MIG profiles for the product " + name);
}

std::string why_not_placeable(const Product& product, const Instances& wanted) {
  std::vector<const Profile*> todo;
  int media = 0;
  for (const auto& [name, count] : wanted) {
    const Profile* profile = profile_of(product, name);
    if (profile == nullptr) return fmt::format("{} has no profile {}", product.name, name);
    if (count > profile->max) return fmt::format("at most {} of {}", profile->max, name);
    if (name.find("+me") != std::string::npos) media += count;
    todo.insert(todo.end(), static_cast<std::size_t>(count), profile);
  }
  if (media > 1) return "at most one +me instance";
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
