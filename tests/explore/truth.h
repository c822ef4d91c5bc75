// SPDX-License-Identifier: Apache-2.0
// Truth: the cluster by the store, in the few facts that the invariants need, and since when they
// hold. Fed change by change, without berth's caches.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/core/settings.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/slots.h"
#include "controller/io/loop.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

bool is_berth(std::string_view user);

// Whether the layout reports the node: with a reason among its details, or, if the layout is being
// deleted and owns no node any more, by name in the message about what it waits for.
bool tells_of(const MIGLayout& layout, const std::string& node);

struct TruePod {
  std::string uid;
  std::string node;
  bool tenant = false;    // requests a GPU, and is not NVIDIA's, a DaemonSet's or a kubelet's own
  bool finished = false;  // Succeeded or Failed
  bool leaving = false;
  std::string queue;  // the queue that admitted it
  // Its workload, and the time of its admission.
  std::pair<std::string, std::int64_t> admission;
};

struct TrueNode {
  std::string uid;
  bool cordoned = false;
  bool ready = false;
  std::string record_text;                     // berth's annotation
  std::optional<NodeRollout> record;           // its content, if it can be read
  std::string config;                          // nvidia.com/mig.config
  std::string state;                           // nvidia.com/mig.config.state
  std::map<std::string, std::int64_t> offers;  // allocatable of nvidia.com/…
  std::map<std::string, std::string> labels;

  // Since when, or never.
  std::optional<MonotonicTime> held;    // a user's hold
  std::optional<MonotonicTime> others;  // a driver upgrade or an autoscaler's mark
  std::optional<MonotonicTime> out;     // not Ready, or cordoned by another client
  std::optional<MonotonicTime> cordoned_at;
  std::optional<MonotonicTime> schedulable_at;
  bool berth_cordoned = false;  // berth wrote the present cordon
  bool returned = false;        // re-created with that cordon, from a copy of the node
  bool edited = false;          // another client has changed berth's annotation since
  bool out_for_health = false;  // by berth's health record
  bool disowned = false;      // edited since, and not in the ledger: its cordon's owner is unknown
  std::string config_writer;  // the last writer of nvidia.com/mig.config
  MonotonicTime config_since{0};
  bool config_as_found = true;  // unchanged since the node came
  MonotonicTime offers_since{0};
  MonotonicTime record_since{0};  // since when berth's annotation is unchanged
  // What it offered until another client removed it, and when.
  std::map<std::string, std::pair<std::int64_t, MonotonicTime>> offered;

  bool open() const { return record && record->phase != RolloutPhase::kIdle; }
};

struct TrueLayout {
  MIGLayout object;
  MonotonicTime spec_since{0};
  // Earlier specs, with the time of their end.
  std::vector<std::pair<MonotonicTime, MIGLayoutSpec>> former;
  // The present spec and those that were in force then or later.
  std::vector<const MIGLayoutSpec*> in_force_since(MonotonicTime then) const;
};

class Truth {
 public:
  explicit Truth(const Settings& settings) : settings_(settings) {}

  // Call this after the change.
  void take(const sim::Change& change, MonotonicTime now);

  const TrueNode* node(std::string_view name) const;
  const TruePod* pod(const std::string& namespace_, const std::string& name) const;
  // Unfinished GPU pods bound to the node.
  std::vector<std::string> tenants_on(const std::string& node) const;
  bool selects(const TrueLayout& layout, const TrueNode& node) const;

  std::map<std::string, TrueNode, std::less<>> nodes;
  std::map<std::string, TrueLayout> layouts;  // by uid
  std::map<std::string, std::pair<MonotonicTime, TrueLayout>> gone_layouts;
  std::map<std::string, Slot> slots;  // in the ledger
  // Queues with HoldAndDrain, and since when they no longer have it.
  std::map<std::string, std::optional<MonotonicTime>> drained_queues;
  // Admissions that the ledger reclaims for others, and since when it no longer does.
  std::map<std::pair<std::string, std::int64_t>, std::optional<MonotonicTime>> taken_back;
  std::optional<MonotonicTime> ledger_edited;  // by another client
  MonotonicTime ledger_since{0};               // when it last changed
  std::string agent_file;
  std::optional<MonotonicTime> agent_file_edited;  // by another client
  std::string leader;                              // the holder of the lease
  MonotonicTime leader_since{0};
  std::map<std::string, MonotonicTime> renewed;  // user → its last stored renewal
  std::map<std::string, std::int64_t> epochs;    // user → the last epoch it started

 private:
  bool is_remembered(std::string_view node) const;
  void take_node(const sim::Change& change, MonotonicTime now);
  void take_pod(const sim::Change& change);
  void take_config_map(const sim::Change& change, MonotonicTime now);
  void take_admissions(const sim::Change& change, MonotonicTime now);
  void take_layout(const sim::Change& change, MonotonicTime now);
  void take_lease(const sim::Change& change, MonotonicTime now);
  void take_queue(const sim::Change& change, MonotonicTime now);

  const Settings settings_;
  std::map<std::string, std::string> former_cordons_;     // by name: the uid of the deleted node
  std::map<std::string, TruePod> pods_;                   // by namespace/name
  std::map<std::string, std::set<std::string>> pods_on_;  // with GPUs, by node
};

}  // namespace berth::explore
