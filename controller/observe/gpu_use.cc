// SPDX-License-Identifier: Apache-2.0
// Outline: node by node the GPUs with their instances; then what each pod holds of them.
#include "controller/observe/gpu_use.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "controller/core/seeded_bugs.h"
#include "controller/fleet/gpu_weight.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"

namespace berth {
namespace {

bool same_card(const GpuSample& a, const GpuSample& b) {
  return a.uuid.empty() || b.uuid.empty() ? a.index == b.index : a.uuid == b.uuid;
}

class Surveyor {
 public:
  Surveyor(const Snapshot& snapshot, const GPUClusterPolicy& policy)
      : snapshot_(snapshot), policy_(policy) {
    out_.pools.resize(policy.spec.pools.size());
  }

  GpuUse run() {
    for (const auto& node : snapshot_.cluster.nodes())
      if (has_gpus(*node)) look_at(*node, snapshot_.samples.on(node->meta.name));
    return conclude();
  }
  GpuUse run(const Node& node, const std::vector<GpuSample>& gpus) {
    look_at(node, gpus);
    return conclude();
  }

 private:
  struct Held {
    PodUse use;
    std::int64_t quiet = 0, busy = 0;
    Time quiet_since{};
  };

  GpuUse conclude() {
    for (auto& [_, use] : pods_) out_.pods.push_back(conclude(use));
    std::ranges::sort(out_.pods, {}, [](const PodUse& use) {
      return std::pair(use.pod->meta.namespace_.view(), std::string_view(use.pod->meta.name));
    });
    return std::move(out_);
  }

  void look_at(const Node& node, const std::vector<GpuSample>& gpus) {
    const PoolSpec* pool = pool_of(policy_, node);
    PoolUse nobodys;
    PoolUse& use = pool != nullptr
                       ? out_.pools[static_cast<std::size_t>(pool - policy_.spec.pools.data())]
                       : nobodys;
    GpuWeights weights(node);
    for (auto first = gpus.begin(); first != gpus.end();) {
      const auto end = std::find_if(first, gpus.end(),
                                    [&](const GpuSample& gpu) { return !same_card(*first, gpu); });
      const PoolUse card = use_of({first, end}, weights);
      add(card, use);
      if (pool != nullptr) add(card, out_.total);
      first = end;
    }
    if (pool == nullptr) return;
    for (const Occupant& occupant : snapshot_.cluster.occupants_of(node.meta.name))
      if (occupant.uses_gpu && !pods_.contains(occupant.pod)) ++out_.unmeasured;
  }

  static void add(const PoolUse& card, PoolUse& to) {
    to.activity += card.activity;
    to.measured += card.measured;
    to.idle += card.idle;
  }

  // Returns the use of one GPU with all its instances, and records it for each holder.
  PoolUse use_of(std::span<const GpuSample> instances, GpuWeights& weights) {
    bool measured = false, held = false, idle = true;
    double activity = 0;
    for (const GpuSample& gpu : instances) {
      const bool fresh = snapshot_.samples.is_fresh(gpu, snapshot_.now);
      if (!fresh && !seeded(SeededBug::kBelieveOldSamples)) continue;
      const auto weight =
          gpu.instance.empty() ? std::optional(kWholeGpu) : weights.of_instance(gpu.profile);
      if (gpu.activity && weight) {
        measured = true;
        activity += *gpu.activity * static_cast<double>(*weight) / kWholeGpu;
      }
      for (const GpuHolder& holder : gpu.holders) {
        const Pod* pod = find(holder);
        if (pod == nullptr) continue;
        hold(gpu, *pod);
        held = true;
        idle = idle && !is_excluded(policy_.spec.idle, *pod) && is_idle(gpu, *pod);
      }
    }
    if (!measured) return {};
    return {.activity = std::min(activity, 1.0), .measured = 1, .idle = held && idle ? 1 : 0};
  }

