// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_tenant.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace berth::test {
namespace {

using nlohmann::json;

constexpr const char* kKinds[] = {
    "pods", "pods", "jobs", "jobs", "replicasets", "daemonsets", "poddisruptionbudgets"};

constexpr char kLabels[] = R"([
  {"gpu.berth.dev/queue": "alice"}, {"gpu.berth.dev/queue": "bob"}, {"gpu.berth.dev/queue": "none"},
  {"gpu.berth.dev/pod-group": "g"}, {"gpu.berth.dev/pod-group": "h"},
  {"gpu.berth.dev/queue": "alice", "gpu.berth.dev/pod-group": "g"},
  {"kueue.x-k8s.io/queue-name": "x"}, {"gpu.berth.dev/priority-class": "system-node-critical"},
  {"gpu.berth.dev/pod-role": "leader"}, {"gpu.berth.dev/pool": "training"}, {}])";

constexpr char kAnnotations[] = R"([
  {"gpu.berth.dev/pod-group-size": "8"}, {"gpu.berth.dev/pod-group-size": "2"},
  {"gpu.berth.dev/pod-group-size": "1"}, {"gpu.berth.dev/pod-group-size": "1000000"},
  {"gpu.berth.dev/pod-group-size": "4", "gpu.berth.dev/fast-admission": "true"},
  {"gpu.berth.dev/pod-group-size": "8", "gpu.berth.dev/fast-admission": "true"},
  {"gpu.berth.dev/hold": "mine"}, {"gpu.berth.dev/last-checkpoint": "2000-01-01T00:00:00Z"},
  {"gpu.berth.dev/last-checkpoint": "2099-01-01T00:00:00Z"},
  {"gpu.berth.dev/reclaim-after": "2099-01-01T00:00:00Z"}, {"gpu.berth.dev/yields": "false"},
  {"gpu.berth.dev/required-topology": "kubernetes.io/hostname"}, {}, {}])";

constexpr char kAmounts[] = R"([0, 1, 1, 2, 4, 8])";

constexpr char kPodFields[] = R"([
  {}, {}, {}, {"terminationGracePeriodSeconds": 3600}, {"terminationGracePeriodSeconds": 31536000},
  {"terminationGracePeriodSeconds": 0}, {"nodeName": "n1"}, {"tolerations": [{"operator": "Exists"}]},
  {"schedulingGates": [{"name": "example.com/mine"}]}, {"nodeSelector": {"gpu.berth.dev/pool": "training"}},
  {"priorityClassName": "system-node-critical"},
  {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
    [{"topologyKey": "example.com/none", "labelSelector": {"matchLabels": {"none": "none"}}}]}}}])";

constexpr char kJobFields[] = R"([
  {}, {"parallelism": 8, "completions": 8}, {"parallelism": 2, "completions": 100},
  {"parallelism": 8, "podReplacementPolicy": "TerminatingOrFailed"},
  {"parallelism": 4, "completions": 4, "completionMode": "Indexed", "backoffLimitPerIndex": 1000,
   "podReplacementPolicy": "TerminatingOrFailed"},
  {"suspend": true}, {"activeDeadlineSeconds": 15}, {"ttlSecondsAfterFinished": 0},
  {"parallelism": 0, "completions": 1}, {"backoffLimit": 0}])";

