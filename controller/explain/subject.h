// SPDX-License-Identifier: Apache-2.0
// Subject: what somebody asks about, by any of the names that people type.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "controller/core/cluster_state.h"
#include "controller/dump/clues.h"
#include "controller/explain/explain_workload.h"

namespace berth {

// As it was typed.
struct SubjectName {
  enum class Kind { kAny, kPod, kNode, kLayout, kWorkload };
  Kind kind = Kind::kAny;
  std::string workload;    // kWorkload: Deployment, ReplicaSet, StatefulSet, Job or CronJob
  std::string namespace_;  // of a node and a layout nobody asks for it
  std::string name;
};

// "KIND/NAME", "KIND NAME", either with NAMESPACE/ before the name, "NAMESPACE/NAME" of a pod, or a
// bare NAME. KIND is pod, node, deployment, replicaset, statefulset, job, cronjob or miglayout, or
// what kubectl shortens them to. `namespace_` is where those are that name none.
Result<SubjectName> parse_subject(const std::vector<std::string>& words,
                                  std::string_view namespace_);

struct Subject {  // one of the four
  const Node* node = nullptr;
  const Pod* pod = nullptr;
  const MIGLayout* layout = nullptr;
  std::optional<WorkloadName> workload;  // that has no pod to tell more
};

// A bare name is a node's if one is so named, else a pod's. Of a workload it is the pod that waits,
// else the newest, unless its pods are refused. An error names what is nearest.
Result<Subject> find_subject(const ClusterState& cluster, const Clues& clues,
                             const SubjectName& name);

}  // namespace berth
