// SPDX-License-Identifier: Apache-2.0
#include "controller/health/proof.h"

#include <fmt/format.h>

#include <sstream>

#include "apis/names.h"
#include "apis/time.h"
#include "controller/core/content_hash.h"
#include "controller/core/json_patch.h"

namespace berth {
namespace {

// nvidia-smi takes seconds, and minutes where a driver hangs; an image has to be pulled first.
constexpr int kRunsAtMostSeconds = 300;
constexpr Duration kLastsAtMost = std::chrono::minutes(15);

bool is_proof(const Pod& pod) { return pod.meta.labels.contains(names::kProofLabel); }

const Pod* pod_of(const Snapshot& snapshot, const std::string& name) {
  return snapshot.cluster.pods().find(snapshot.settings.berth_namespace, name);
}

// Why it failed, or has not ended in time.
std::string told_end(const Pod& pod) {
  std::string told = pod.trouble.str();
  if (!pod.last_words.empty())
    told += fmt::format("{}{}", told.empty() ? "" : ", ", pod.last_words.view());
  return told;
}

std::string quoted_words(std::string_view command) {
  std::istringstream words{std::string(command)};
  std::string list;
  for (std::string word; words >> word;)
    list += fmt::format("{}{}", list.empty() ? "" : ",", quote_json(word));
  return list;
}

// Pinned to the node, whatever its taints, its own cordon among them.
std::string placement_of(const Node& node) {
  return fmt::format(
      R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({{"nodeSelectorTerms":[{{"matchFields":[{{"key":"metadata.name","operator":"In",)"
      R"("values":[{}]}}]}}]}}}}}},"tolerations":[{{"operator":"Exists"}}])",
      quote_json(node.meta.name));
}

// The end of its log becomes its last words where it fails.
std::string container_of(const Settings::Proof& proof) {
  return fmt::format(
      R"({{"name":"proof","image":{},"command":[{}],)"
      R"("env":[{{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}},)"
      R"({{"name":"NVIDIA_DRIVER_CAPABILITIES","value":"utility"}}],)"
      R"("terminationMessagePolicy":"FallbackToLogsOnError",)"
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
  const Pod* pod = pod_of(snapshot, proof_name(node, record));
  if (pod == nullptr) return {};
  const Text* proves = pod->meta.annotations.find(names::kProofNodeAnnotation);
  if (!is_proof(*pod) || proves == nullptr || proves->view() != node.meta.uid)
    return {.state = Proof::State::kFailed,
            .why = fmt::format("Pod/{}/{} is not berth's", snapshot.settings.berth_namespace,
                               pod->meta.name)};
  if (pod->terminating()) return {.state = Proof::State::kUnderWay};
  if (pod->phase == PodPhase::kSucceeded) return {.state = Proof::State::kPassed};
  const std::string end = told_end(*pod);
  if (pod->phase == PodPhase::kFailed)
    return {.state = Proof::State::kFailed, .why = end.empty() ? "it says nothing of why" : end};
  const Time late = pod->meta.creation_timestamp + kLastsAtMost;
  if (snapshot.now >= late)
    return {.state = Proof::State::kFailed,
            .why = fmt::format("it has not ended within {}{}{}",
                               format_duration_short(kLastsAtMost), end.empty() ? "" : ": ", end)};
  return {.state = Proof::State::kUnderWay,
          .next_in = std::chrono::ceil<Duration>(late - snapshot.now)};
}

Write create_proof(const Snapshot& snapshot, const Node& node, const HealthRecord& record) {
  const Settings& settings = snapshot.settings;
  const std::string name = proof_name(node, record);
  return {
      .verb = Verb::kCreate,
      .object = {"Pod", settings.berth_namespace, name, ""},
      .body = fmt::format(
          R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":{},)"
          R"("labels":{{"{}":"berth","{}":"true"}},"annotations":{{"{}":{}}}}},)"
          R"("spec":{{"restartPolicy":"Never","activeDeadlineSeconds":{},)"
          R"("terminationGracePeriodSeconds":5,"automountServiceAccountToken":false,)"
          R"("enableServiceLinks":false,{}"securityContext":{{"runAsNonRoot":true,)"
          R"("runAsUser":65532,"seccompProfile":{{"type":"RuntimeDefault"}}}},{},)"
          R"("containers":[{}]}}}})",
          name, quote_json(settings.berth_namespace), names::kManagedByLabel, names::kProofLabel,
          names::kProofNodeAnnotation, quote_json(node.meta.uid), kRunsAtMostSeconds,
          settings.proof.runtime_class.empty()
              ? std::string()
              : fmt::format(R"("runtimeClassName":{},)", quote_json(settings.proof.runtime_class)),
          placement_of(node), container_of(settings.proof)),
      .field_manager = names::kManagerPolicy,
      .reason = fmt::format("prove that the GPUs of {} work", node.meta.name)};
}

void ProofPods::follow(const Change<Pod>& change) {
  const Pod& either = change.now != nullptr ? *change.now : *change.old;
  const std::pair key(either.meta.namespace_.str(), either.meta.name);
  if (change.now != nullptr && is_proof(*change.now))
    pods_.insert(key);
  else
    pods_.erase(key);
}

void sweep_proofs(const Snapshot& snapshot, const std::set<std::string>& wanted, Plan& plan) {
  for (const auto& [namespace_, name] : snapshot.cluster.view<ProofPods>().all()) {
    if (namespace_ != snapshot.settings.berth_namespace || wanted.contains(name)) continue;
    const Pod* pod = pod_of(snapshot, name);
    const bool ours = pod != nullptr && pod->meta.annotations.contains(names::kProofNodeAnnotation);
    if (!ours || pod->terminating()) continue;
    plan.add(ref_of(*pod), Write{.verb = Verb::kDelete,
                                 .object = ref_of(*pod),
                                 .field_manager = names::kManagerPolicy,
                                 .reason = "its proof is not needed any more",
                                 .grace_period_seconds = 5});
  }
}

}  // namespace berth
