// SPDX-License-Identifier: Apache-2.0
// AdmissionInvariants: what must hold for pods if the webhook is installed, checked like the others
// (invariants.h) on the store's truth, change by change:
//   Spared    a pod of a namespace that has not opted in has no mark of the webhook
//   Marked    a pod has what its mutations annotation lists
//   Once      nothing that the webhook adds is in a pod twice
//   Complete  a reviewed GPU pod lacks nothing that its policy adds
//   Refused   no privileged GPU pod passes the webhook
//   Reported  in the end a GPU pod that was created without review, and is unscheduled because of
//             what it lacks, has its event; a pod that never lacked anything has none
//   Silent    the webhook writes nothing
//
// This file computes on its own what a pod lacks, for pods that request only nvidia.com/gpu and
// choose no node or pool themselves. Any policy counts that was in force since the judge can have
// known it.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/settings.h"
#include "controller/io/loop.h"
#include "controller/sim/server/admission_webhooks.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

class AdmissionInvariants {
 public:
  explicit AdmissionInvariants(const Settings& settings) : settings_(settings) {}

  // `news_takes`: berth may not know of a change that is younger than this.
  void take(const sim::Change& change, MonotonicTime now, std::chrono::nanoseconds news_takes);
  // Call this right before the pod is stored.
  void take_passage(const sim::Passage& passage) { passage_ = passage; }

  const std::vector<std::string>& broken() const { return broken_; }
  // The fault in the state once berth is at rest. Empty: none.
  std::string unstill() const;

 private:
  struct KnownNode {
    StringMap labels;
    bool has_gpus = false;
  };
  // The objects that admission reads, from `since` on.
  struct Rules {
    MonotonicTime since{0};
    std::optional<GPUClusterPolicy> policy;
    std::map<std::string, KnownNode> nodes;
    std::map<std::string, StringMap> namespaces;  // by name: its labels
  };
  struct KnownPod {
    std::string name;  // NAMESPACE/NAME
    sim::ObjectPtr object;
    MonotonicTime created{0};
    bool gone = false;
  };

  void take_pod(const sim::Change& change, MonotonicTime now, std::chrono::nanoseconds news_takes);
  void judge_new_pod(const KnownPod& pod, MonotonicTime asked);
  void judge_marks(const KnownPod& pod);
  void take_event(const sim::Change& change, MonotonicTime now,
                  std::chrono::nanoseconds news_takes);
  void take_rules(const sim::Change& change, MonotonicTime now);
  bool is_managed(const Rules& rules, const std::string& namespace_) const;
  // What these rules would add to the pod: "a toleration of nvidia.com/gpu"; empty: nothing.
  std::string lack(const Rules& rules, const nlohmann::json& pod) const;
  bool is_intruder(const Rules& rules, const nlohmann::json& pod) const;
  // The rules that were in force at any time in this span.
  std::vector<const Rules*> in_force(MonotonicTime from, MonotonicTime until) const;
  void complain(std::string_view invariant, const std::string& what);

  const Settings settings_;
  std::vector<Rules> rules_;              // by time; the last is in force
  std::map<std::string, KnownPod> pods_;  // by uid, including deleted pods
  std::map<std::string, int> reported_;   // by the pod's uid
  std::optional<sim::Passage> passage_;   // of the pod that is stored next
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