constexpr char kAnyPatches[] = R"([
  {"metadata": {"labels": {"gpu.berth.dev/queue": null}}},
  {"metadata": {"labels": {"gpu.berth.dev/queue": "bob"}}},
  {"metadata": {"labels": {"gpu.berth.dev/queue": "alice"}}},
  {"metadata": {"labels": {"gpu.berth.dev/queue": null, "kueue.x-k8s.io/queue-name": "x"}}},
  {"metadata": {"labels": {"gpu.berth.dev/pod-group": "h"}}},
  {"metadata": {"labels": {"gpu.berth.dev/priority-class": "system-node-critical"}}},
  {"metadata": {"annotations": {"gpu.berth.dev/hold": "mine"}}},
  {"metadata": {"annotations": {"gpu.berth.dev/hold": null}}},
  {"metadata": {"annotations": {"gpu.berth.dev/pod-group-size": "1"}}},
  {"metadata": {"annotations": {"gpu.berth.dev/pod-group-size": "9"}}},
  {"metadata": {"annotations": {"gpu.berth.dev/admitted": null}}},
  {"metadata": {"annotations": {"gpu.berth.dev/admitted": "{}"}}},
  {"metadata": {"annotations": {"gpu.berth.dev/yields": null}}},
  {"metadata": {"annotations": {"gpu.berth.dev/never-ready": null}}},
  {"metadata": {"finalizers": ["example.com/stays"]}}, {"metadata": {"finalizers": null}},
  {"metadata": {"ownerReferences": null}}])";

constexpr char kPodPatches[] = R"([
  {"spec": {"schedulingGates": null}}, {"spec": {"schedulingGates": []}},
  {"spec": {"activeDeadlineSeconds": 5}}, {"spec": {"tolerations": [{"operator": "Exists"}]}},
  {"spec": {"nodeSelector": {"gpu.berth.dev/pool": "training"}}}])";

constexpr char kJobPatches[] = R"([
  {"spec": {"suspend": false}}, {"spec": {"suspend": true}}, {"spec": {"parallelism": 1}},
  {"spec": {"parallelism": 8}}, {"spec": {"parallelism": 16}}, {"spec": {"completions": 16}},
  {"spec": {"activeDeadlineSeconds": 31536000}}, {"spec": {"activeDeadlineSeconds": null}},
  {"spec": {"podReplacementPolicy": "TerminatingOrFailed"}},
  {"metadata": {"labels": {"gpu.berth.dev/queue": null}}, "spec": {"suspend": false}},
  {"spec": {"template": {"spec": {"nodeSelector": {"gpu.berth.dev/pool": "training"}}}}},
  {"spec": {"template": {"metadata": {"annotations": {"gpu.berth.dev/admitted": "{}"}}}}}])";

