// SPDX-License-Identifier: Apache-2.0
// Outline: the node, the GPU and the holder of a series; then its value.
#include "controller/observe/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "apis/base/names.h"
#include "apis/kinds/exporter_pod.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

// Limits for one index: the GPU may be there twice, before and after it is repartitioned or
// replaced. MIG's ids of instances are below kMaxInstances.
constexpr std::int64_t kMaxInstances = 16;
constexpr std::int64_t kMaxWholeGpus = 2;
constexpr std::size_t kMaxHoldersOfGpu = 128;  // more than any sharing allows
constexpr std::size_t kMaxText = 64;           // of a label's text that berth keeps
constexpr std::size_t kMaxDigits = 3;          // of an index

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

std::optional<std::int64_t> read_index(std::string_view text) {
  std::int64_t index = 0;
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  if (text.front() == '0' && text.size() > 1) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool whole = error == std::errc() && end == text.data() + text.size() && index >= 0;
  return whole ? std::optional(index) : std::nullopt;
}

// berth repeats only letters, digits and a few signs. A text with anything else becomes empty.
Text plain(std::string_view text, std::string_view signs) {
  const auto is_plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  };
  text = text.substr(0, kMaxText);
  return std::ranges::all_of(text, is_plain) ? Text(text) : Text();
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

Round::Round(const ClusterState& cluster, std::string agents_namespace)
    : cluster_(cluster), agents_namespace_(std::move(agents_namespace)) {
  for (const auto& node : cluster.nodes()) {
    const Text* label = node->meta.labels.find(names::kHostnameLabel);
    if (label != nullptr && label->view() != node->meta.name)
      other_names_.emplace(label->str(), node->meta.name);
  }
}

void Round::add(const CounterInfo& counter, const SeriesIdentity& series, double number,
                Told told) {
  const Reading read = read_counter(counter, number);
  if (read.verdict == Truth::kBlank) return;
  // DCGM does not measure the utilization of a MIG instance, whatever the series says.
  if (counter.counter == Counter::kGpuUtil && !series.instance.empty()) return;
  const Node* node = node_of(series);
  if (node == nullptr) return;
  if (read.verdict == Truth::kLie) {
    if (lie_.empty())
      lie_ = fmt::format("{} of GPU {} of node {} says {}, which is not in the exporter's unit",
                         counter.name, series.index, node->meta.name, number);
    return;
  }
  GpuReading* reading = reading_of(*node, series);
  if (reading == nullptr) return;
  counters_ |= bit_of(counter.counter);
  put(*reading, counter.counter, read.value, told);
}

void Round::add_quiet(const SeriesIdentity& series, Time since) {
  const Node* node = node_of(series);
  GpuReading* reading = node != nullptr ? reading_of(*node, series) : nullptr;
  if (reading == nullptr) return;
  // Several counters may have a history, and so may pods that held the GPU one after the other. The
  // last busy one counts.
  reading->quiet_from = std::max(reading->quiet_from.value_or(since), since);
}

std::string Round::known_pod(std::string_view namespace_, std::string_view name) const {
  const Pod* pod = cluster_.pods().find(namespace_, name);
  return pod != nullptr ? pod->meta.namespace_.str() + "/" + pod->meta.name : std::string();
}

const Node* Round::named_by(std::string_view host) const {
  if (host.empty()) return nullptr;
  const Store<Node>& nodes = cluster_.nodes();
  for (const std::string_view name : {host, before(host, '.')})
    if (const Node* node = nodes.find(name)) return node;
  const auto other = other_names_.find(host);
  return other == other_names_.end() ? nullptr : nodes.find(other->second);
}

// Finds the node by the exporter's own pod: Prometheus adds its name, or the host name is the
// pod's.
const Node* Round::node_of_exporter(const SeriesIdentity& series) const {
  const auto on = [&](std::string_view namespace_, std::string_view name) -> const Node* {
    const Pod* pod = name.empty() ? nullptr : cluster_.pods().find(namespace_, name);
    if (pod == nullptr || !has_exporter_labels(pod->meta.labels)) return nullptr;
    return cluster_.nodes().find(pod->node_name.view());
  };
  if (const Node* node = on(series.exporter_namespace, series.exporter_pod)) return node;
  return on(agents_namespace_, series.hostname);
}

