// SPDX-License-Identifier: Apache-2.0
// Converts ResourceQuotas to the namespaceQuota of the queue that selects their namespaces. One
// namespaceQuota applies to all of these namespaces, so all must have equal ResourceQuotas.
#pragma once

#include <vector>

#include "controller/import/kueue_objects.h"
#include "controller/import/queues.h"
#include "controller/import/report.h"

namespace berth {

void import_namespace_quotas(const std::vector<QuotaObject>& quotas,
                             std::vector<QueueDraft>& drafts, ImportReport& report);

}  // namespace berth
