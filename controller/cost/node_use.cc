// SPDX-License-Identifier: Apache-2.0
// Outline: the measured use of each pod; what each pod holds; what is left.
#include "controller/cost/node_use.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "controller/core/cluster_state.h"
#include "controller/fleet/gpu_weight.h"
#include "controller/fleet/node_facts.h"

namespace berth::cost {
namespace {

constexpr std::int64_t kRounding = 100;  // seven sevenths are a millionth less than a GPU

// The measured use of one pod, over all pieces that it holds.
struct Measured {
  std::int64_t pieces = 0;
  double whole_gpus = 0;  // sum over whole GPUs: activity, split between the holders
  double instances = 0;   // sum over MIG instances: activity, 0 to 1 each
  std::int64_t memory_mib = 0;
  std::optional<std::int64_t> peak;
};
using MeasuredPods = std::map<std::pair<std::string_view, std::string_view>, Measured>;

// Percent, rounded up unless the rest is below a thousandth: the float 0.3 is a little more than
// 0.3.
void add_most(const GpuSample& gpu, double activity, Measured& measured) {
  measured.peak =
      std::max(measured.peak.value_or(0), static_cast<std::int64_t>(activity * 100 + 0.999));
  if (gpu.memory_mib)
    measured.memory_mib = std::max(measured.memory_mib, static_cast<std::int64_t>(*gpu.memory_mib));
}

MeasuredPods measured_on(const Snapshot& snapshot, const Node& node) {
  MeasuredPods pods;
  for (const GpuSample& gpu : snapshot.samples.on(node.meta.name)) {
    if (!gpu.activity || !snapshot.samples.is_fresh(gpu, snapshot.now)) continue;
    const double activity = std::clamp<double>(*gpu.activity, 0, 1);
    for (const GpuHolder& holder : gpu.holders) {
      Measured& measured = pods[{holder.namespace_.view(), holder.pod.view()}];
      if (gpu.holders.size() == 1) add_most(gpu, activity, measured);
      ++measured.pieces;
      if (gpu.instance.empty())
        measured.whole_gpus += activity / static_cast<double>(gpu.holders.size());
      else
        measured.instances += activity;
    }
  }
  return pods;
}

// Returns the millionths of a GPU that so many units of a resource are, at most kMaxGpusOfNode
// GPUs.
std::int64_t part_of(const Text& resource, const Quantity& quantity, GpuWeights& weights) {
  const std::int64_t weight = weights.of(resource).value_or(0);
  if (weight <= 0) return 0;
  const std::int64_t most = kMaxGpusOfNode * kWholeGpu / weight;
  return std::clamp<std::int64_t>(quantity.rounded_up(), 0, most) * weight;
}

struct Asked {
  std::int64_t pieces = 0;
  std::int64_t part = 0;  // millionths of a GPU
};

Asked asked_by(const Pod& pod, GpuWeights& weights) {
  Asked asked;
  for (const auto& [resource, quantity] : gpus_in(pod.shape->requests)) {
    asked.pieces += quantity.rounded_up();
    asked.part += part_of(resource, quantity, weights);
  }
  return asked;
}

// Pieces that no series names are unmeasured. The others are at work as far as measured.
HeldUse split(const Pod& pod, const Asked& asked, std::int64_t part, const Measured* measured) {
  HeldUse held{.pod = &pod, .unmeasured = part};
  if (measured == nullptr || asked.pieces == 0) return held;
  held.memory_mib = measured->memory_mib;
  held.peak = measured->peak;
  const std::int64_t pieces = std::max(asked.pieces, measured->pieces);
  const std::int64_t known = part * measured->pieces / pieces;
  const double each = static_cast<double>(part) / static_cast<double>(pieces);
  const double used = measured->whole_gpus * kWholeGpu + measured->instances * each;
  if (used > 0)
    held.used = static_cast<std::int64_t>(std::min(used + 0.5, static_cast<double>(known)));
  held.idle = known - held.used;
  held.unmeasured = part - known;
  return held;
}

// Returns how much the node offers to pods, in millionths of a GPU.
std::int64_t offered(const Node& node, GpuWeights& weights) {
  std::int64_t sum = 0;
  for (const auto& [resource, quantity] : gpus_in(node.allocatable))
    sum += part_of(resource, quantity, weights);
  return sum;
}

}  // namespace

NodeUse use_of(const Snapshot& snapshot, const Node& node) {
  NodeUse use;
  const std::optional<Inventory> inventory = inventory_of(node);
  if (!inventory) return use;
  use.whole = inventory->count * kWholeGpu;
  const MeasuredPods measured = measured_on(snapshot, node);
  GpuWeights weights(node);
  std::int64_t left = use.whole;
  std::int64_t held = 0;
  for (const Occupant& occupant : snapshot.cluster.occupants_of(node.meta.name)) {
    if (!occupant.uses_gpu) continue;
    const Pod& pod = *occupant.pod;
    const Asked asked = asked_by(pod, weights);
    const std::int64_t part = std::min(asked.part, left);
    if (part <= 0) continue;
    const auto found = measured.find({pod.meta.namespace_.view(), pod.meta.name});
    use.held.push_back(split(pod, asked, part, found == measured.end() ? nullptr : &found->second));
    left -= part;
    held += part;
  }
  if (!in_service(node)) {
    use.lost = left;
    return use;
  }
  use.free = std::clamp<std::int64_t>(offered(node, weights) - held, 0, left);
  if (left - use.free < kRounding) use.free = left;
  use.fragments = left - use.free;
  return use;
}

}  // namespace berth::cost
