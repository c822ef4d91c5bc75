// SPDX-License-Identifier: Apache-2.0
// Yielding: workloads that may displace no other. berth took idle GPUs from such a workload, and it
// waits again, often with the older age or the higher priority. If it displaced the workload that
// took its GPUs and then was idle again, the two would displace each other for ever. So it
// displaces none while that workload exists, and starts only in free capacity. The annotation
// gpu.berth.dev/yields of the ledger is written together with the entry that takes the GPUs back:
// {"OWNER UID": {"to": "Job/ns/name", "uid": …}}.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "controller/core/cluster_state.h"
#include "controller/queue/facts_index.h"

namespace berth::queue {

struct Taker {
  std::string workload;
  std::string uid;  // of its admission
  bool operator==(const Taker&) const = default;
};
// By uid of the Job, or of the controller that re-creates the pods.
using Yields = std::map<std::string, Taker, std::less<>>;

// berth takes back no more idle workloads than it can note here.
inline constexpr std::size_t kMostYielding = 256;

std::string encode_yields(const Yields& yields);
// Ignores what it can't read.
Yields decode_yields(std::string_view text);

// Returns an empty uid if no controller re-creates the workload.
std::string remaker_uid(const ClusterState& cluster, const Workload& workload);

// Whether the taker still waits or runs.
bool is_there(const FactsIndex& facts, const Taker& taker);

}  // namespace berth::queue
