// SPDX-License-Identifier: Apache-2.0
// NamespaceQuotas: the ResourceQuota that a GPUQueue keeps in each namespace it selects, from its
// namespaceQuota.hard. The queue owns the ResourceQuota, so the garbage collector deletes it with
// the queue even if berth does not run. berth never changes other ResourceQuotas. The API server
// enforces all of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/queue/index/cluster_index.h"

namespace berth::queue {

// Plans to create missing ResourceQuotas, correct changed ones, and delete those that the queue no
// longer wants. A queue in trouble keeps its existing ResourceQuotas.
Plan plan_namespace_quotas(const Snapshot& snapshot, const ClusterIndex& index);

// Returns by queue why its bounds do not take effect: the name is taken, the API server refuses the
// write, or another ResourceQuota is tighter. It returns one cause per queue, from the first
// namespace by name.
std::map<std::string, Cause, std::less<>> find_unmet_quotas(const Snapshot& snapshot,
                                                            const ClusterIndex& index);

// Whether the change may need a new plan. Changes of the usage in status do not, as they happen all
// the time.
bool concerns_quotas(const ResourceQuota* old, const ResourceQuota* now);

}  // namespace berth::queue
