// SPDX-License-Identifier: Apache-2.0
// HistoryGuard: detects that the API server's history went back, for example because etcd was
// restored from a snapshot under a running server. A watch does not show that: it stays open and
// silent, because its version is in the future.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "controller/client/api_client.h"
#include "controller/io/task.h"

namespace berth {

inline constexpr std::chrono::seconds kBetweenHistoryLooks{10};

// Repeatedly asks for the newest version of the namespaces by quorum, until stopped. `seen` returns
// the version of the namespace cache; empty: none yet. If two answers in a row are older, calls
// on_back once, with a sentence. Then only a restart helps.
Task<void> guard_history(ApiClient& client, std::function<std::string()> seen,
                         std::function<void(std::string)> on_back, std::stop_token stop);

}  // namespace berth
