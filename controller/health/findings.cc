// SPDX-License-Identifier: Apache-2.0
#include "controller/health/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

#include "apis/base/printable.h"
#include "apis/kinds/gpu_conditions.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/health_record.h"
#include "controller/disruption/rollouts.h"
#include "controller/health/known_findings.h"
#include "controller/health/xid.h"

namespace berth {
namespace {

// The device plugin may be about to offer the other devices.
constexpr Duration kSteady = std::chrono::minutes(1);
// How many of a node's findings are named.
constexpr std::size_t kNamed = 4;
constexpr std::size_t kKeysKept = 64;

std::string_view name_of(const GpuSample& gpu) {
  return gpu.index.empty() ? gpu.uuid.view() : gpu.index.view();
}

// The findings for which the node is out of service, or with which a user returned it. For these,
// one sign is enough, as a leader that has just started has not watched for minutes.
KnownFindings continuing_on(const Node& node) {
  const std::optional<HealthRecord> record = health_of(node);
  const bool continues = record && (record->phase == HealthPhase::kCordoned ||
                                    record->phase == HealthPhase::kOverruled);
  return KnownFindings(continues ? *record : HealthRecord());
}

// Whether samples can show the fault.
bool is_measured(FaultKind kind) {
  return kind != FaultKind::kDevicesUnhealthy && kind != FaultKind::kNodeCondition;
}

class Finder {
 public:
  // `gpus` are the node's samples, from Prometheus or from its own exporter.
  Finder(const Snapshot& snapshot, const Node& node, const HealthSpec& spec,
         const std::vector<GpuSample>& gpus)
      : snapshot_(snapshot),
        node_(node),
        spec_(spec),
        gpus_(gpus),
        continuing_(continuing_on(node)) {}

  NodeFindings find() {
    find_measured();
    find_missing();
    find_unoffered();
    find_told();
    return std::move(found_);
  }
  NodeFindings find_in_samples() {
    find_measured();
    find_missing();
    return std::move(found_);
  }

 private:
  // Each MIG instance reports the faults of its whole GPU.
  void add(GpuFault finding) {
    const auto same = std::ranges::find_if(
        found_.all, [&](const GpuFault& other) { return other.key() == finding.key(); });
    if (same == found_.all.end())
      found_.all.push_back(std::move(finding));
    else if (same->at < finding.at)
      *same = std::move(finding);
  }

  void add_rise(const GpuSample& gpu, FaultKind kind, const std::optional<Time>& at,
                std::string_view what, bool acts) {
    if (!at || snapshot_.now - *at >= spec_.recover_after) return;
    add({.kind = kind,
         .which = std::string(name_of(gpu)),
         .text = fmt::format("GPU {}: {}", name_of(gpu), what),
         .at = *at,
         .acts = acts});
  }

  void find_xid(const GpuSample& gpu) {
    if (!gpu.xid || spec_.xid == XidPolicy::kIgnore) return;
    const auto code = static_cast<std::int64_t>(gpu.xid->value);
    const Xid xid = describe_xid(code);
    const bool blamed = seeded(SeededBug::kBlamePrograms);
    if (xid.kind == XidClass::kApplication && !blamed) return;
    const bool fatal = xid.kind == XidClass::kFatal || blamed;
    const std::string what =
        fatal ? fmt::format("XID {}, {}", code, xid.meaning) : fmt::format("XID {}", code);
    add_rise(gpu, fatal ? FaultKind::kFatalXid : FaultKind::kUnknownXid, gpu.xid->at, what, fatal);
  }

  void find_heat(const GpuSample& gpu) {
    const bool goes_on = gpu.hot_since && continues(FaultKind::kHot, name_of(gpu));
    add_rise(gpu, FaultKind::kHot, goes_on ? std::optional(gpu.seen) : gpu.hot_at,
             fmt::format("hotter than {} °C for {} minutes", spec_.max_temperature,
                         kHotFor / std::chrono::minutes(1)),
             true);
  }

  bool continues(FaultKind kind, std::string_view which) const {
    return continuing_.contains(key_of(kind, which));
  }

  void find_measured() {
    for (const GpuSample& gpu : gpus_) {
      if (is_of_another(gpu)) continue;
      if (!snapshot_.samples.is_fresh(gpu, snapshot_.now)) continue;
      find_xid(gpu);
      if (gpu.double_bit_errors && spec_.double_bit_ecc)
        add_rise(gpu, FaultKind::kDoubleBitErrors, gpu.double_bit_errors->at,
                 "another double-bit error of its memory", true);
      if (gpu.link_errors)
        add_rise(gpu, FaultKind::kLinkErrors, gpu.link_errors->at, "more errors of NVLink", false);
      if (gpu.pcie_replays)
        add_rise(gpu, FaultKind::kPcieReplays, gpu.pcie_replays->at,
                 "more retries of its PCIe link", false);
      add_rise(gpu, FaultKind::kThrottled, gpu.throttled_at,
               "its hardware slowed it down, for heat or for want of power", false);
      find_heat(gpu);
      if (gpu.remap_failed)
        add({.kind = FaultKind::kRemapFailed,
             .which = std::string(name_of(gpu)),
             .text = fmt::format("GPU {}: a row of its memory could not be replaced", name_of(gpu)),
             .at = snapshot_.now});
    }
  }

