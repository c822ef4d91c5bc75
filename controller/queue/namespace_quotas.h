// SPDX-License-Identifier: Apache-2.0
// NamespaceQuotas: the ResourceQuota that a GPUQueue keeps in each namespace it selects, from its
// namespaceQuota.hard. Each names its queue as owner: it goes with the queue also while berth is
// away. Others' ResourceQuotas are never touched; the API server holds pods to all of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/cluster_index.h"

namespace berth {

// Made where missing, corrected where its bounds differ, taken away where its queue no longer wants
// it. A queue in trouble keeps what stands.
Plan plan_namespace_quotas(const Snapshot& snapshot, const queue::ClusterIndex& index);

// By queue, what keeps its bounds from being those that count: a name that is taken, a write that
// the server refuses, another ResourceQuota that is tighter. The first by namespace of each queue.
std::map<std::string, Cause, std::less<>> find_unmet_quotas(const Snapshot& snapshot,
                                                            const queue::ClusterIndex& index);

// Whether the change may ask for a plan: not what the namespaces use, which changes all the time.
bool concerns_quotas(const ResourceQuota* old, const ResourceQuota* now);

}  // namespace berth
