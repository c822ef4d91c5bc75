// SPDX-License-Identifier: Apache-2.0
// AdmissionInvariants: what must hold of pods where the webhook is installed, judged like the rest
// (invariants.h) on the store's truth, change by change:
//   Spared    a pod of a namespace that has not opted in bears no mark of the webhook
//   Marked    what the annotation of its mutations tells of, a pod has
//   Once      nothing stands in a pod twice that the webhook adds
//   Complete  a GPU pod that came through the webhook lacks nothing of what its policy adds
//   Refused   no privileged GPU pod comes through the webhook
//   Reported  in the end a GPU pod that came past it, and waits for a node because of what it
//             lacks, has its event; none is reported that never lacked anything
//   Silent    the webhook writes nothing
//
// What a pod lacks is worked out here once more, of pods that ask for nothing but nvidia.com/gpu
// and choose no node or pool themselves. The policy that counts is any that was in force since the
// news of it can have reached whoever judged.
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

  // `news_takes`: how long ago a change may be that nobody has heard of.
  void take(const sim::Change& change, MonotonicTime now, std::chrono::nanoseconds news_takes);
  // Right before the pod is stored.
  void take_passage(const sim::Passage& passage) { passage_ = passage; }

  const std::vector<std::string>& broken() const { return broken_; }
  // What is not in order now that berth is at rest. Empty: nothing.
  std::string unstill() const;

 private:
  struct KnownNode {
    StringMap labels;
    bool has_gpus = false;
  };
  // What admission goes by, as it stood from then on.
  struct Rules {
    MonotonicTime since{0};
    std::optional<GPUClusterPolicy> policy;
    std::map<std::string, KnownNode> nodes;
    std::map<std::string, StringMap> namespaces;  // their labels
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
  // What the pod lacks of what these rules add: "a toleration of nvidia.com/gpu"; empty: nothing.
  std::string lack(const Rules& rules, const nlohmann::json& pod) const;
  bool is_intruder(const Rules& rules, const nlohmann::json& pod) const;
  // The rules that were in force at any time between the two.
  std::vector<const Rules*> in_force(MonotonicTime from, MonotonicTime until) const;
  void complain(std::string_view invariant, const std::string& what);

  const Settings settings_;
  std::vector<Rules> rules_;              // in order of time; the last is in force
  std::map<std::string, KnownPod> pods_;  // by uid, those that are gone too
  std::map<std::string, int> reported_;   // by pod's uid
  std::optional<sim::Passage> passage_;   // of what is stored next
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
