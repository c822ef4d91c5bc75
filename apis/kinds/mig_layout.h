// SPDX-License-Identifier: Apache-2.0
// MIGLayout (gpu.berth.dev/v1alpha1): the MIG layout of the GPUs of some nodes, and the limits for
// rolling it out. crds/gpu.berth.dev_miglayouts.yaml describes the fields for `kubectl explain`.
// Defaults and bounds are here and in mig_layout.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/int_or_percent.h"
#include "apis/base/selector.h"
#include "apis/kinds/meta.h"

namespace berth {

// Profile name as NVIDIA writes it ("3g.40gb", "1g.10gb+me") → number of instances on each GPU.
using ProfileCounts = std::map<std::string, std::int64_t>;

struct DeviceLayout {
  // Indices in PCI bus order; absent: every GPU that no other entry names.
  std::optional<std::vector<std::int32_t>> gpus;
  ProfileCounts profiles;  // empty: MIG off
  bool operator==(const DeviceLayout&) const = default;
};

enum class RolloutOrder { kLeastDisruption, kName };
enum class FailurePolicy { kHalt, kRollback };
enum class DrainScope { kGPUPods, kAllPods };
enum class OnTimeout { kAbort, kForce };
enum class DeletionPolicy { kRetain, kDisableMIG };

struct RolloutSpec {
  IntOrPercent max_unavailable{1, false};
  RolloutOrder order = RolloutOrder::kLeastDisruption;
  std::int32_t initial_batch = 1;
  FailurePolicy failure_policy = FailurePolicy::kHalt;
  std::int32_t max_failures = 1;
  Duration progress_deadline = std::chrono::minutes(30);
  bool paused = false;
  bool operator==(const RolloutSpec&) const = default;
};

struct WaitForCompletion {
  LabelSelector pod_selector;
  Duration timeout = std::chrono::hours(4);
  bool operator==(const WaitForCompletion&) const = default;
};

struct DrainSpec {
  DrainScope scope = DrainScope::kGPUPods;
  Duration timeout = std::chrono::minutes(20);
  OnTimeout on_timeout = OnTimeout::kAbort;
  std::optional<std::int64_t> grace_period_seconds;
  bool force = false;
  bool delete_empty_dir_data = true;
  std::optional<WaitForCompletion> wait_for_completion;
  bool operator==(const DrainSpec&) const = default;
};

struct CapacityGuardSpec {
  std::map<std::string, std::int64_t> min_available;  // resource → whole count in the cluster
  bool protect_last_provider = true;
  std::vector<std::string> retire;
  bool operator==(const CapacityGuardSpec&) const = default;
};

struct MIGLayoutSpec {
  // {} selects every GPU node. If it is absent, productSelector is required.
  std::optional<LabelSelector> node_selector;
  // nvidia.com/gpu.product without -MIG-… and -SHARED; empty: any.
  std::vector<std::string> product_selector;
  std::int32_t priority = 0;
  std::vector<DeviceLayout> devices;
  RolloutSpec rollout;
  DrainSpec drain;
  CapacityGuardSpec capacity_guard;
  DeletionPolicy deletion_policy = DeletionPolicy::kRetain;
  bool operator==(const MIGLayoutSpec&) const = default;
};

struct RenderedConfig {
  std::string product;  // nvidia.com/gpu.product of the hardware
  std::string name;  // the entry in mig-parted's file, which is the value of nvidia.com/mig.config
  bool operator==(const RenderedConfig&) const = default;
};

// The other counts sum to `selected`, except for nodes in progress that the layout no longer
// selects.
struct NodeCounts {
  std::int32_t selected = 0;
  std::int32_t updated = 0;
  std::int32_t in_progress = 0;
  std::int32_t blocked = 0;
  std::int32_t failed = 0;
  std::int32_t pending = 0;
  bool operator==(const NodeCounts&) const = default;
};

struct NodeDetail {
  std::string node;
  std::string phase;
  std::string reason;
  std::string message;
  std::optional<Time> since;
  bool operator==(const NodeDetail&) const = default;
};

struct MIGLayoutStatus {
  std::int64_t observed_generation = 0;
  std::string config_hash;  // 8 hex digits
  std::vector<RenderedConfig> configs;
  NodeCounts nodes;
  std::map<std::string, std::int64_t> capacity;  // resource → allocatable over the selected nodes
  std::vector<NodeDetail> details;               // at most 100, worst first
  std::vector<Condition> conditions;  // Ready always; Reconciling and Stalled only while True
  bool operator==(const MIGLayoutStatus&) const = default;
};

struct MIGLayout {
  ObjectMeta meta;
  MIGLayoutSpec spec;
  MIGLayoutStatus status;
  bool operator==(const MIGLayout&) const = default;
};
template <>
inline constexpr KindInfo kKind<MIGLayout>{"gpu.berth.dev", "v1alpha1", "miglayouts", "MIGLayout",
                                           false};

const char* to_string(RolloutOrder value);
const char* to_string(FailurePolicy value);
const char* to_string(DrainScope value);
const char* to_string(OnTimeout value);
const char* to_string(DeletionPolicy value);

// The CRD has the same bounds; a test compares them.
namespace limits {
inline constexpr std::size_t kMaxLayoutName = 40;
inline constexpr std::size_t kMaxDevices = 16;
inline constexpr std::size_t kMaxGpusPerEntry = 16;
inline constexpr std::int32_t kMaxGpuIndex = 15;
inline constexpr std::size_t kMaxProfiles = 16;
inline constexpr std::int64_t kMaxProfileCount = 16;
inline constexpr std::int64_t kMaxTimeoutHours = 168;  // for every duration: from 1s to a week
inline constexpr std::int64_t kMaxNodeBudget =
    100'000;                                           // maxUnavailable, initialBatch, maxFailures
inline constexpr std::int64_t kMaxSelectorTerms = 32;  // for matchLabels, and for matchExpressions
inline constexpr std::int64_t kMaxSelectorValues = 64;
inline constexpr std::int64_t kMaxProducts = 16;
inline constexpr std::int64_t kMaxResources = 32;  // for minAvailable, and for retire
inline constexpr std::size_t kMaxDetails = 100;
inline constexpr std::size_t kMaxMessage = 256;
}  // namespace limits

// The CRD's cross-field rules in CEL, in the same words. {} if the object obeys all of them.
// Geometry is checked elsewhere, because it depends on the product
// (controller/fleet/node_layout.h).
std::vector<Error> check_rules(const MIGLayout& layout);

// The status as JSON of the API, for a merge patch on the status subresource. Conditions keep their
// transition times.
std::string encode_status(const MIGLayoutStatus& status);
// The whole body of that merge patch. Its precondition is the resourceVersion of `read`. It sets
// resources that are no longer in the capacity to null, because the server would keep them
// otherwise.
std::string encode_status_patch(const MIGLayout& read, const MIGLayoutStatus& after);

}  // namespace berth
