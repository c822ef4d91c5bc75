// SPDX-License-Identifier: Apache-2.0
// Subject: the object that a user asks about, under any of its names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/core/cluster_state.h"
#include "controller/dump/clues.h"
#include "controller/explain/explain_workload.h"

namespace berth {

// As the user typed it.
struct SubjectName {
  enum class Kind { kAny, kPod, kNode, kLayout, kWorkload };
  Kind kind = Kind::kAny;
  std::string workload;    // kWorkload: Deployment, ReplicaSet, StatefulSet, Job or CronJob
  std::string namespace_;  // unused for nodes and layouts
  std::string name;
};

// "KIND/NAME" or "KIND NAME", either with NAMESPACE/ before the name, "NAMESPACE/NAME" for a pod,
// or only NAME. KIND is pod, node, deployment, replicaset, statefulset, job, cronjob or miglayout,
// or kubectl's short form. `namespace_` is the default namespace.
Result<SubjectName> parse_subject(const std::vector<std::string>& words,
                                  std::string_view namespace_);

struct Subject {  // exactly one of the four
  const Node* node = nullptr;
  const Pod* pod = nullptr;
  const MIGLayout* layout = nullptr;
  std::optional<WorkloadName> workload;  // if it has no pod that says more
};

// A bare name means the node with that name, else a pod. For a workload this finds its pending pod,
// else its newest pod, unless its pods are refused. An error names the most similar object.
Result<Subject> find_subject(const ClusterState& cluster, const Clues& clues,
                             const SubjectName& name);

}  // namespace berth
