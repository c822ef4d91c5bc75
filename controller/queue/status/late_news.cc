// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/late_news.h"

#include <fmt/format.h>

#include "apis/base/reasons.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth::queue {
namespace {

using namespace std::chrono_literals;

// berth reports it only after this time, because a change of leader takes a moment.
constexpr Duration kPasses = 10s;
// No event says that the watches have caught up: a bookmark changes no object.
constexpr Duration kLooksAgain = 5s;

}  // namespace

LateNews find_late_news(const Snapshot& snapshot) {
  const AdmissionLedger& ledger = read_admissions(snapshot);
  if (snapshot.offline || !is_behind(snapshot, ledger.heard)) return {};
  // This leader's epoch begins with its next write of the ledger.
  if (ledger.epoch < snapshot.epoch || !ledger.epoch_since) return {std::nullopt, kPasses};
  const Time told_from = *ledger.epoch_since + kPasses;
  if (snapshot.now < told_from)
    return {std::nullopt, std::chrono::ceil<Duration>(told_from - snapshot.now)};
  return {Cause{reasons::kWatchBehind,
                fmt::format("nobody is admitted: since this controller began to lead at {} its "
                            "watches of Jobs and pods have not brought all that the one before it "
                            "had heard of; if that lasts, delete its pod: another one lists them "
                            "anew",
                            format_time(*ledger.epoch_since))},
          kLooksAgain};
}

}  // namespace berth::queue
