// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_record.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AdmissionFact;

namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
// The labels and annotations of LeaderWorkerSet's pods.
constexpr char kSet[] = "leaderworkerset.sigs.k8s.io/name";
constexpr char kSetsGroup[] = "leaderworkerset.sigs.k8s.io/group-index";
constexpr char kSetsSize[] = "leaderworkerset.sigs.k8s.io/size";

}  // namespace

bool is_gated(const json& pod) {
  const json* gates = at(&pod, {"spec", "schedulingGates"});
  return gates != nullptr && std::ranges::any_of(*gates, [](const json& gate) {
           return text_at(&gate, {"name"}) == names::kQueueGate;
         });
}

std::vector<std::string> others_gates(const json& pod) {
  std::vector<std::string> names;
  if (const json* gates = at(&pod, {"spec", "schedulingGates"}))
    for (const json& gate : *gates)
      if (text_at(&gate, {"name"}) != names::kQueueGate) names.push_back(text_at(&gate, {"name"}));
  return names;
}

bool is_lost(const json& pod) {
  return at(&pod, {"metadata", "deletionTimestamp"}) != nullptr &&
         !annotation_at(&pod, names::kOnDeadNodeSinceAnnotation).empty();
}

bool has_ended(const json& pod) {
  const std::string& phase = text_at(&pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed" || is_lost(pod);
}

bool is_in_service(const json& node) {
  if (true_at(&node, {"spec", "unschedulable"})) return false;
  const json* conditions = at(&node, {"status", "conditions"});
  return conditions != nullptr && std::ranges::any_of(*conditions, [](const json& condition) {
           return text_at(&condition, {"type"}) == "Ready" &&
                  text_at(&condition, {"status"}) == "True";
         });
}

std::int64_t gpus_of(const json& pod_spec) {
  std::int64_t gpus = 0;
  if (const json* containers = at(&pod_spec, {"containers"}))
    for (const json& container : *containers) {
      const json* asked = at(&container, {"resources", "limits", kGpu});
      if (asked == nullptr) continue;
      gpus += asked->is_string() ? std::stoll(asked->get<std::string>()) : asked->get<int>();
    }
  return gpus;
}

std::string owner_uid(const json& object) {
  const json* owners = at(&object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return "";
  for (const json& owner : *owners)
    if (true_at(&owner, {"controller"})) return text_at(&owner, {"uid"});
  return "";
}

std::int64_t asked_by_job(const json& job) {
  std::int64_t pods = number_at(&job, {"spec", "parallelism"});
  if (at(&job, {"spec", "completions"}) != nullptr)
    pods = std::min(
        pods, number_at(&job, {"spec", "completions"}) - number_at(&job, {"status", "succeeded"}));
  return pods * gpus_of(*at(&job, {"spec", "template", "spec"}));
}

std::optional<std::int64_t> recorded(const AdmissionFact& record) {
  std::optional<std::int64_t> gpus;
  for (const auto& [resource, amount] : record.amounts)
    if (resource == kGpu) gpus = gpus.value_or(0) + amount;
  return gpus;
}

std::optional<AdmissionFact> record_of(const json& object) {
  return queue::decode_admission(annotation_at(&object, names::kAdmittedAnnotation));
}

bool selects(const json& labels, const json& home) {
  return !labels.is_null() && std::ranges::all_of(labels.items(), [&](const auto& label) {
    return label_at(&home, label.key()) == label.value().template get<std::string>();
  });
}

std::int64_t size_of_group(const json& pod) {
  const std::string& own = annotation_at(&pod, names::kPodGroupSizeAnnotation);
  const std::string& size = own.empty() ? annotation_at(&pod, kSetsSize) : own;
  return size.empty() ? 0 : std::stoll(size);
}

std::string group_of(const json& pod) {
  if (size_of_group(pod) == 0) return "";
  std::string group = label_at(&pod, names::kPodGroupLabel);
  if (group.empty() && !label_at(&pod, kSet).empty())
    group = fmt::format("LeaderWorkerSet:{}:{}", label_at(&pod, kSet), label_at(&pod, kSetsGroup));
  return group.empty() ? "" : text_at(&pod, {"metadata", "namespace"}) + "/" + group;
}

std::string workload_of(const json& pod) {
  const std::string group = group_of(pod);
  if (!group.empty()) return "PodGroup/" + group;
  const std::string& home = text_at(&pod, {"metadata", "namespace"});
  const json* owners = at(&pod, {"metadata", "ownerReferences"});
  if (owners != nullptr)
    for (const json& owner : *owners)
      if (text_at(&owner, {"kind"}) == "Job")
        return fmt::format("Job/{}/{}", home, text_at(&owner, {"name"}));
  return fmt::format("Pod/{}/{}", home, text_at(&pod, {"metadata", "name"}));
}

bool tells_use_alone(const sim::Change& change) {
  if (change.before == nullptr || change.after == nullptr) return false;
  const auto without_use = [](json queue) {
    queue["metadata"] = nullptr;
    json& status = queue["status"];
    if (!status.is_object()) return queue;
    status.erase("budget");
    if (status.contains("conditions"))
      for (json& condition : status["conditions"])
        if (condition["type"] == "BudgetExceeded") condition.erase("message");
    return queue;
  };
  return without_use(*change.before) == without_use(*change.after);
}

}  // namespace berth::explore
