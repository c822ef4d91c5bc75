// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/fold.h"

#include <algorithm>
#include <utility>

#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

// berth drops a GPU that it has not seen for so long.
constexpr Duration kForget = std::chrono::hours(1);

std::optional<double> higher(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::max(*a, *b);
}

bool same_gpu(const GpuSample& a, const GpuSample& b) {
  return a.uuid == b.uuid && a.index == b.index && a.instance == b.instance;
}

std::pair<std::string_view, std::string_view> order_of(const GpuSample& gpu) {
  return {gpu.uuid.empty() ? gpu.index.view() : gpu.uuid.view(), gpu.instance.view()};
}

// Dates the last rise of a counter. A counter that fell was reset. A rise of less than `least` does
// not count yet: the old value stays, so that slow rises add up.
void date_rise(std::optional<Rise>& now, const std::optional<Rise>& before, Time at,
               double least = 1) {
  if (!now) {
    now = before;
    return;
  }
  if (!before) return;
  const double risen = now->value - before->value;
  if (risen >= 0 && risen < least) now->value = before->value;
  now->at = risen >= least ? at : before->at;
}

// A working link retries now and then. The alert also counts in tens.
constexpr double kLeastReplays = 10;
// NVML's hardware reasons: slowdown, thermal slowdown, power brake. The software reasons are
// normal: they keep a limit on power or temperature.
constexpr std::uint32_t kHardwareSlowdown = 0x8 | 0x40 | 0x80;

bool is_throttled(const GpuReading& reading) {
  return reading.clock_reasons &&
         (static_cast<std::uint32_t>(*reading.clock_reasons) & kHardwareSlowdown) != 0;
}

// The gauge shows the last error. Another number is another error. Zero means that the exporter
// restarted.
void date_xid(std::optional<Rise>& now, const std::optional<Rise>& before, Time at) {
  if (!now) {
    now = before;
    return;
  }
  if (!before) return;
  const bool another = now->value != before->value && now->value != 0;
  now->at = another ? at : before->at;
}

class Folder {
 public:
  Folder(const FoldRules& rules, Samples& samples)
      : rules_(rules),
        lasts_(samples.lasts()),
        same_threshold_(samples.threshold == rules.threshold),
        same_limit_(samples.max_temperature == rules.max_temperature) {}

  GpuSample fold(const GpuReading& reading, const GpuSample* before) const {
    GpuSample gpu = reading.gpu;
    gpu.seen = rules_.now;
    if (const auto activity = higher(reading.engine, reading.util.total()))
      gpu.activity = static_cast<float>(*activity);
    std::ranges::sort(gpu.holders, {}, [](const GpuHolder& holder) {
      return std::pair(holder.namespace_.view(), holder.pod.view());
    });
    if (is_quiet(reading)) gpu.quiet_since = quiet_since(reading, before);
    note_heat(before, gpu);
    if (is_throttled(reading))
      gpu.throttled_at = rules_.now;
    else if (before != nullptr)
      gpu.throttled_at = before->throttled_at;
    if (before == nullptr) {
      if (seeded(SeededBug::kBelieveOldErrors) && gpu.xid && gpu.xid->value > 0)
        gpu.xid->at = rules_.now;
      return gpu;
    }
    date_xid(gpu.xid, before->xid, rules_.now);
    date_rise(gpu.double_bit_errors, before->double_bit_errors, rules_.now);
    date_rise(gpu.link_errors, before->link_errors, rules_.now);
    date_rise(gpu.pcie_replays, before->pcie_replays, rules_.now, kLeastReplays);
    return gpu;
  }

 private:
  // A round without a temperature neither starts nor ends a hot period.
  void note_heat(const GpuSample* before, GpuSample& gpu) const {
    const bool goes_on = before != nullptr && same_limit_ && rules_.now - before->seen <= lasts_;
    if (before != nullptr) gpu.hot_at = before->hot_at;
    if (goes_on) gpu.hot_since = before->hot_since;
    if (!gpu.temperature_c) return;
    if (*gpu.temperature_c <= static_cast<float>(rules_.max_temperature)) {
      gpu.hot_since.reset();
      return;
    }
    if (!gpu.hot_since) gpu.hot_since = rules_.now;
    if (rules_.now - *gpu.hot_since >= kHotFor || seeded(SeededBug::kHotAtOnce))
      gpu.hot_at = rules_.now;
  }

