// SPDX-License-Identifier: Apache-2.0
// PoolInvariants: what must hold for the GPUClusterPolicy, checked like the others (invariants.h)
// on the store's truth, change by change:
//   Fields    berth changes only those labels and taints that its record gpu.berth.dev/pool-keys
//             names; other taints stay as they are, in their order
//   Others    berth corrects other clients' changes three times at most; a foreign config of the
//             device plugin, a foreign key of its file and a foreign PriorityClass stay
//   Config    the plugin's file has each key of berth's that a node names, and has had it for as
//             long as a file takes to reach the nodes before a node names it
//   Window    berth cordons no node while the policy's calendar is closed
//   Retreat   in the end a node without pool has nothing of berth's, and no node has any after the
//             deletion of a policy with Remove; after any other deletion all may stay
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/settings.h"
#include "controller/io/loop.h"
#include "controller/policy/pool_keys.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

// Whether the label or taint that this change of a node concerns may be the policy's.
bool is_pool_item(const nlohmann::json* before, const nlohmann::json* after, const PoolItem& item);

class PoolInvariants {
 public:
  using Complain = std::function<void(std::string_view invariant, const std::string& what)>;

  explicit PoolInvariants(const Settings& settings) : settings_(settings) {}

  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            const Complain& complain);
  // The fault in the state once berth is at rest. Empty: none.
  std::string unstill() const;

 private:
  struct KnownNode {
    std::string uid;
    std::map<std::string, std::string> labels;
    std::string record_text;
    std::optional<PoolKeys> record;
    bool foreign_pool = false;               // berth did not write its pool label
    std::set<PoolItem> foreign_hand;         // last written by another client
    std::map<std::string, int> corrections;  // by the record's items
  };
  struct Policy {
    GPUClusterPolicy object;
    std::string ready;       // Ready's status
    MonotonicTime since{0};  // when its spec last changed
  };
  void take_node(const sim::Change& change, bool by_berth, MonotonicTime now,
                 const Complain& complain);
  void judge_items(const std::string& name, const nlohmann::json* before,
                   const nlohmann::json* after, KnownNode& node, const Complain& complain);
  void judge_plugin_label(const std::string& name, const std::string& was, const std::string& is,
                          MonotonicTime now, const Complain& complain) const;
  void take_plugin_file(const sim::Change& change, bool by_berth, MonotonicTime now,
                        const Complain& complain);
  void take_priority_class(const sim::Change& change, bool by_berth, const Complain& complain);
  void take_policy(const sim::Change& change, MonotonicTime now);
  void judge_window(const std::string& name, MonotonicTime now, Time wall,
                    const Complain& complain) const;
  std::string expected_pool(const KnownNode& node) const;
  std::string judge_rest(const std::string& name, const KnownNode& node) const;

  const Settings settings_;
  std::map<std::string, KnownNode> nodes_;
  std::optional<Policy> policy_;
  bool retained_ = false;  // the last policy was deleted and left its nodes unchanged
  std::map<std::string, MonotonicTime> plugin_keys_;  // since when keys are unchanged they have
                                                      // their content
  std::optional<MonotonicTime> plugin_file_edited_;   // by another client
  std::set<std::string> berths_classes_;
};

}  // namespace berth::explore
