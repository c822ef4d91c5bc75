// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/admit/release.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts/workload.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {
namespace {

struct Selection {
  bool by_berth = false;  // berth wrote the pool into the node selector
  std::string patch;      // of the node selector; empty: no change
};

// `selected`: an earlier admission wrote the pool into the selector.
Selection select_pool(const PodShape::Fields& shape, const std::string& pool, bool selected) {
  if (seeded(SeededBug::kReleaseAnywhere)) return {};
  const bool stands = shape.node_selector.contains(names::kPoolLabel);
  const std::string key = quote_json(names::kPoolLabel);
  if (stands && !selected) return {};
  if (pool != kAnyPool)
    return {.by_berth = true, .patch = fmt::format("{{{}:{}}}", key, quote_json(pool))};
  return {.by_berth = false, .patch = stands ? fmt::format("{{{}:null}}", key) : ""};
}

// Returns the gates of others, in their order.
std::string gates_left(const berth::Pod& pod) {
  if (seeded(SeededBug::kOpenEveryGate)) return "null";
  std::string items;
  for (const Text& gate : pod.shape->scheduling_gates) {
    if (gate == names::kQueueGate) continue;
    items += fmt::format(R"({}{{"name":{}}})", items.empty() ? "" : ",", quote_json(gate.view()));
  }
  return items.empty() ? "null" : "[" + items + "]";
}

// Returns a patch that adds the record and removes the pending reason. It is valid only for the
// version that berth decided on.
MergePatch noted(const ObjectMeta& meta, const std::string& record) {
  if (seeded(SeededBug::kReleaseWithoutRecord)) return MergePatch::same_version(meta);
  MergePatch patch =
      seeded(SeededBug::kReleaseAnyVersion) ? MergePatch() : MergePatch::same_version(meta);
  if (meta.annotations.contains(names::kPendingReasonAnnotation) && !seeded(SeededBug::kKeepReason))
    patch.without_annotation(names::kPendingReasonAnnotation);
  return patch.annotation(names::kAdmittedAnnotation, record);
}

// Returns the annotations that the Job's template gives to its pods: the record, and the topology
// that the Job requires. Without the latter the webhook would unpin a pod from its domain.
std::string template_annotations(const berth::Job& job, const std::string& record) {
  std::string text = fmt::format(R"("{}":{})", names::kAdmittedAnnotation, quote_json(record));
  const Text required = job.meta.annotations.get(names::kRequiredTopologyAnnotation);
  if (!required.empty())
    text +=
        fmt::format(R"(,"{}":{})", names::kRequiredTopologyAnnotation, quote_json(required.view()));
  return text;
}

template <class T>
Write write_of(const T& object, const AdmissionFact& admission, std::string body) {
  return {.verb = Verb::kMergePatch,
          .object = ref_of(object),
          .body = std::move(body),
          .field_manager = names::kManagerQueue,
          .reason = fmt::format(
              "admitted in queue {} to {}", admission.queue,
              admission.pool == kAnyPool ? std::string("any pool") : "pool " + admission.pool)};
}

}  // namespace

Write release_pod(const berth::Pod& pod, const AdmissionFact& admission) {
  AdmissionFact record = admission;
  record.uid = pod.meta.uid;
  record.nodes.clear();
  record.members.clear();
  if (const std::string_view node = node_of(admission, pod.meta.uid); !node.empty())
    record.nodes.emplace_back(node);
  if (const OwnerReference* maker = pod.meta.controller()) record.maker = maker->uid.str();
  const Selection selection = select_pool(*pod.shape, record.pool, false);
  record.selects_pool = selection.by_berth;
  std::string spec = R"({"schedulingGates":)" + gates_left(pod);
  if (!selection.patch.empty()) spec += R"(,"nodeSelector":)" + selection.patch;
  if (!record.nodes.empty() && !seeded(SeededBug::kPinNobody)) {
    spec += R"(,"affinity":)" +
            affinity_patch(pod.shape->required_node_affinity, {.values = record.nodes});
  }
  return write_of(pod, record,
                  noted(pod.meta, encode_admission(record)).field("spec", spec + "}").str());
}

Write release_job(const berth::Job& job, const AdmissionFact& admission, const NodePin& pin) {
  AdmissionFact record = admission;
  if (pin.values.empty()) record.nodes.clear();
  std::optional<AdmissionFact> before = admission_on(job.meta);
  if (!before) before = foreign_admission_on(job.meta);
  const Selection selection =
      select_pool(*job.pod_shape, record.pool, before && before->selects_pool);
  record.selects_pool = selection.by_berth;
  const std::string text = encode_admission(record);
  std::string pod_spec = selection.patch.empty() ? "" : R"("nodeSelector":)" + selection.patch;
  if (!pin.values.empty() || (before && !before->nodes.empty())) {
    const bool strip = before && !seeded(SeededBug::kKeepOldPin);
    const PodShape own = strip ? without_admission(job.pod_shape, *before) : job.pod_shape;
    pod_spec += (pod_spec.empty() ? R"("affinity":)" : R"(,"affinity":)") +
                affinity_patch(own->required_node_affinity, pin);
  }
  if (!pod_spec.empty()) pod_spec = R"(,"spec":{)" + pod_spec + "}";
  const std::string spec =
      fmt::format(R"({{"suspend":false,"template":{{"metadata":{{"annotations":{{{}}}}}{}}}}})",
                  template_annotations(job, text), pod_spec);
  return write_of(job, record, noted(job.meta, text).field("spec", spec).str());
}

}  // namespace berth::queue
