// SPDX-License-Identifier: Apache-2.0
// ResourceQuotas as the namespaceQuota of the queue whose namespaces they are in: one for all of
// these, so only where all of them have the same.
#pragma once

#include <vector>

#include "controller/import/kueue_objects.h"
#include "controller/import/queues.h"
#include "controller/import/report.h"

namespace berth {

void import_namespace_quotas(const std::vector<QuotaObject>& quotas,
                             std::vector<QueueDraft>& drafts, ImportReport& report);

}  // namespace berth
