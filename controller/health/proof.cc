// SPDX-License-Identifier: Apache-2.0
#include "controller/health/proof.h"

#include <fmt/format.h>

#include <sstream>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/core/content_hash.h"
#include "controller/core/json_patch.h"

namespace berth {
namespace {

// nvidia-smi takes seconds, or minutes if a driver hangs. Before it runs, the node pulls the image.
constexpr std::chrono::seconds kLastsAtMost = std::chrono::minutes(15);
// The job controller ends the Job by then, unless the node is lost and its pod remains.
constexpr Duration kGivenUpAfter = kLastsAtMost + std::chrono::minutes(1);
// A user can read the log of a failed Job for so long.
constexpr std::chrono::seconds kKeptFor = std::chrono::hours(24);

// With a rule for exit codes, the Job's condition says which exit code it was. A disruption of the
// pod says nothing about the GPUs.
constexpr char kPodFailurePolicy[] =
    R"({"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]},)"
    R"({"action":"FailJob","onExitCodes":{"operator":"NotIn","values":[0]}}]})";

bool is_proof_of(const Job& job, const Node& node) {
  const Text* proves = job.meta.annotations.find(names::kProofNodeAnnotation);
  return job.meta.labels.contains(names::kProofLabel) && proves != nullptr &&
         proves->view() == node.meta.uid;
}

std::string quoted_words(std::string_view command) {
  std::istringstream words{std::string(command)};
  std::string list;
  for (std::string word; words >> word;)
    list += fmt::format("{}{}", list.empty() ? "" : ",", quote_json(word));
  return list;
}

// Pins the pod to the node and tolerates all taints, including berth's cordon.
std::string placement_of(const Node& node) {
  return fmt::format(
      R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({{"nodeSelectorTerms":[{{"matchFields":[{{"key":"metadata.name","operator":"In",)"
      R"("values":[{}]}}]}}]}}}}}},"tolerations":[{{"operator":"Exists"}}])",
      quote_json(node.meta.name));
}

std::string container_of(const Settings::Proof& proof) {
  return fmt::format(
      R"({{"name":"proof","image":{},"command":[{}],)"
      R"("env":[{{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}},)"
      R"({{"name":"NVIDIA_DRIVER_CAPABILITIES","value":"utility"}}],)"
      R"("resources":{{"requests":{{"cpu":"10m","memory":"64Mi"}},"limits":{{"memory":"512Mi"}}}},)"
      R"("securityContext":{{"allowPrivilegeEscalation":false,"capabilities":{{"drop":["ALL"]}}}}}})",
      quote_json(proof.image), quoted_words(proof.command));
}

}  // namespace

std::string proof_name(const Node& node, const HealthRecord& record) {
  return fmt::format("berth-proof-{}-{}", content_hash(node.meta.uid),
                     content_hash(fmt::format("{} {} {}", record.cordons, record.proofs,
                                              format_micro_time(record.last))));
}

Proof find_proof(const Snapshot& snapshot, const Node& node, const HealthRecord& record) {
  const std::string& namespace_ = snapshot.settings.berth_namespace;
  const std::string name = proof_name(node, record);
  const Job* job = snapshot.cluster.jobs().find(namespace_, name);
  if (job == nullptr) return {};
  const auto failed = [&](std::string_view why) {
    return Proof{.state = Proof::State::kFailed,
                 .why = fmt::format("Job/{}/{} {}", namespace_, name, why)};
  };
  if (!is_proof_of(*job, node)) return failed("is not berth's");
  if (job->finished && job->failure.empty() && job->succeeded > 0)
    return {.state = Proof::State::kPassed};
  if (job->finished)
    return failed(fmt::format("failed: {}", job->failure.empty() ? "the server says nothing of why"
                                                                 : job->failure.view()));
  const Time late = job->meta.creation_timestamp + kGivenUpAfter;
  if (snapshot.now >= late)
    return failed(fmt::format("has not ended within {}", format_duration_short(kGivenUpAfter)));
  return {.state = Proof::State::kUnderWay,
          .next_in = std::chrono::ceil<Duration>(late - snapshot.now)};
}

Write create_proof(const Snapshot& snapshot, const Node& node, const HealthRecord& record) {
  const Settings& settings = snapshot.settings;
  const std::string name = proof_name(node, record);
  const std::string labels =
      fmt::format(R"({{"{}":"berth","{}":"true"}})", names::kManagedByLabel, names::kProofLabel);
  const std::string runtime_class =
      settings.proof.runtime_class.empty()
          ? std::string()
          : fmt::format(R"("runtimeClassName":{},)", quote_json(settings.proof.runtime_class));
  const std::string pod = fmt::format(
      R"({{"metadata":{{"labels":{}}},"spec":{{"restartPolicy":"Never",)"
      R"("terminationGracePeriodSeconds":5,"automountServiceAccountToken":false,)"
      R"("enableServiceLinks":false,{}"securityContext":{{"runAsNonRoot":true,"runAsUser":65532,)"
      R"("seccompProfile":{{"type":"RuntimeDefault"}}}},{},"containers":[{}]}}}})",
      labels, runtime_class, placement_of(node), container_of(settings.proof));
  return {.verb = Verb::kCreate,
          .object = {"Job", settings.berth_namespace, name, ""},
          .body = fmt::format(
              R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"{}","namespace":{},)"
              R"("labels":{},"annotations":{{"{}":{}}}}},"spec":{{"backoffLimit":0,)"
              R"("activeDeadlineSeconds":{},"ttlSecondsAfterFinished":{},"podFailurePolicy":{},)"
              R"("template":{}}}}})",
              name, quote_json(settings.berth_namespace), labels, names::kProofNodeAnnotation,
              quote_json(node.meta.uid), kLastsAtMost.count(), kKeptFor.count(), kPodFailurePolicy,
              pod),
          .field_manager = names::kManagerPolicy,
          .reason = fmt::format("prove that the GPUs of {} work", node.meta.name)};
}

}  // namespace berth
