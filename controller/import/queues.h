// SPDX-License-Identifier: Apache-2.0
// ClusterQueues, LocalQueues and Cohorts as GPUQueues. A LocalQueue is what lets a namespace use a
// ClusterQueue, so the queue's namespaceSelector names the LocalQueues' namespaces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/gpu_queue.h"
#include "controller/import/kueue_objects.h"
#include "controller/import/quotas.h"
#include "controller/import/report.h"

namespace berth {

struct QueueDraft {
  std::string name;
  std::string cohort;
  std::vector<const Source*> sources;             // what it is made of
  const ClusterQueue* cluster_queue = nullptr;    // nullptr: it lends what a Cohort has
  std::vector<std::string> namespaces;            // sorted; empty: as the ClusterQueue says
  std::optional<std::string> namespace_selector;  // as JSON; absent: no namespace
  bool default_queue = false;
  std::vector<QuotaSpec> quotas;
  std::map<std::string, std::int64_t> hard;  // of namespaceQuota
};

struct KueueObjects {
  std::vector<ClusterQueue> cluster_queues;
  std::vector<LocalQueue> local_queues;
  std::vector<ResourceFlavor> flavors;
  std::vector<Cohort> cohorts;
  std::vector<WorkloadPriorityClass> priority_classes;
  std::vector<Topology> topologies;
};

// By name.
std::vector<QueueDraft> draft_queues(const KueueObjects& kueue, const PoolNames& pools,
                                     FlavorUses& uses, ImportReport& report);

// The object as a manifest, in JSON. What its preemption and weight lose goes to the report.
std::string write_queue(const QueueDraft& draft, ImportReport& report);

}  // namespace berth