  // Whether the sample is of an earlier machine with the node's name.
  bool is_of_another(const GpuSample& gpu) const {
    return gpu.seen < node_.meta.creation_timestamp;
  }

  // Finds a GPU that disappeared while others did not. If nothing is heard of a whole node, its
  // exporter is gone and not its GPUs.
  void find_missing() {
    std::map<std::string_view, const GpuSample*> latest;
    for (const GpuSample& gpu : gpus_) {
      if (is_of_another(gpu)) continue;
      const GpuSample*& kept = latest[gpu.uuid.empty() ? gpu.index.view() : gpu.uuid.view()];
      if (kept == nullptr || kept->seen < gpu.seen) kept = &gpu;
    }
    const auto is_fresh = [&](const auto& entry) {
      return snapshot_.samples.is_fresh(*entry.second, snapshot_.now);
    };
    found_.gpus = static_cast<std::int64_t>(latest.size());
    found_.measured = std::ranges::count_if(latest, is_fresh);
    if (found_.measured == 0 && !seeded(SeededBug::kBlameTheUnmeasured)) return;
    for (const auto& entry : latest) {
      if (is_fresh(entry)) continue;
      const GpuSample& gpu = *entry.second;
      add({.kind = FaultKind::kGpuMissing,
           .which = std::string(name_of(gpu)),
           .text = fmt::format("GPU {}: not seen since {}", name_of(gpu), format_time(gpu.seen)),
           .at = snapshot_.now});
    }
  }

  // If no device is offered, the device plugin is gone or restarting. During a repartitioning, a
  // node offers what it can.
  void find_unoffered() {
    if (nodes_under_way(snapshot_.cluster).contains(&node_)) return;
    bool any = false;
    for (const auto& [name, quantity] : gpus_in(node_.capacity)) {
      if (!node_.ready) continue;
      const auto has = quantity.as_whole();
      const auto offered = node_.allocatable.get(name.view()).as_whole();
      if (!has || !offered || *offered <= 0 || *offered >= *has) continue;
      const bool goes_on = continues(FaultKind::kDevicesUnhealthy, name.view());
      any = any || !goes_on;
      if (!goes_on && snapshot_.now - steady_since() < kSteady) continue;
      add({.kind = FaultKind::kDevicesUnhealthy,
           .which = name.str(),
           .text = fmt::format("the kubelet offers {} of {} {}", *offered, *has, name.view()),
           .at = snapshot_.now});
    }
    if (any && snapshot_.now - steady_since() < kSteady)
      found_.next_in = std::chrono::ceil<Duration>(steady_since() + kSteady - snapshot_.now);
  }
  // One condition covers many faults, and its reason says which. Keys are separated by commas, so
  // commas in a reason are replaced.
  static std::string type_and_reason(std::string_view type, std::string_view reason) {
    std::string both = reason.empty() ? std::string(type) : fmt::format("{}:{}", type, reason);
    std::ranges::replace(both, ',', ';');
    return both;
  }

  // On a node that is not Ready, no component reports conditions any more.
  void find_told() {
    if (!node_.ready) return;
    for (const auto& [type, reason] : node_.gpu_conditions) {
      const GpuCondition* condition = find_gpu_condition(type.view());
      if (condition == nullptr) continue;
      add({.kind = FaultKind::kNodeCondition,
           .which = type_and_reason(type.view(), reason.view()),
           .text = fmt::format("condition {} is {}: {}", type.view(), condition->bad,
                               reason.empty() ? "no reason is told" : printable(reason.view())),
           .at = snapshot_.now,
           .acts = condition->acts && !is_no_fault(reason.view())});
    }
  }

  // For EKS' agent: it can't reach DCGM, or the XID is a program's own error or is ignored.
  bool is_no_fault(std::string_view reason) const {
    constexpr std::string_view kXid = "NvidiaXID";
    if (reason == "DCGMError") return true;
    if (!reason.starts_with(kXid)) return false;
    reason.remove_prefix(kXid.size());
    std::int64_t code = 0;
    if (std::from_chars(reason.data(), reason.data() + reason.size(), code).ec != std::errc())
      return false;
    return spec_.xid == XidPolicy::kIgnore || describe_xid(code).kind == XidClass::kApplication;
  }

