// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/objects.h"

#include <fmt/format.h>

namespace berth::truth {
namespace {

using nlohmann::json;

json parse(const char* text) { return json::parse(text); }

// The parts of a pod's spec that a Job's template shares.
json common_pod_spec() {
  return parse(R"({
    "containers": [{"name": "main", "image": "app:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
    "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": {},
    "terminationGracePeriodSeconds": 30})");
}

json layout_spec(int priority) {
  json spec = parse(R"({
    "nodeSelector": {"matchLabels": {"tier": "inference"}},
    "devices": [{"profiles": {"3g.40gb": 1, "1g.10gb": 4}}],
    "rollout": {"maxUnavailable": 1, "order": "LeastDisruption", "initialBatch": 1, "failurePolicy": "Halt",
                "maxFailures": 1, "progressDeadline": "30m", "paused": false},
    "drain": {"scope": "GPUPods", "timeout": "20m", "onTimeout": "Abort", "force": false, "deleteEmptyDirData": true},
    "capacityGuard": {"protectLastProvider": true},
    "deletionPolicy": "Retain"})");
  spec["priority"] = priority;
  return spec;
}

json policy_spec(const char* zone) {
  json spec = parse(R"({
    "agents": {"namespace": "gpu-operator", "migManagerConfigMap": "berth-mig-parted-config",
               "devicePluginConfigMap": "berth-device-plugin-config"},
    "pools": [{"name": "lab", "nodeSelector": {"matchLabels": {"tier": "lab"}},
               "sharing": {"strategy": "TimeSlicing", "replicas": 4, "renameByDefault": false},
               "labels": {"example.com/team": "lab"},
               "taints": [{"key": "lab", "value": "yes", "effect": "NoSchedule"}]}],
    "priorityClasses": [{"name": "research", "value": 100}],
    "admission": {"enforcement": "Enforce", "requireQueue": false,
                  "daemonSets": "Refuse", "resourceClaims": "Refuse", "podReplacementPolicy": "Failed",
                  "maxTerminationGracePeriod": "1h",
                  "defaults": {"tolerations": true, "poolAffinity": true, "securityContext": false}},
    "disruption": {"maxUnavailable": "10%"},
    "idle": {"utilizationThreshold": 5, "gracePeriod": "30m", "warnAfter": "10m", "policy": "Observe"},
    "health": {"maxTemperature": 85, "xid": "Default", "doubleBitECC": true, "action": "Cordon",
               "recoverAfter": "15m", "maxUnhealthyFraction": "20%"},
    "metrics": {"interval": "30s"}})");
  spec["disruption"]["windows"] =
      json::array({{{"schedule", "0 22 * * *"}, {"duration", "6h"}, {"timeZone", zone}}});
  return spec;
}

}  // namespace

json ObjectWriter::bare(const Kind& kind, const std::string& name) const {
  json object = {{"apiVersion", kind.api_version}, {"kind", kind.kind}};
  object["metadata"]["name"] = name;
  if (kind.namespaced) object["metadata"]["namespace"] = script_;
  return object;
}

json ObjectWriter::taint(const std::string& key, const std::string& effect) {
  return {{"key", key}, {"value", "v"}, {"effect", effect}};
}

json ObjectWriter::node_status(const std::string& instances) {
  json status = parse(R"({
    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready",
                    "lastHeartbeatTime": "2020-01-01T00:00:00Z", "lastTransitionTime": "2020-01-01T00:00:00Z"}],
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
    "nodeInfo": {"architecture": "amd64", "bootID": "b", "containerRuntimeVersion": "c", "kernelVersion": "k",
                 "kubeProxyVersion": "p", "kubeletVersion": "v1.36.0", "machineID": "m", "operatingSystem": "linux",
                 "osImage": "o", "systemUUID": "s"}})");
  status["capacity"] = {{"cpu", "64"}, {"nvidia.com/mig-1g.10gb", instances}};
  status["allocatable"] = status["capacity"];
  return status;
}

json ObjectWriter::pod_spec() {
  json spec = common_pod_spec();
  spec.merge_patch(parse(R"({
    "enableServiceLinks": true, "restartPolicy": "Always",
    "tolerations": [
      {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
      {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]})"));
  add_priority(spec);
  spec["containers"][0]["resources"] = parse(any_of(
      {R"({})", R"({})",
       R"({"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}})",
       R"({"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "2", "cpu": "1", "memory": "1Gi"}})",
       R"({"requests": {"cpu": "500m", "memory": "1536Mi"}})"}));
  const bool gated = random_.one_in(3);
  if (gated)
    spec["schedulingGates"] =
        parse(any_of({R"([{"name": "gpu.berth.dev/queue"}])",
                      R"([{"name": "example.com/other"}, {"name": "gpu.berth.dev/queue"}])"}));
  if (gated ? random_.one_in(12) : !random_.one_in(4)) spec["nodeName"] = "machine";
  if (random_.one_in(4)) spec["nodeSelector"] = {{"tier", "inference"}};
  if (random_.one_in(gated ? 2 : 8))
    spec["affinity"] = parse(
        R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
            [{"matchExpressions": [{"key": "tier", "operator": "In", "values": ["lab", "inference"]}]}]}}})");
  return spec;
}