constexpr char kSetPatches[] = R"([
  {"spec": {"replicas": 0}}, {"spec": {"replicas": 3}}, {"spec": {"replicas": 16}},
  {"spec": {"template": {"metadata": {"annotations": {"gpu.berth.dev/pod-group-size": "3"}}}}},
  {"spec": {"template": {"metadata": {"labels": {"gpu.berth.dev/pod-group": "g"}}}}},
  {"spec": {"template": {"spec": {"containers":
    [{"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}])";

constexpr char kRemovals[] = R"([
  {}, {"propagationPolicy": "Orphan"}, {"propagationPolicy": "Foreground"},
  {"gracePeriodSeconds": 0}, {"gracePeriodSeconds": 3600}])";

}  // namespace

std::string RandomTenant::act() {
  if (has_plenty()) return remove();
  if (random_.one_in(3)) return create();
  return random_.one_in(4) ? remove() : change();
}

// More objects would only slow the run down.
bool RandomTenant::has_plenty() const {
  std::size_t objects = 0;
  for (const char* plural : kKinds) objects += hands_.list(plural).size();
  return objects > 150;
}

std::string RandomTenant::some_kind() { return kKinds[random_.below(std::size(kKinds))]; }

std::string RandomTenant::create() {
  const std::string plural = some_kind();
  json object = some_of(plural);
  const std::string name = fmt::format("{}-{}", plural.substr(0, 2), ++made_);
  object["metadata"] = some_metadata();
  object["metadata"]["name"] = name;
  const std::string text = object.dump();
  return fmt::format("create {}/{} {}: {}", plural, name, text,
                     hands_.create(plural, std::move(object)));
}

std::string RandomTenant::change() {
  const std::string plural = some_kind();
  const std::string name = some_object(plural).name;
  if (name.empty()) return create();
  const json patch = some_patch(plural);
  return fmt::format("patch {}/{} {}: {}", plural, name, patch.dump(),
                     hands_.patch(plural, name, patch));
}

std::string RandomTenant::remove() {
  const std::string plural = some_kind();
  const std::string name = some_object(plural).name;
  if (name.empty()) return create();
  const json options = any(kRemovals);
  return fmt::format("delete {}/{} {}: {}", plural, name, options.dump(),
                     hands_.remove(plural, name, options));
}

json RandomTenant::some_of(const std::string& plural) {
  if (plural == "pods") return some_pod();
  if (plural == "jobs") return some_job();
  if (plural != "poddisruptionbudgets") return some_set(plural);
  return {
      {"spec", any(R"([{"maxUnavailable": 0, "selector": {}}, {"minAvailable": 1, "selector": {}},
                           {"minAvailable": "100%", "selector": {}}])")}};
}

json RandomTenant::some_metadata() {
  json metadata = {{"labels", any(kLabels)}, {"annotations", any(kAnnotations)}};
  if (random_.one_in(6)) metadata["ownerReferences"] = json::array({some_owner()});
  if (random_.one_in(12)) metadata["finalizers"] = {"example.com/stays"};
  return metadata;
}

json RandomTenant::some_owner() {
  json owner = any(R"([{"apiVersion": "x.example.com/v1", "kind": "DaemonSet"},
                       {"apiVersion": "apps/v1", "kind": "DaemonSet"},
                       {"apiVersion": "v1", "kind": "Node"},
                       {"apiVersion": "batch/v1", "kind": "Job"},
                       {"apiVersion": "apps/v1", "kind": "ReplicaSet"}])");
  const TenantHands::Object job = some_object("jobs");
  const bool real = !job.name.empty() && random_.one_in(2);
  owner["name"] = real ? job.name : "a";
  owner["uid"] = real ? job.uid : "b";
  owner["controller"] = true;
  return owner;
}

json RandomTenant::some_pod() {
  json limits = json::object();
  if (const json amount = any(kAmounts); amount != 0) limits["nvidia.com/gpu"] = amount;
  json spec = {
      {"restartPolicy", "Never"},
      {"containers", {{{"name", "main"}, {"image", "x"}, {"resources", {{"limits", limits}}}}}}};
  spec.merge_patch(any(kPodFields));
  return {{"spec", spec}};
}

json RandomTenant::some_job() {
  json pod = some_pod();
  pod["metadata"] = {{"labels", any(kLabels)}, {"annotations", any(kAnnotations)}};
  json spec = {{"parallelism", 1}, {"template", pod}};
  spec.merge_patch(any(kJobFields));
  return {{"spec", spec}};
}

json RandomTenant::some_set(const std::string& plural) {
  const std::string app = fmt::format("app-{}", made_ + 1);
  json pod = some_pod();
  pod["spec"]["restartPolicy"] = "Always";
  pod["metadata"] = {{"labels", any(kLabels)}, {"annotations", any(kAnnotations)}};
  pod["metadata"]["labels"]["app"] = app;
  json spec = {{"selector", {{"matchLabels", {{"app", app}}}}}, {"template", pod}};
  if (plural == "replicasets") spec["replicas"] = random_.below(5);
  return {{"spec", spec}};
}

json RandomTenant::some_patch(const std::string& plural) {
  if (plural == "poddisruptionbudgets") return any(R"([{"spec": {"minAvailable": 1}}])");
  if (random_.one_in(2)) return any(kAnyPatches);
  return any(plural == "pods" ? kPodPatches : plural == "jobs" ? kJobPatches : kSetPatches);
}

TenantHands::Object RandomTenant::some_object(const std::string& plural) {
  const std::vector<TenantHands::Object> objects = hands_.list(plural);
  return objects.empty() ? TenantHands::Object() : objects[random_.below(objects.size())];
}

json RandomTenant::any(std::string_view list_of_json) {
  const json list = json::parse(list_of_json);
  return list[random_.below(list.size())];
}

}  // namespace berth::test