  Time steady_since() const { return snapshot_.cluster.allocatable_since(node_.meta.name); }

  const Snapshot& snapshot_;
  const Node& node_;
  const HealthSpec& spec_;
  const std::vector<GpuSample>& gpus_;
  const KnownFindings continuing_;
  NodeFindings found_;
};

bool is_out_for_what_was_measured(const Node& node) {
  const std::optional<HealthRecord> record = health_of(node);
  if (!record || record->phase != HealthPhase::kCordoned) return false;
  const KnownFindings known(*record);
  return known.any([](std::string_view key) {
    return !key.starts_with(to_string(FaultKind::kDevicesUnhealthy)) &&
           !key.starts_with(to_string(FaultKind::kNodeCondition));
  });
}

// Compares what Prometheus reports with what the node's own exporter shows.
void confirm(const Snapshot& snapshot, const Node& node, const HealthSpec& spec,
             NodeFindings& found) {
  const Witness* witness = snapshot.samples.witness_of(node.meta.name);
  const NodeFindings own =
      Finder(snapshot, node, spec, witness != nullptr ? witness->gpus : kNoGpus).find_in_samples();
  const bool silent = own.measured == 0;
  const std::string why = !silent ? std::string("it does not show that")
                          : witness == nullptr || witness->silence.empty()
                              ? std::string("it has not been asked lately")
                              : "it can't be asked: " + witness->silence;
  for (GpuFault& fault : found.all) {
    if (!fault.acts || !is_measured(fault.kind)) continue;
    const bool shown = std::ranges::any_of(
        own.all, [&](const GpuFault& other) { return other.acts && other.key() == fault.key(); });
    if (shown) continue;
    fault.acts = false;
    fault.doubt = silent ? GpuFault::Doubt::kSilent : GpuFault::Doubt::kDisagrees;
    fault.text += fmt::format(" (not confirmed by the node's own exporter: {})", why);
  }
  // The exporter's own word counts, whatever Prometheus says about the GPU. So false metrics can't
  // hide a fault.
  for (const GpuFault& fault : own.all)
    if (fault.acts && std::ranges::find(found.all, fault.key(), &GpuFault::key) == found.all.end())
      found.all.push_back(fault);
  // If its exporter's samples took the node out of service, only these can return it.
  if (is_out_for_what_was_measured(node)) found.measured = std::min(found.measured, own.measured);
}

}  // namespace

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kFatalXid:
      return "FatalXid";
    case FaultKind::kUnknownXid:
      return "UnknownXid";
    case FaultKind::kDoubleBitErrors:
      return "DoubleBitErrors";
    case FaultKind::kRemapFailed:
      return "RemapFailed";
    case FaultKind::kHot:
      return "Hot";
    case FaultKind::kLinkErrors:
      return "LinkErrors";
    case FaultKind::kPcieReplays:
      return "PcieReplays";
    case FaultKind::kThrottled:
      return "Throttled";
    case FaultKind::kGpuMissing:
      return "GpuMissing";
    case FaultKind::kDevicesUnhealthy:
      return "DevicesUnhealthy";
    case FaultKind::kNodeCondition:
      return "NodeCondition";
  }
  return "?";
}

std::string key_of(FaultKind kind, std::string_view which) {
  return fmt::format("{}/{}", to_string(kind), which);
}

bool NodeFindings::act() const { return std::ranges::any_of(all, &GpuFault::acts); }

const GpuFault* NodeFindings::doubted() const {
  const auto found = std::ranges::find_if(
      all, [](const GpuFault& fault) { return fault.doubt != GpuFault::Doubt::kNone; });
  return found == all.end() ? nullptr : &*found;
}

Time NodeFindings::last() const { return std::ranges::max(all, {}, &GpuFault::at).at; }

std::string NodeFindings::keys() const {
  std::vector<std::string> keys;
  for (const GpuFault& finding : all)
    if (keys.size() < kKeysKept) keys.push_back(finding.key());
  return fmt::format("{}", fmt::join(keys, ","));
}

std::string NodeFindings::text() const {
  std::vector<std::string_view> texts;
  for (const GpuFault& finding : all)
    if (texts.size() < kNamed) texts.push_back(finding.text);
  return fmt::format("{}{}", fmt::join(texts, "; "),
                     all.size() > kNamed ? fmt::format("; and {} more", all.size() - kNamed) : "");
}

NodeFindings find_trouble(const Snapshot& snapshot, const Node& node, const HealthSpec& spec) {
  NodeFindings found = Finder(snapshot, node, spec, snapshot.samples.on(node.meta.name)).find();
  if (snapshot.samples.second_hand && !seeded(SeededBug::kBelieveHearsay))
    confirm(snapshot, node, spec, found);
  return found;
}

}  // namespace berth
