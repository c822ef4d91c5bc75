// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/outlook.h"

#include "controller/queue/facts/leaving.h"

namespace berth::queue {

Outlook::Outlook(const FactsIndex& index, std::int64_t now) : quotas_(index), room_(index, true) {
  for (const Workload* workload : index.leaving())
    if (!hangs(*workload, now)) think_away(*workload);
  for (const Pod* pod : index.leaving_alone())
    if (!hangs(*pod, now)) room_.think_away(*pod, +1);
}

void Outlook::move(const Workload& workload, std::int64_t sign) {
  for (const Charge& charge : workload.standing.charges) quotas_.use(charge, -sign);
  room_.think_away(workload, sign);
}

}  // namespace berth::queue