  void hold(const GpuSample& gpu, const Pod& pod) {
    Held& held = pods_[&pod];
    held.use.pod = &pod;
    ++held.use.gpus;
    if (!gpu.activity) return;
    if (!gpu.quiet_since) {
      ++held.busy;
      return;
    }
    ++held.quiet;
    held.quiet_since = std::max(held.quiet_since, quiet_since(gpu, pod));
  }

  PodUse conclude(Held& held) {
    PodUse& use = held.use;
    if (held.busy > 0) {
      use.standing = UseState::kBusy;
      return use;
    }
    // A pod holds all GPUs that it requests, measured or not.
    if (held.quiet < std::max(use.gpus, asked(*use.pod))) return use;
    use.quiet = true;
    const Duration quiet = std::chrono::floor<Duration>(snapshot_.now - held.quiet_since);
    if (quiet >= policy_.spec.idle.grace_period) {
      use.standing = UseState::kIdle;
      use.since = held.quiet_since;
    } else if (const Duration left = policy_.spec.idle.grace_period - quiet;
               !out_.next_in || left < *out_.next_in) {
      out_.next_in = left;
    }
    return use;
  }

  const Pod* find(const GpuHolder& holder) const {
    return snapshot_.cluster.pods().find(holder.namespace_.view(), holder.pod.view());
  }

  // A pod is not charged with the time before it started.
  static Time quiet_since(const GpuSample& gpu, const Pod& pod) {
    if (seeded(SeededBug::kBlameTheYoung)) return *gpu.quiet_since;
    return std::max(*gpu.quiet_since, pod.start_time.value_or(pod.meta.creation_timestamp));
  }

  bool is_idle(const GpuSample& gpu, const Pod& pod) const {
    return gpu.activity && gpu.quiet_since &&
           snapshot_.now - quiet_since(gpu, pod) >= policy_.spec.idle.grace_period;
  }

  // Counts the devices that the pod requests from the device plugin. Devices of resource claims do
  // not count: their number is unknown.
  static std::int64_t asked(const Pod& pod) {
    std::int64_t count = 0;
    for (const auto& [resource, quantity] : gpus_in(pod.shape->requests)) {
      // Several parts of shared GPUs may belong to the same GPU.
      if (is_shared_resource(resource.view())) return 1;
      count += quantity.rounded_up();
    }
    return count;
  }

  const Snapshot& snapshot_;
  const GPUClusterPolicy& policy_;
  std::unordered_map<const Pod*, Held> pods_;
  GpuUse out_;
};

}  // namespace

std::optional<std::int32_t> PoolUse::percent() const {
  if (measured == 0) return std::nullopt;
  return static_cast<std::int32_t>(activity / static_cast<double>(measured) * 100 + 0.5);
}

bool is_excluded(const IdleSpec& idle, const Pod& pod) {
  return idle.exclude_selector && idle.exclude_selector->matches(pod.meta.labels);
}

GpuUse survey_use(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  return Surveyor(snapshot, policy).run();
}

std::vector<PodUse> survey_node(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                const Node& node) {
  return Surveyor(snapshot, policy).run(node, snapshot.samples.on(node.meta.name)).pods;
}

std::string why_not_confirmed(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                              const Node& node, const Pod& pod) {
  if (!snapshot.samples.second_hand || seeded(SeededBug::kBelieveHearsay)) return "";
  const Witness* witness = snapshot.samples.witness_of(node.meta.name);
  if (witness == nullptr) return "it has not been asked yet";
  const std::vector<PodUse> uses = Surveyor(snapshot, policy).run(node, witness->gpus).pods;
  const auto own = std::ranges::find(uses, &pod, &PodUse::pod);
  if (own != uses.end() && own->quiet) return "";
  return witness->silence.empty() ? "it does not show that all of its GPUs are idle"
                                  : "it can't be asked: " + witness->silence;
}

}  // namespace berth
