// SPDX-License-Identifier: Apache-2.0
// nvml_geometry_check [LIBRARY]: compares berth's tables with what NVML says of the GPUs in this
// machine. Read-only. Exit 0: equal; 1: they differ; 77: nothing to compare here, which ctest shows
// as skipped.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <vector>

#include "controller/fleet/geometry.h"
#include "tests/nvml/nvml.h"

namespace berth {
namespace {

constexpr int kEqual = 0, kDiffers = 1, kSkipped = 77;

std::string describe_profile(unsigned slices, unsigned count, unsigned units,
                             const std::vector<int>& starts) {
  if (units == 0) return fmt::format("{} slices, at most {}", slices, count);
  return fmt::format("{} slices, at most {}, {} units at {}", slices, count, units,
                     fmt::join(starts, ","));
}

// True if the row is equal. NVML is known to report wrong counts on A30 (mig-parted carries a table
// of its own for it), so there only slices and placements decide.
bool compare(const Product& product, const Profile& ours, const NvmlProfile* theirs) {
  const auto number = [](int value) { return static_cast<unsigned>(value); };
  const bool placed = theirs != nullptr && theirs->memory_units != 0;
  const std::string mine =
      describe_profile(number(ours.compute_slices), number(ours.max_count),
                       placed || theirs == nullptr ? number(ours.memory_units) : 0, ours.starts);
  if (theirs == nullptr) {
    fmt::print("  {:<16} MISSING in NVML      berth: {}\n", ours.name, mine);
    return false;
  }
  const std::string other = describe_profile(theirs->compute_slices, theirs->max_count,
                                             theirs->memory_units, theirs->starts);
  const bool count_is_unreliable = product.model == "A30";
  const bool equal = theirs->compute_slices == number(ours.compute_slices) &&
                     (theirs->max_count == number(ours.max_count) || count_is_unreliable) &&
                     (!placed || (theirs->memory_units == number(ours.memory_units) &&
                                  theirs->starts == ours.starts));
  fmt::print("  {:<16} {}   NVML: {} ({} MiB)   berth: {}\n", ours.name,
             equal ? "equal  " : "DIFFERS", other, theirs->memory_mib, mine);
  return equal;
}

const NvmlProfile* find(const NvmlGpu& gpu, const Profile& profile) {
  for (const NvmlProfile& p : gpu.profiles)
    if (profile.named(p.name)) return &p;
  return nullptr;
}

int compare(const NvmlGpu& gpu) {
  const Product* product = find_product_by_device_id(gpu.device_id);
  fmt::print("{} (device id 0x{:04X}, {} MiB): {}\n", gpu.name, gpu.device_id, gpu.memory_mib,
             product ? product->model : "not a product berth knows");
  if (!gpu.note.empty()) fmt::print("  note: {}\n", gpu.note);
  if (gpu.profiles.empty()) return kSkipped;
  bool equal = product != nullptr;
  for (const NvmlProfile& theirs : gpu.profiles) {
    if (product != nullptr && product->find_profile(theirs.name) != nullptr) continue;
    fmt::print("  {:<16} MISSING in berth     NVML: {}\n", theirs.name,
               describe_profile(theirs.compute_slices, theirs.max_count, theirs.memory_units,
                                theirs.starts));
    equal = false;
  }
  if (product != nullptr)
    for (const Profile& ours : product->profiles)
      equal = compare(*product, ours, find(gpu, ours)) && equal;
  return equal ? kEqual : kDiffers;
}

int run(const std::string& library) {
  Result<std::vector<NvmlGpu>> gpus = read_nvml(library);
  if (!gpus && gpus.error().kind == ErrorKind::kNotFound) {
    fmt::print("skipped: no NVIDIA GPU here ({})\n", gpus.error().message);
    return kSkipped;
  }
  if (!gpus) {
    fmt::print("{}\n", gpus.error().message);
    return kDiffers;
  }
  bool compared = false, differs = false;
  for (const NvmlGpu& gpu : *gpus) {
    const int outcome = compare(gpu);
    compared = compared || outcome != kSkipped;
    differs = differs || outcome == kDiffers;
  }
  if (!compared) fmt::print("skipped: no GPU here tells its MIG profiles\n");
  return differs ? kDiffers : compared ? kEqual : kSkipped;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) { return berth::run(argc > 1 ? argv[1] : "libnvidia-ml.so.1"); }
