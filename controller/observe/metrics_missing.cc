// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/metrics_missing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/observe/counters.h"

namespace berth {
namespace {

std::string name_of_source(const GPUClusterPolicy& policy) {
  return policy.spec.metrics.prometheus ? "Prometheus has" : "the exporters have";
}

// Whether there are whole GPUs and MIG instances. Each kind has its own counter.
struct Kinds {
  bool whole = false, cut = false;
};
Kinds kinds_of(const Samples& samples) {
  Kinds kinds;
  for (const auto& [_, gpus] : samples.nodes)
    for (const GpuSample& gpu : gpus) (gpu.instance.empty() ? kinds.whole : kinds.cut) = true;
  return kinds;
}

class Wanted {
 public:
  explicit Wanted(std::uint32_t there) : there_(there) {}
  bool has(Counter counter) const { return (there_ & bit_of(counter)) != 0; }
  void want(Counter counter, std::string_view for_what) {
    if (has(counter)) return;
    names_.push_back(fmt::format("{} ({})", info_of(counter).name, for_what));
    lines_.push_back(info_of(counter).line);
  }
  bool empty() const { return names_.empty(); }
  std::string message(const std::string& source) const {
    return fmt::format("{} no {}; add to the exporter's CSV: {}", source, fmt::join(names_, ", "),
                       fmt::join(lines_, " \u23ce "));
  }

 private:
  std::uint32_t there_;
  std::vector<std::string> names_;
  std::vector<std::string_view> lines_;
};

std::optional<Cause> series_missing(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  const Samples& samples = snapshot.samples;
  const std::string source = name_of_source(policy);
  if (samples.counters == 0)
    return Cause{reasons::kSeriesMissing,
                 fmt::format("{} no series of DCGM's about nodes of this cluster; see that "
                             "dcgm-exporter runs and is scraped, and that its series say Hostname",
                             source)};
  const Kinds kinds = kinds_of(samples);
  Wanted wanted(samples.counters);
  if (kinds.cut) wanted.want(Counter::kEngineActive, "use of MIG instances");
  if (kinds.whole && !wanted.has(Counter::kEngineActive))
    wanted.want(Counter::kGpuUtil, "use of GPUs");
  const HealthSpec& health = policy.spec.health;
  wanted.want(Counter::kTemperature, "health.maxTemperature");
  if (health.xid == XidPolicy::kDefault) wanted.want(Counter::kXid, "health.xid");
  // XID 48 is a double-bit error, too. The exporter counts these errors only if its list says so.
  if (health.double_bit_ecc && !wanted.has(Counter::kXid))
    wanted.want(Counter::kDoubleBitErrors, "health.doubleBitECC");
  if (wanted.empty()) return std::nullopt;
  return Cause{reasons::kSeriesMissing, wanted.message(source)};
}

}  // namespace

std::optional<Cause> metrics_missing(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                     const GpuUse& use) {
  const Samples& samples = snapshot.samples;
  if (!samples.tried_at) return std::nullopt;
  if (samples.trouble) return samples.trouble;
  if (auto missing = series_missing(snapshot, policy)) return missing;
  if (use.unmeasured == 0) return std::nullopt;
  return Cause{
      reasons::kPodsNotNamed,
      fmt::format("no series names {} that {} GPUs, so that nobody knows what {} with them; the "
                  "exporter names pods where it may read the kubelet's socket, and those of other "
                  "resources than nvidia.com/gpu and MIG's where NVIDIA_RESOURCE_NAMES lists them",
                  plural(use.unmeasured, "pod"), word_for(use.unmeasured, "holds", "hold"),
                  word_for(use.unmeasured, "it does", "they do"))};
}

}  // namespace berth
