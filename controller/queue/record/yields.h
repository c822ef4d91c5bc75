// SPDX-License-Identifier: Apache-2.0
// Yields: workloads that may displace no other. berth took idle GPUs from such a workload, and it
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

}  // namespace berth::queue
