// SPDX-License-Identifier: Apache-2.0
// GivenWorkload: a Job or a Pod of a manifest, as it would be in the cluster right after its
// creation if its queue held it.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "apis/base/result.h"
#include "apis/codec/manifest.h"
#include "apis/kinds/core.h"
#include "controller/core/cluster_state.h"

namespace berth {

struct GivenWorkload {
  std::variant<Job, Pod> object;
  std::string priority_class;  // of a Pod, for which the API server has not set a priority yet
  std::string required_gpu_memory = {};  // annotation of the Pod or of the Job's template

  const ObjectMeta& meta() const;
  const PodShape& shape() const;
  std::string kind() const;  // "Job", "Pod"
};

// Whether read_workload() can read the document: a Job of batch/v1, or a Pod.
bool is_workload(const ManifestDocument& document);
// `namespace_` is for a document without one.
Result<GivenWorkload> read_workload(const ManifestDocument& document, std::string_view namespace_);

// Adds it to the cluster as pending: the Job suspended, the Pod gated.
void put_workload(const GivenWorkload& given, ClusterState& cluster, Time now);

// "Job/ns/name", "PodGroup/ns/name", "Pod/ns/name": the unit that is admitted.
std::string workload_name(const GivenWorkload& given);

}  // namespace berth