// Most have no priority, or the default; the others name a class of the server, of the script, or
// one that does not exist.
void ObjectWriter::add_priority(json& spec) {
  if (random_.one_in(2)) {
    if (random_.one_in(2)) return;
    spec["priority"] = random_.one_in(16) ? 7 : 0;
    spec["preemptionPolicy"] = random_.one_in(16) ? "Never" : "PreemptLowerPriority";
    return;
  }
  if (!random_.one_in(3)) return;
  spec["priorityClassName"] =
      any_of<std::string>({"system-node-critical", "system-cluster-critical", script_ + "-a",
                           script_ + "-b", "nobody"});
  if (random_.one_in(4)) spec["priority"] = any_of({100, 2000001000});
}

json ObjectWriter::job_spec(const std::string& name) {
  json spec = parse(
      R"({"parallelism": 1, "completions": 1, "backoffLimit": 6, "manualSelector": true,
          "podReplacementPolicy": "TerminatingOrFailed"})");
  spec["completionMode"] = any_of({"NonIndexed", "NonIndexed", "Indexed"});
  spec["suspend"] = random_.one_in(2);
  spec["selector"]["matchLabels"] = {{"job", name}};
  json& pods = spec["template"];
  pods["metadata"]["labels"] = {{"job", name}};
  pods["spec"] = common_pod_spec();
  pods["spec"]["restartPolicy"] = "Never";
  if (random_.one_in(4))
    pods["spec"]["schedulingGates"] = parse(R"([{"name": "gpu.berth.dev/queue"}])");
  return spec;
}

// Without rules: it is never called.
json ObjectWriter::webhook(const Kind& kind, const std::string& name) {
  json one = parse(R"({
    "clientConfig": {"service": {"namespace": "nowhere", "name": "webhook", "path": "/mutate", "port": 443}},
    "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail", "matchPolicy": "Equivalent",
    "timeoutSeconds": 5, "namespaceSelector": {"matchLabels": {"gpu.berth.dev/managed": "true"}}, "objectSelector": {}})");
  one["name"] = name + ".gpu.berth.dev";
  if (kind.kind == "MutatingWebhookConfiguration")
    one["reinvocationPolicy"] = any_of({"Never", "IfNeeded"});
  if (random_.one_in(2)) one["clientConfig"]["caBundle"] = "eA==";
  if (random_.one_in(2))
    one["matchConditions"] = parse(R"([{"name": "gpu", "expression": "true"}])");
  return one;
}

json ObjectWriter::full(const Kind& kind, const std::string& name) {
  json object = bare(kind, name);
  json& labels = object["metadata"]["labels"];
  labels = {{"script", script_}, {"a", any_of({"x", "y"})}, {"b", "x"}};
  if (random_.one_in(3)) object["metadata"]["annotations"] = {{"note", "one"}};
  if (random_.one_in(6)) object["metadata"]["finalizers"] = json::array({"test.berth.dev/hold"});
  if (kind.plural == "nodes") {
    if (random_.one_in(3)) object["spec"]["unschedulable"] = true;
    object["spec"]["taints"] = json::array({taint(any_of({"t", "own"}), "NoSchedule")});
    object["status"] = node_status(any_of({"0", "7"}));
  } else if (kind.plural == "pods") {
    object["spec"] = pod_spec();
  } else if (kind.plural == "configmaps") {
    object["data"] = {{"config.yaml", "version: v1\n"}, {"k", "v"}};
  } else if (kind.plural == "leases") {
    object["spec"] =
        parse(R"({"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 1,
      "acquireTime": "2020-01-01T00:00:00.000000Z", "renewTime": "2020-01-01T00:00:00.000000Z"})");
  } else if (kind.plural == "poddisruptionbudgets") {
    object["spec"]["selector"]["matchLabels"] = {{any_of({"a", "b"}), "x"}};
    object["spec"][any_of({"minAvailable", "maxUnavailable"})] = 1;
  } else if (kind.plural == "events") {
    object.update(parse(
        R"({"eventTime": "2020-01-01T00:00:00.000000Z", "reportingController": "gpu.berth.dev/berth",
      "reportingInstance": "berth-0", "action": "Drain", "reason": "NodeDrained", "type": "Normal", "note": "emptied"})"));
    object["regarding"] = {{"kind", "Pod"}, {"namespace", script_}, {"name", "a"}};
  } else if (kind.plural == "miglayouts") {
    object["spec"] = layout_spec(static_cast<int>(random_.below(3)));
  } else if (kind.plural == "gpuclusterpolicies") {
    object["spec"] = policy_spec(any_of({"UTC", "Europe/Berlin"}));
  } else if (kind.plural == "priorityclasses") {
    object["value"] = any_of({0, 100, 1000});
    object["preemptionPolicy"] = any_of({"PreemptLowerPriority", "Never"});
    if (random_.one_in(2)) object["description"] = "for the script";
  } else if (kind.plural == "resourcequotas") {
    object["spec"]["hard"] = bounds();
  } else if (kind.plural == "secrets") {
    object["type"] = any_of({"kubernetes.io/tls", "Opaque"});
    object["data"] = {{"tls.crt", "eA=="}, {"tls.key", "eQ=="}};
  } else if (kind.plural.ends_with("webhookconfigurations")) {
    object["webhooks"] = json::array({webhook(kind, "a"), webhook(kind, "b")});
  } else {
    object["spec"] = job_spec(name);
  }
  return object;
}

}  // namespace berth::truth
