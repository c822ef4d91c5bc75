// SPDX-License-Identifier: Apache-2.0
// HeardBefore: how recent the writers of the admission ledger's caches were.
// Annotation gpu.berth.dev/heard: {"epoch": the leader's, "jobs": VERSION, "pods": VERSION}.
//
// Once an entry is removed from the ledger, only the workload's own objects show the admission. A
// new leader's caches may be older than the ledger. Then it would not see a running workload, and
// would count its GPUs as free. So a new leader decides nothing and removes nothing before its
// caches are as recent as those of the last writer. This needs no request. If the watches work, it
// also takes no time: the versions are of real changes, which every watch delivers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controller/core/snapshot.h"

namespace berth::queue {

struct HeardBefore {
  std::int64_t epoch = 0;
  std::string jobs;  // resourceVersion of the latest change of a Job; empty: none
  std::string pods;
  bool operator==(const HeardBefore&) const = default;
};

// Returns an empty text if both versions are empty.
std::string encode_heard(const HeardBefore& heard);
// Ignores what it can't read, and versions that are not below the ledger's own. The ledger's writer
// can't have seen those. They come from a user or from a backup of another cluster, and berth would
// wait for them for ever.
HeardBefore decode_heard(std::string_view text, std::string_view ledger_version);

// Whether another leader has seen changes that this process has not seen.
bool is_behind(const Snapshot& snapshot, const HeardBefore& before);
// Returns the versions that this process has seen. Call it only if is_behind() is false.
HeardBefore heard_by_now(const Snapshot& snapshot, const HeardBefore& before);

}  // namespace berth::queue