  bool is_quiet(const GpuReading& reading) const {
    const auto now = higher(reading.engine, reading.util.total());
    const auto peak = higher(now, higher(reading.engine_peak, reading.util_peak.total()));
    if (!peak || *peak * 100 >= rules_.threshold) return false;
    // The power is the whole GPU's, and another instance may draw it.
    if (!reading.gpu.instance.empty()) return true;
    std::optional<double> power = reading.power_peak;
    if (reading.gpu.power_w) power = higher(power, static_cast<double>(*reading.gpu.power_w));
    return !power || *power <= idle_power_w(reading.gpu.model.view());
  }

  // After a gap without samples only the round's history counts: the GPU may have been busy in the
  // gap.
  std::optional<Time> quiet_since(const GpuReading& reading, const GpuSample* before) const {
    const bool goes_on = before != nullptr && same_threshold_ &&
                         (rules_.now - before->seen <= lasts_ || seeded(SeededBug::kBridgeGaps));
    if (goes_on && before->quiet_since) return before->quiet_since;
    if (goes_on || !reading.quiet_from) return rules_.now;
    return std::min(*reading.quiet_from, rules_.now);
  }

  const FoldRules& rules_;
  const Duration lasts_;
  const bool same_threshold_;
  const bool same_limit_;
};

void fold_node(const std::vector<GpuReading>& readings, const Folder& folder,
               std::vector<GpuSample>& standing) {
  std::vector<GpuSample> next;
  for (const GpuReading& reading : readings) {
    const auto before = std::ranges::find_if(
        standing, [&](const GpuSample& gpu) { return same_gpu(gpu, reading.gpu); });
    next.push_back(folder.fold(reading, before == standing.end() ? nullptr : &*before));
  }
  for (GpuSample& gpu : standing) {
    const bool seen =
        std::ranges::any_of(next, [&](const GpuSample& other) { return same_gpu(gpu, other); });
    if (!seen) next.push_back(std::move(gpu));
  }
  std::ranges::sort(next, {}, order_of);
  standing = std::move(next);
}

void forget_old(std::vector<GpuSample>& gpus, Time now) {
  std::erase_if(gpus, [&](const GpuSample& gpu) { return now - gpu.seen > kForget; });
}

// Drops what was judged by another threshold or limit. The next round judges by the current ones.
void forget_judgements(const FoldRules& rules, Samples& samples) {
  for (auto& [_, witness] : samples.witnesses)
    for (GpuSample& gpu : witness.gpus) {
      if (samples.threshold != rules.threshold) gpu.quiet_since.reset();
      if (samples.max_temperature != rules.max_temperature) gpu.hot_since.reset();
    }
}

}  // namespace

double idle_power_w(std::string_view model) {
  const auto names = [&](std::string_view part) {
    return model.find(part) != std::string_view::npos;
  };
  if (names("B200") || names("B300") || names("GB")) return 260;
  if (names("H100") || names("H200") || names("H800") || names("H20") || names("GH")) return 160;
  return 110;
}

void fold(const Round& round, const ClusterState& cluster, const FoldRules& rules,
          Samples& samples) {
  samples.interval = rules.interval;
  const Folder folder(rules, samples);
  for (const auto& [node, readings] : round.nodes())
    fold_node(readings, folder, samples.nodes[node]);
  for (auto& [_, gpus] : samples.nodes) forget_old(gpus, rules.now);
  std::erase_if(samples.nodes, [&](const auto& entry) {
    return entry.second.empty() || cluster.nodes().find(entry.first) == nullptr;
  });
  forget_judgements(rules, samples);
  samples.threshold = rules.threshold;
  samples.max_temperature = rules.max_temperature;
  samples.tried_at = rules.now;
  samples.counters = round.counters();
  if (!round.nodes().empty()) samples.measured_at = rules.now;
}

void fold_witnesses(const Round& round, const std::map<std::string, std::string>& silences,
                    const ClusterState& cluster, const FoldRules& rules, Samples& samples) {
  const Folder folder(rules, samples);
  for (const auto& [node, readings] : round.nodes()) {
    Witness& witness = samples.witnesses[node];
    fold_node(readings, folder, witness.gpus);
    witness.asked = rules.now;
    witness.silence.clear();
  }
  for (const auto& [node, why] : silences) {
    Witness& witness = samples.witnesses[node];
    witness.asked = rules.now;
    witness.silence = why;
  }
  for (auto& [_, witness] : samples.witnesses) forget_old(witness.gpus, rules.now);
  std::erase_if(samples.witnesses,
                [&](const auto& entry) { return cluster.nodes().find(entry.first) == nullptr; });
}

}  // namespace berth
