// SPDX-License-Identifier: Apache-2.0
// Truth: the cluster as the store has it, in the few facts that the invariants ask for, and since
// when they hold. Fed change by change; nothing in it has been near berth's caches.
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

// Whether the layout says what is with the node: with a reason among its details, or, once it goes
// and owns no node any more, by name where it says what it waits for.
bool tells_of(const MIGLayout& layout, const std::string& node);

struct TruePod {
  std::string uid;
  std::string node;
  bool tenant = false;    // asks for a GPU, and is no agent's, DaemonSet's or kubelet's own
  bool finished = false;  // Succeeded or Failed
  bool leaving = false;
  std::string queue;  // the one that has admitted it
  // The workload that it is of, and when it was admitted.
  std::pair<std::string, std::int64_t> admission;
};

struct TrueNode {
  std::string uid;
  bool cordoned = false;
  bool ready = false;
  std::string record_text;                     // berth's annotation
  std::optional<NodeRollout> record;           // what it says, if it can be read
  std::string config;                          // nvidia.com/mig.config
  std::string state;                           // nvidia.com/mig.config.state
  std::map<std::string, std::int64_t> offers;  // NVIDIA's allocatable
  std::map<std::string, std::string> labels;

  // Since when, or never.
  std::optional<MonotonicTime> held;    // a person's hold
  std::optional<MonotonicTime> others;  // a driver upgrade or an autoscaler's mark
  std::optional<MonotonicTime> out;     // not Ready, or cordoned by somebody else
  std::optional<MonotonicTime> cordoned_at;
  std::optional<MonotonicTime> schedulable_at;
  bool berth_cordoned = false;  // the cordon that stands is berth's write
  bool returned = false;        // created with that cordon, as a copy of the node that berth took
  bool edited = false;          // somebody else wrote berth's annotation since berth did
  bool out_for_health = false;  // says berth's record of that
  bool disowned = false;      // edited since that cordon, and not in the ledger: whose it is, berth
                              // cannot know
  std::string config_writer;  // who wrote nvidia.com/mig.config last
  MonotonicTime config_since{0};
  bool config_as_found = true;  // it has not changed since the node came
  MonotonicTime offers_since{0};
  MonotonicTime record_since{0};  // since berth's annotation has had this text
  // What it offered until somebody else took it away, and when.
  std::map<std::string, std::pair<std::int64_t, MonotonicTime>> offered;

  bool open() const { return record && record->phase != RolloutPhase::kIdle; }
};

struct TrueLayout {
  MIGLayout object;
  MonotonicTime spec_since{0};
  // Specs that stood before, with the time at which they went.
  std::vector<std::pair<MonotonicTime, MIGLayoutSpec>> former;
  // The present spec and those that stood then or later.
  std::vector<const MIGLayoutSpec*> in_force_since(MonotonicTime then) const;
};

class Truth {
 public:
  explicit Truth(const Settings& settings) : settings_(settings) {}

  // As it is after the change.
  void take(const sim::Change& change, MonotonicTime now);

  const TrueNode* node(std::string_view name) const;
  const TruePod* pod(const std::string& namespace_, const std::string& name) const;
  // Unfinished GPU pods bound to the node.
  std::vector<std::string> tenants_on(const std::string& node) const;
  bool selects(const TrueLayout& layout, const TrueNode& node) const;

  std::map<std::string, TrueNode, std::less<>> nodes;
  std::map<std::string, TrueLayout> layouts;  // by uid
  std::map<std::string, std::pair<MonotonicTime, TrueLayout>> gone_layouts;
  std::map<std::string, Slot> slots;  // the ledger
  // Queues with HoldAndDrain, and since when they don't say so any more.
  std::map<std::string, std::optional<MonotonicTime>> drained_queues;
  // Admissions that the ledger takes back for others, and since when it does not any more.
  std::map<std::pair<std::string, std::int64_t>, std::optional<MonotonicTime>> taken_back;
  std::optional<MonotonicTime> ledger_edited;  // by somebody else
  MonotonicTime ledger_since{0};               // since it stands as it does
  std::string agent_file;
  std::optional<MonotonicTime> agent_file_edited;  // by somebody else
  std::string leader;                              // identity that holds the lease
  MonotonicTime leader_since{0};
  std::map<std::string, MonotonicTime> renewed;  // user → its last renewal that was stored
  std::map<std::string, std::int64_t> epochs;    // user → the last epoch it began

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
  std::map<std::string, std::string> former_cordons_;  // by name: the uid of the node that is gone
  std::map<std::string, TruePod> pods_;                // by namespace/name
  std::map<std::string, std::set<std::string>> pods_on_;  // tenants, by node
};

}  // namespace berth::explore
