// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/unpin.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/recall/lost_places.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/node_pin.h"

namespace berth {
namespace {

constexpr char kRequired[] = "affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";

// From the last to the first, so that the places of the others stay as they are.
void remove_pins(const queue::AdmissionFact& record, const std::string& list,
                 std::vector<SelectorRequirement>& requirements, PodPatch& patch) {
  for (std::size_t i = requirements.size(); i-- > 0;) {
    if (!queue::is_pin_of(record, requirements[i])) continue;
    patch.remove(fmt::format("{}/{}", list, i));
    requirements.erase(requirements.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// kube-scheduler does not know the domain that the pod has to share with others.
bool requires_topology(const PodSlice& pod, const queue::AdmissionFact& record,
                       const ClusterState& cluster) {
  const GPUQueue* queue = cluster.gpu_queues().find(record.queue);
  return pod.queued.requires_topology ||
         (queue != nullptr && !queue->spec.topology.required.empty());
}

}  // namespace

// If a term held only the pin, the whole term is removed: a term without requirements selects no
// node.
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

void unpin_from_lost_nodes(PodSlice& pod, const ClusterState& cluster, PodPatch& patch) {
  if (pod.home != PodHome::kPod || pod.queued.admitted.empty()) return;
  const auto record = queue::decode_admission(pod.queued.admitted);
  if (!record || requires_topology(pod, *record, cluster) || seeded(SeededBug::kPinToTheDead))
    return;
  const bool lost = std::ranges::any_of(record->nodes, [&](const std::string& node) {
    return !queue::why_lost(cluster, node).empty();
  });
  if (lost) unpin(pod, *record, patch);
}

}  // namespace berth
