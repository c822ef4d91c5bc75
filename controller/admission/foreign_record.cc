// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/foreign_record.h"

#include <fmt/format.h>

#include "apis/base/names.h"
#include "controller/admission/unpin.h"
#include "controller/core/json_patch.h"
#include "controller/queue/record/admission_record.h"

namespace berth {
void drop_foreign_record(PodSlice& workload, PodPatch& patch, ReviewFindings& findings) {
  if (workload.queued.admitted.empty()) return;
  const std::string annotation = escape_pointer(names::kAdmittedAnnotation);
  patch.remove("/metadata/annotations/" + annotation);
  if (const auto record = queue::read_foreign(workload.queued.admitted)) {
    unpin(workload, *record, patch);
    const Text pool = workload.node_selector.get(names::kPoolLabel);
    if (record->selects_pool && pool.view() == record->pool) {
      patch.remove(workload.pointer("nodeSelector") + "/" + escape_pointer(names::kPoolLabel));
      workload.node_selector.erase(names::kPoolLabel);
    }
  }
  workload.queued.admitted = {};
  findings.warn(fmt::format("metadata.annotations[{}]", names::kAdmittedAnnotation),
                "is the admission of another object; it was removed, with the nodes and the pool "
                "of that admission, and this one queues anew");
}

}  // namespace berth
