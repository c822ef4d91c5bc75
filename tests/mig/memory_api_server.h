// SPDX-License-Identifier: Apache-2.0
// The API server of a cluster in memory: answers berth's writes as a perfect one would, with the
// tests of a patch, resourceVersions and uids checked, and stores what they make of the objects.
#pragma once

#include <optional>

#include "controller/core/plan.h"
#include "tests/mig/memory_cluster.h"

namespace berth::test {

// Why the eviction subresource would not let the pod go; nothing if it would.
std::optional<Error> refuse_eviction(const MemoryCluster& world, const ObjectRef& pod);

// A write to a Node, ConfigMap or MIGLayout. Pods leave through PlayedPods, who take their time.
std::optional<Error> apply_write(MemoryCluster& world, const Write& write);

// Merges the update into the layout's status, through the codec of the real API.
void put_status(MemoryCluster& world, const StatusUpdate& update);

}  // namespace berth::test
