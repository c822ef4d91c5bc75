// SPDX-License-Identifier: Apache-2.0
// Outline: whose a series is (its node, its GPU, its holder), then what it says.
#include "controller/observe/round.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/names.h"
#include "apis/printable.h"

namespace berth {
namespace {

constexpr std::size_t kMaxGpusOfNode = 256;    // sixteen GPUs, each cut in seven, twice over
constexpr std::size_t kMaxHoldersOfGpu = 128;  // more than any sharing allows
constexpr std::size_t kMaxText = 64;           // of what a label says that berth keeps

std::string_view before(std::string_view text, char mark) {
  return text.substr(0, text.find(mark));
}

void raise(std::optional<double>& most, double value) {
  most = std::max(most.value_or(value), value);
}
void raise(std::optional<float>& most, double value) {
  most = std::max(most.value_or(static_cast<float>(value)), static_cast<float>(value));
}
void raise(std::optional<Rise>& most, double value) {
  if (!most) most.emplace();
  most->value = std::max(most->value, value);
}

bool is_gpu(const GpuSample& gpu, const SeriesIdentity& series) {
  if (gpu.instance != series.instance) return false;
  const bool by_uuid = !gpu.uuid.empty() && !series.uuid.empty();
  return by_uuid ? gpu.uuid == series.uuid : gpu.index == series.index;
}

}  // namespace

void SharedReading::add(double value) {
  most = count == 0 ? value : std::max(most, value);
  least = count == 0 ? value : std::min(least, value);
  sum += value;
  ++count;
}

std::optional<double> SharedReading::total() const {
  if (count == 0) return std::nullopt;
  return most == least ? most : std::min(sum, 1.0);
}

void Round::add(const CounterInfo& counter, const SeriesIdentity& series, double number,
                Told told) {
  const Reading read = read_counter(counter, number);
  if (read.verdict == Truth::kBlank) return;
  if (read.verdict == Truth::kLie) {
    if (lie_.empty())
      lie_ = fmt::format(
          "{} of GPU {} says {}, which is not in the exporter's unit", counter.name,
          printable((series.uuid.empty() ? series.index : series.uuid).substr(0, kMaxText)),
          number);
    return;
  }
  // Of instances it is not measured, whatever stands there.
  if (counter.counter == Counter::kGpuUtil && !series.instance.empty()) return;
  GpuReading* reading = reading_of(series);
  if (reading == nullptr) return;
  counters_ |= bit_of(counter.counter);
  put(*reading, counter.counter, read.value, told);
}

void Round::add_quiet(const SeriesIdentity& series, Time since) {
  GpuReading* reading = reading_of(series);
  if (reading == nullptr) return;
  // Of several counters, and of pods one after the other, the last busy one counts.
  reading->quiet_from = std::max(reading->quiet_from.value_or(since), since);
}

Round::Round(const ClusterState& cluster) : cluster_(cluster) {
  for (const auto& node : cluster.nodes()) {
    const Text* label = node->meta.labels.find(names::kHostnameLabel);
    if (label != nullptr && label->view() != node->meta.name)
      other_names_.emplace(label->str(), node->meta.name);
  }
}

const Node* Round::look_up(const SeriesIdentity& series) const {
  const Store<Node>& nodes = cluster_.nodes();
  for (const std::string_view name : {series.hostname, before(series.hostname, '.'), series.node})
    if (const Node* node = name.empty() ? nullptr : nodes.find(name)) return node;
  if (!series.exporter_pod.empty())
    if (const Pod* pod = cluster_.pods().find(series.exporter_namespace, series.exporter_pod))
      if (const Node* node = nodes.find(pod->node_name.view())) return node;
  if (const Node* node = nodes.find(before(series.address, ':'))) return node;
  const auto other = other_names_.find(series.hostname);
  return other == other_names_.end() ? nullptr : nodes.find(other->second);
}

const Node* Round::node_of(const SeriesIdentity& series) {
  if (!scraped_node_.empty()) return cluster_.nodes().find(scraped_node_);
  // Everything that may name the node: each combination is looked up once, found or not.
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", series.hostname, series.node, series.address,
                  series.exporter_namespace, series.exporter_pod);
  const auto known = names_.find(key);
  if (known != names_.end()) return cluster_.nodes().find(known->second);
  const Node* node = look_up(series);
  // Bounded, for there may be as many strange ones as somebody cares to send.
  if (names_.size() >= 2 * cluster_.nodes().size() + 1'000) names_.clear();
  names_.emplace(key, node != nullptr ? node->meta.name : std::string());
  return node;
}

const Pod* Round::holder_of(const SeriesIdentity& series) const {
  if (series.pod.empty()) return nullptr;
  const Pod* pod = cluster_.pods().find(series.namespace_, series.pod);
  return pod != nullptr && !pod->node_name.empty() && uses_gpu(*pod) ? pod : nullptr;
}

// A new pod under an old name may be elsewhere by now: then it is nobody's.
GpuReading* Round::reading_of(const SeriesIdentity& series) {
  const Pod* holder = holder_of(series);
  const Node* node = node_of(series);
  if (node == nullptr && holder != nullptr) node = cluster_.nodes().find(holder->node_name.view());
  if (node == nullptr || (series.uuid.empty() && series.index.empty())) {
    ++strangers_;
    return nullptr;
  }
  if (holder != nullptr && holder->node_name != std::string_view(node->meta.name)) holder = nullptr;
  std::vector<GpuReading>& gpus = nodes_[node->meta.name];
  auto found = std::ranges::find_if(
      gpus, [&](const GpuReading& reading) { return is_gpu(reading.gpu, series); });
  if (found == gpus.end()) {
    if (gpus.size() == kMaxGpusOfNode) return nullptr;
    GpuSample& gpu = gpus.emplace_back().gpu;
    gpu.index = Text(series.index.substr(0, kMaxText));
    gpu.uuid = Text(series.uuid.substr(0, kMaxText));
    gpu.instance = Text(series.instance.substr(0, kMaxText));
    gpu.profile = Text(series.profile.substr(0, kMaxText));
    gpu.model = Text(series.model.substr(0, kMaxText));
    found = std::prev(gpus.end());
  }
  if (holder == nullptr) return &*found;
  std::vector<GpuHolder>& holders = found->gpu.holders;
  const GpuHolder one{holder->meta.namespace_, Text(holder->meta.name)};
  const bool known = std::ranges::find(holders, one) != holders.end();
  if (!known && holders.size() < kMaxHoldersOfGpu) holders.push_back(one);
  return &*found;
}

void Round::put(GpuReading& reading, Counter counter, double value, Told told) const {
  const bool peak = told == Told::kPeak;
  switch (counter) {
    case Counter::kGpuUtil:
      return (peak ? reading.util_peak : reading.util).add(value);
    case Counter::kEngineActive:
      return raise(peak ? reading.engine_peak : reading.engine, value);
    case Counter::kPower:
      return peak ? raise(reading.power_peak, value) : raise(reading.gpu.power_w, value);
    case Counter::kMemoryUsed:
      return raise(reading.gpu.memory_mib, value);
    case Counter::kTemperature:
      return raise(reading.gpu.temperature_c, value);
    case Counter::kXid:
      return raise(reading.gpu.xid, value);
    case Counter::kDoubleBitErrors:
      return raise(reading.gpu.double_bit_errors, value);
    case Counter::kRemapFailure:
      reading.gpu.remap_failed |= value > 0;
      return;
    case Counter::kLinkErrors:
      return raise(reading.gpu.link_errors, value);
    case Counter::kPcieReplays:
      return raise(reading.gpu.pcie_replays, value);
    case Counter::kClockReasons:
    case Counter::kClockEventReasons:
      return raise(reading.clock_reasons, value);
  }
}

}  // namespace berth