Round::Place Round::look_up(const SeriesIdentity& series) const {
  const Node* named = named_by(series.hostname);
  const Node* own =
      scraped_node_.empty() ? node_of_exporter(series) : cluster_.nodes().find(scraped_node_);
  if (own != nullptr) return {own->meta.name, named != nullptr && named != own};
  if (!scraped_node_.empty()) return {};
  if (named == nullptr && !series.node.empty()) named = cluster_.nodes().find(series.node);
  if (named == nullptr) named = cluster_.nodes().find(before(series.address, ':'));
  return named != nullptr ? Place{named->meta.name} : Place{};
}

const Round::Place& Round::place_of(const SeriesIdentity& series) {
  // All labels that may name the node. Each combination is looked up once, found or not.
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", scraped_node_, series.hostname, series.node,
                  series.address, series.exporter_namespace, series.exporter_pod);
  if (const auto known = places_.find(key); known != places_.end()) return known->second;
  // Bounded, because a foreign exporter may send any number of names.
  if (places_.size() >= 2 * cluster_.nodes().size() + 1'000) places_.clear();
  return places_.emplace(std::move(key), look_up(series)).first->second;
}

const Node* Round::node_of(const SeriesIdentity& series) {
  const Place& place = place_of(series);
  const Node* node = place.node.empty() ? nullptr : cluster_.nodes().find(place.node);
  if (node == nullptr) {
    ++strangers_;
    return nullptr;
  }
  if (place.elsewhere) {
    ignored_.add_elsewhere(node->meta.name);
    return nullptr;
  }
  if (!is_within(*node, series)) {
    ignored_.add_beyond(node->meta.name);
    return nullptr;
  }
  return node;
}

// Whether the node can have this GPU, and the GPU this instance.
bool Round::is_within(const Node& node, const SeriesIdentity& series) {
  const auto index = read_index(series.index);
  const auto instance = read_index(series.instance);
  if (!index || (!series.instance.empty() && (!instance || *instance >= kMaxInstances)))
    return false;
  const auto [most, fresh] = most_gpus_.try_emplace(node.meta.name, 0);
  if (fresh) most->second = gpus_at_most(node);
  return *index < most->second;
}

// Returns null if a new pod of the same name is on another node.
const Pod* Round::holder_of(const SeriesIdentity& series, const Node& node) const {
  if (series.pod.empty()) return nullptr;
  const Pod* pod = cluster_.pods().find(series.namespace_, series.pod);
  const bool holds =
      pod != nullptr && pod->node_name == std::string_view(node.meta.name) && uses_gpu(*pod);
  return holds ? pod : nullptr;
}

GpuReading* Round::reading_of(const Node& node, const SeriesIdentity& series) {
  std::vector<GpuReading>& gpus = nodes_[node.meta.name];
  const auto found = std::ranges::find_if(
      gpus, [&](const GpuReading& reading) { return is_gpu(reading.gpu, series); });
  GpuReading* reading = found != gpus.end() ? &*found : new_reading(gpus, series);
  if (reading == nullptr) {
    ignored_.add_beyond(node.meta.name);
    return nullptr;
  }
  const Pod* holder = holder_of(series, node);
  if (holder == nullptr) return reading;
  std::vector<GpuHolder>& holders = reading->gpu.holders;
  const GpuHolder one{holder->meta.namespace_, Text(holder->meta.name)};
  const bool known = std::ranges::find(holders, one) != holders.end();
  if (!known && holders.size() < kMaxHoldersOfGpu) holders.push_back(one);
  return reading;
}

GpuReading* Round::new_reading(std::vector<GpuReading>& gpus, const SeriesIdentity& series) const {
  const bool whole = series.instance.empty();
  const auto alike = std::ranges::count_if(gpus, [&](const GpuReading& reading) {
    return reading.gpu.index == series.index && reading.gpu.instance.empty() == whole;
  });
  if (alike == (whole ? kMaxWholeGpus : kMaxInstances)) return nullptr;
  GpuSample& gpu = gpus.emplace_back().gpu;
  gpu.index = Text(series.index);
  gpu.uuid = plain(series.uuid, "-");
  gpu.instance = Text(series.instance);
  gpu.profile = plain(series.profile, ".+-");
  gpu.model = plain(series.model, " .-_/()");
  return &gpus.back();
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
