// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/nodes_to_ask.h"

#include <algorithm>
#include <utility>

#include "apis/base/names.h"

namespace berth {
namespace {

constexpr std::size_t kMostAsked = 256;                     // in one round
constexpr Duration kNowAndThen = std::chrono::minutes(20);  // fold() keeps samples for an hour
constexpr Duration kAfterSilence = std::chrono::minutes(2);

class Suspicion {
 public:
  Suspicion(const Samples& samples, const GPUClusterPolicySpec& policy)
      : samples_(samples), policy_(policy), now_(*samples.tried_at) {}

  bool covers(const Node& node) const {
    if (node.meta.annotations.contains(names::kHealthAnnotation)) return true;
    const std::vector<GpuSample>& gpus = samples_.on(node.meta.name);
    const Witness* witness = samples_.witness_of(node.meta.name);
    const auto is_fresh = [&](const GpuSample& gpu) { return samples_.is_fresh(gpu, now_); };
    const auto fresh = std::ranges::count_if(gpus, is_fresh);
    if (fresh > 0 && static_cast<std::size_t>(fresh) < gpus.size()) return true;
    return fresh > 0 && std::ranges::any_of(gpus, [&](const GpuSample& gpu) {
             return looks_broken(gpu) || looks_idle(gpu) || differs(gpu, witness);
           });
  }

 private:
  bool is_recent(const std::optional<Time>& at) const {
    return at && now_ - *at < policy_.health.recover_after;
  }

  bool looks_broken(const GpuSample& gpu) const {
    return gpu.remap_failed || gpu.hot_since || is_recent(gpu.hot_at) ||
           (gpu.xid && is_recent(gpu.xid->at)) ||
           (gpu.double_bit_errors && is_recent(gpu.double_bit_errors->at));
  }

  // Whether it is idle, or soon will be: berth then asks its exporter in time.
  bool looks_idle(const GpuSample& gpu) const {
    const IdleSpec& idle = policy_.idle;
    if (idle.policy != IdlePolicy::kOnPressure && idle.policy != IdlePolicy::kAlways) return false;
    return !gpu.holders.empty() && gpu.quiet_since &&
           now_ - *gpu.quiet_since >= idle.grace_period - 2 * policy_.metrics.interval;
  }

  // Whether the error is another one than the exporter showed the last time.
  static bool differs(const GpuSample& gpu, const Witness* witness) {
    if (witness == nullptr) return false;
    const auto own = std::ranges::find_if(witness->gpus, [&](const GpuSample& other) {
      return other.index == gpu.index && other.instance == gpu.instance;
    });
    if (own == witness->gpus.end()) return false;
    const auto differ = [](const std::optional<Rise>& a, const std::optional<Rise>& b) {
      return a && b && a->value != b->value;
    };
    return differ(gpu.xid, own->xid) || differ(gpu.double_bit_errors, own->double_bit_errors);
  }

  const Samples& samples_;
  const GPUClusterPolicySpec& policy_;
  const Time now_;
};

// How long berth does not ask the node again. An exporter that does not answer would delay each
// round.
Duration rest_after(const Witness& witness, bool suspect) {
  if (!suspect) return kNowAndThen;
  return witness.silence.empty() ? Duration::zero() : kAfterSilence;
}

}  // namespace

std::vector<std::string> nodes_to_ask(const ClusterState& cluster, const Samples& samples,
                                      const GPUClusterPolicySpec& policy) {
  const Suspicion suspicion(samples, policy);
  const Time now = *samples.tried_at;
  std::vector<std::pair<std::pair<bool, Time>, std::string>> order;
  for (const auto& [name, _] : samples.nodes) {
    const Node* node = cluster.nodes().find(name);
    if (node == nullptr) continue;
    const Witness* witness = samples.witness_of(name);
    const bool suspect = suspicion.covers(*node);
    if (witness != nullptr && now - witness->asked < rest_after(*witness, suspect)) continue;
    order.push_back({{!suspect, witness != nullptr ? witness->asked : Time()}, name});
  }
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (auto& [_, name] : order)
    if (names.size() < kMostAsked) names.push_back(std::move(name));
  return names;
}

}  // namespace berth
