// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/foreign_record.h"

#include <fmt/format.h>

#include "apis/names.h"
#include "controller/core/json_patch.h"
#include "controller/queue/admission_record.h"
#include "controller/queue/node_pin.h"

namespace berth {
namespace {

constexpr char kRequired[] = "affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";

// Backwards, so that the indexes of the other requirements stay valid.
void remove_pins(const queue::AdmissionFact& record, const std::string& list,
                 std::vector<SelectorRequirement>& requirements, PodPatch& patch) {
  for (std::size_t i = requirements.size(); i-- > 0;) {
    if (!queue::is_pin_of(record, requirements[i])) continue;
    patch.remove(fmt::format("{}/{}", list, i));
    requirements.erase(requirements.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// A term with only the pin is removed too: a term without requirements would select no node.
void unpin(PodSlice& workload, const queue::AdmissionFact& record, PodPatch& patch) {
  const std::string required = workload.pointer(kRequired);
  for (std::size_t i = workload.terms.size(); i-- > 0;) {
    TermSlice& slice = workload.terms[i];
    if (slice.empty()) continue;
    const std::string term = fmt::format("{}/nodeSelectorTerms/{}", required, i);
    remove_pins(record, term + "/matchFields", slice.term.match_fields, patch);
    remove_pins(record, term + "/matchExpressions", slice.term.match_expressions, patch);
    if (!slice.empty()) continue;
    patch.remove(term);
    workload.terms.erase(workload.terms.begin() + static_cast<std::ptrdiff_t>(i));
    if (!workload.terms.empty()) continue;
    patch.remove(required);
    workload.has_required_affinity = false;
  }
}

}  // namespace

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
