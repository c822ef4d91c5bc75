// SPDX-License-Identifier: Apache-2.0
// Converts ClusterQueues, LocalQueues and Cohorts to GPUQueues. In Kueue a LocalQueue allows its
// namespace to use a ClusterQueue, so the namespaceSelector names the LocalQueues' namespaces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/gpu_queue.h"
#include "controller/import/kueue_objects.h"
#include "controller/import/quotas.h"
#include "controller/import/report.h"

namespace berth {

struct QueueDraft {
  std::string name;
  std::string cohort;
  std::vector<const Source*> sources;             // the objects that it was made from
  const ClusterQueue* cluster_queue = nullptr;    // nullptr: it lends a Cohort's quota
  std::vector<std::string> namespaces;            // sorted; empty: as in the ClusterQueue
  std::optional<std::string> namespace_selector;  // as JSON; absent: no namespace
  bool default_queue = false;
  std::vector<QuotaSpec> quotas;
  std::map<std::string, std::int64_t> hard;  // limits of namespaceQuota
};

struct KueueObjects {
  std::vector<ClusterQueue> cluster_queues;
  std::vector<LocalQueue> local_queues;
  std::vector<ResourceFlavor> flavors;
  std::vector<Cohort> cohorts;
  std::vector<WorkloadPriorityClass> priority_classes;
  std::vector<Topology> topologies;
};

// Ordered by name.
std::vector<QueueDraft> draft_queues(const KueueObjects& kueue, const PoolNames& pools,
                                     FlavorUses& uses, ImportReport& report);

// The manifest, in JSON. The report gets the preemption and weight settings that it can't hold.
std::string write_queue(const QueueDraft& draft, ImportReport& report);

}  // namespace berth
