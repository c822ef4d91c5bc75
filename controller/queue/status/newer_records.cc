// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/newer_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/queue/facts/record_cover.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth::queue {
namespace {

constexpr std::size_t kNamed = 5;

}  // namespace

std::optional<Cause> find_newer_ledger(const Snapshot& snapshot) {
  const AdmissionLedger& ledger = read_admissions(snapshot);
  if (ledger.newer.empty()) return std::nullopt;
  return Cause{
      reasons::kRecordNewer,
      fmt::format("nobody is admitted: ConfigMap {} has {} of a later berth that this one can't "
                  "read ({}); run the later one again, or remove what is out of date from its data",
                  names::kAdmissionsConfigMap,
                  std::ssize(ledger.newer) == 1 ? "an entry" : "entries",
                  list_first(ledger.newer, kNamed))};
}

std::optional<Cause> find_left_alone(const FactsIndex& index, const std::string& queue) {
  std::vector<std::string> names;
  std::int64_t version = 0;
  for (const Workload* workload : index.with_newer_record()) {
    const AdmissionFact* admission = admission_of(*workload);
    const std::string& of = admission != nullptr && !admission->queue.empty()
                                ? admission->queue
                                : index.catalog().queue_name(workload->standing.queue);
    if (of != queue) continue;
    names.push_back(*workload->name);
    version = std::max(version, newer_version(*workload).value_or(0));
  }
  if (names.empty()) return std::nullopt;
  return Cause{
      reasons::kRecordNewer,
      fmt::format("{} {} left alone, as a later berth has recorded the admission, with "
                  "version {} where this one knows {}: {}; run the later one again",
                  plural(std::ssize(names), "workload"), word_for(std::ssize(names), "is", "are"),
                  version, kRecordVersion, list_first(names, kNamed))};
}

}  // namespace berth::queue
