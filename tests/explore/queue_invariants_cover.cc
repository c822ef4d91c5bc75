// SPDX-License-Identifier: Apache-2.0
// A gang's admission covers a fixed number of GPUs, whatever later members request.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/explore/look.h"
#include "tests/explore/queue_invariants.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AdmissionFact;

// The requests of living pods with this admission, including the one being released. A record that
// a user wrote is not an admission.
void QueueInvariants::judge_cover(const std::string& name, const json& pod,
                                  const AdmissionFact& record) {
  const std::string group = group_of(pod);
  const std::int64_t most = record.amounts.empty() ? 0 : recorded(record).value_or(-1);
  if (group.empty() || most < 0) return;  // counted in another unit
  std::int64_t gpus = 0;
  for (const auto& [other, member] : pods_) {
    if (group_of(*member) != group || is_gated(*member) || has_ended(*member)) continue;
    if (forged_.contains(text_at(member.get(), {"metadata", "uid"}))) continue;
    const auto shown = record_of(*member);
    if (shown && shown->since == record.since) gpus += gpus_of(*at(member.get(), {"spec"}));
  }
  if (gpus > most)
    complain("Covered",
             fmt::format("{} goes, and what goes by its gang's admission of {} GPUs asks "
                         "for {}",
                         name, most, gpus));
}

}  // namespace berth::explore
