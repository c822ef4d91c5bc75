// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/history_guard.h"

#include <fmt/format.h>

#include "controller/core/seeded_bugs.h"
#include "controller/runtime/informer_machine.h"

namespace berth {
namespace {

constexpr int kOlderAnswers = 2;  // one might come from a proxy's cache

}  // namespace

Task<void> guard_history(ApiClient& client, std::function<std::string()> seen,
                         std::function<void(std::string)> on_back, std::stop_token stop) {
  int older = 0;
  while (co_await sleep_for(kBetweenHistoryLooks, stop)) {
    const std::string before = seen();
    ListOptions newest{.limit = 1};
    CallOptions options(Lane::kBulk, stop, kBetweenHistoryLooks);
    const auto page = co_await client.list_page<Namespace>(std::move(newest), std::move(options));
    if (!page.has_value() || stop.stop_requested()) continue;
    older = is_older_version(page->resource_version, before) ? older + 1 : 0;
    if (older < kOlderAnswers || seeded(SeededBug::kOutliveHistory)) continue;
    on_back(
        fmt::format("the API server's history went back from version {} to {}: restored from "
                    "a backup?",
                    before, page->resource_version));
    co_return;
  }
}

}  // namespace berth
