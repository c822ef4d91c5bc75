// SPDX-License-Identifier: Apache-2.0
// GivenWorkload: a Job or a Pod of a manifest, as it would stand in the cluster right after it was
// made, were it held back for its queue.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "apis/core.h"
#include "apis/manifest.h"
#include "apis/result.h"
#include "controller/core/cluster_state.h"

namespace berth {

struct GivenWorkload {
  std::variant<Job, Pod> object;
  std::string priority_class;            // of a Pod: the API server has not made a number of it yet
  std::string required_gpu_memory = {};  // annotation of the Pod or of the Job's template

  const ObjectMeta& meta() const;
  const PodShape& shape() const;
  std::string kind() const;  // "Job", "Pod"
};

// Whether the document is one that read_workload() reads: batch/v1's Job, or a Pod.
bool is_workload(const ManifestDocument& document);
// `namespace_` is that of a document that names none.
Result<GivenWorkload> read_workload(const ManifestDocument& document, std::string_view namespace_);

// Puts it in, waiting: the Job suspended, the Pod behind a gate.
void put_workload(const GivenWorkload& given, ClusterState& cluster, Time now);

// "Job/ns/name", "PodGroup/ns/name", "Pod/ns/name": what it is admitted as.
std::string workload_name(const GivenWorkload& given);

}  // namespace berth
