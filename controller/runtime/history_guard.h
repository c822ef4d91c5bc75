// SPDX-License-Identifier: Apache-2.0
// HistoryGuard: notices that the API server's history went back, as it does when etcd is restored
// from a snapshot under a running server. A watch says nothing of that: it stays open, and silent,
// at a version that is yet to come.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "controller/client/api_client.h"
#include "controller/io/task.h"

namespace berth {

inline constexpr std::chrono::seconds kBetweenHistoryLooks{10};

// Asks for the newest version of the namespaces by quorum, every so often, until it is stopped.
// `seen` is the version that their cache stands at; empty: none yet. `on_back` is called once, with
// a sentence, when two answers in a row are older: then only another process can be right again.
Task<void> guard_history(ApiClient& client, std::function<std::string()> seen,
                         std::function<void(std::string)> on_back, std::stop_token stop);

}  // namespace berth
