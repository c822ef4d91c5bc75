// SPDX-License-Identifier: Apache-2.0
// Changes of pods, Jobs and the ResourceQuotas that limit them: gated and suspended ones are
// released, narrowed, widened and limited.
#include "tests/truth/objects.h"

namespace berth::truth {
namespace {

using nlohmann::json;

json parse(const char* text) { return json::parse(text); }

// Required node affinity with these terms.
json required(const char* terms) {
  json affinity;
  affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      parse(terms);
  return {{"affinity", std::move(affinity)}};
}

constexpr char kLab[] =
    R"([{"matchExpressions": [{"key": "tier", "operator": "In", "values": ["lab", "inference"]}]}])";
constexpr char kNarrower[] =
    R"([{"matchExpressions": [{"key": "tier", "operator": "In", "values": ["lab", "inference"]},
                              {"key": "gpu.berth.dev/pool", "operator": "In", "values": ["p"]}],
         "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["machine"]}]}])";
constexpr char kOtherOrder[] =
    R"([{"matchExpressions": [{"key": "gpu.berth.dev/pool", "operator": "In", "values": ["p"]},
                              {"key": "tier", "operator": "In", "values": ["lab", "inference"]}]}])";
constexpr char kWider[] =
    R"([{"matchExpressions": [{"key": "tier", "operator": "In", "values": ["lab", "inference"]}]},
        {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}])";

constexpr char kOneMore[] =
    R"({"tolerations": [
      {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
      {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20},
      {"key": "lab", "operator": "Exists", "effect": "NoSchedule"}]})";

}  // namespace

json ObjectWriter::bounds() {
  return parse(any_of({R"({"requests.nvidia.com/gpu": "2"})", R"({"pods": "2"})",
                       R"({"requests.cpu": "2", "requests.memory": "3Gi"})",
                       R"({"cpu": "1", "requests.nvidia.com/gpu": "3"})",
                       R"({"memory": "4Gi", "count/pods": "3"})",
                       R"({"requests.nvidia.com/gpu": "1", "pods": "4", "services": "9"})"}));
}

json ObjectWriter::pod_edit() {
  switch (random_.below(9)) {
    case 0:
    case 1:
      return any_of<json>({parse(R"({"schedulingGates": null})"),
                           parse(R"({"schedulingGates": [{"name": "example.com/other"}]})"),
                           parse(R"({"schedulingGates": [{"name": "gpu.berth.dev/queue"}]})"),
                           parse(R"({"schedulingGates": null,
                                     "nodeSelector": {"gpu.berth.dev/pool": "p"}})")});
    case 2:
    case 3:
      return any_of<json>({parse(R"({"nodeSelector": {"gpu.berth.dev/pool": "p"}})"),
                           parse(R"({"nodeSelector": {"tier": "other"}})"),
                           parse(R"({"nodeSelector": null})")});
    case 4:
    case 5:
      return any_of<json>({required(kLab), required(kNarrower), required(kNarrower),
                           required(kOtherOrder), required(kWider),
                           parse(R"({"affinity": null})")});
    case 6:
      return any_of<json>(
          {parse(kOneMore), parse(R"({"tolerations": null})"),
           parse(
               R"({"tolerations": [{"key": "lab", "operator": "Exists", "effect": "NoSchedule"}]})")});
    case 7:
      return any_of<json>({parse(R"({"priority": null})"), parse(R"({"preemptionPolicy": null})"),
                           parse(R"({"priority": 5})"), parse(R"({"priorityClassName": "other"})"),
                           parse(R"({"terminationGracePeriodSeconds": 31})")});
    default:
      return parse(
          any_of({R"({"activeDeadlineSeconds": 1000})", R"({"activeDeadlineSeconds": 1000})",
                  R"({"activeDeadlineSeconds": 2000})", R"({"activeDeadlineSeconds": null})"}));
  }
}

json ObjectWriter::job_edit() {
  return any_of<json>(
      {{{"suspend", true}},
       {{"suspend", true}},
       {{"suspend", false}},
       {{"parallelism", any_of({0, 1, 3})}},
       parse(R"({"parallelism": 2, "completions": 2})"),
       parse(R"({"template": {"spec": {"nodeSelector": {"tier": "lab"}}}})"),
       parse(R"({"template": {"spec": {"nodeSelector": null}}})"),
       parse(R"({"suspend": false, "template": {"metadata": {"annotations": {"a": "b"}},
                                                "spec": {"nodeSelector": {"tier": "mig"}}}})"),
       parse(R"({"template": {"spec": {"schedulingGates": [{"name": "a/b"}]}}})"),
       parse(R"({"template": {"spec": {"schedulingGates": null}}})"),
       {{"template", {{"spec", required(kNarrower)}}}},
       parse(R"({"template": {"spec": {"affinity": null}}})"),
       parse(R"({"template": {"spec": {"tolerations": [{"key": "lab", "operator": "Exists"}]}}})"),
       parse(R"({"template": {"spec": {"containers": [
           {"name": "main", "image": "app:1", "imagePullPolicy": "IfNotPresent",
            "resources": {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "2"}},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}]}}})"),
       parse(R"({"template": {"spec": {"containers": [
           {"name": "main", "image": "app:2", "imagePullPolicy": "IfNotPresent", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}]}}})"),
       parse(R"({"template": {"spec": {"priorityClassName": "other"}}})")});
}

// Whether it has ever started, its controller has suspended it, and it has pods.
json ObjectWriter::job_status() {
  json status = any_of<json>({{{"active", nullptr}, {"ready", 0}},
                              {{"active", nullptr}, {"ready", 0}},
                              {{"active", 1}, {"ready", 0}},
                              {{"active", 2}, {"ready", 1}}});
  if (random_.one_in(2)) status["startTime"] = "2020-01-01T00:00:00Z";
  if (random_.one_in(2))
    status["conditions"] = json::array({{{"type", "Suspended"},
                                         {"status", any_of({"True", "False"})},
                                         {"reason", "JobSuspended"},
                                         {"message", "Job suspended"},
                                         {"lastProbeTime", "2020-01-01T00:00:00Z"},
                                         {"lastTransitionTime", "2020-01-01T00:00:00Z"}}});
  return status;
}

json ObjectWriter::quota_edit() {
  json hard = bounds();
  if (random_.one_in(3)) hard["requests.cpu"] = nullptr;
  return {{"hard", std::move(hard)}};
}

// As its controller has counted it; one in six is incomplete.
json ObjectWriter::quota_status() {
  json status{{"hard", bounds()}, {"used", json::object()}};
  for (const auto& [name, most] : status["hard"].items())
    status["used"][name] =
        name.ends_with("memory") ? any_of({"0", "1Gi"}) : any_of({"0", "0", "1"});
  if (random_.one_in(6)) status["used"].erase(status["used"].begin());
  return status;
}

Edit ObjectWriter::wrong_pod_edit() {
  return any_of<Edit>(
      {{"another node", parse(R"({"spec": {"nodeName": "elsewhere"}})")},
       {"a gate of no name", parse(R"({"spec": {"schedulingGates": [{"name": "no spaces"}]}})")},
       {"a new gate", parse(R"({"spec": {"schedulingGates": [{"name": "example.com/new"}]}})")},
       {"no containers", parse(R"({"spec": {"containers": null}})")},
       {"no image", parse(R"({"spec": {"containers": [
           {"name": "main", "imagePullPolicy": "IfNotPresent", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}]}})")},
       {"a deadline below 0", parse(R"({"spec": {"activeDeadlineSeconds": -1}})")}});
}

Edit ObjectWriter::wrong_quota_edit() {
  return any_of<Edit>({{"no such resource", parse(R"({"spec": {"hard": {"nonsense": "1"}}})")},
                       {"less than nothing", parse(R"({"spec": {"hard": {"pods": "-1"}}})")},
                       {"half a pod", parse(R"({"spec": {"hard": {"pods": "500m"}}})")},
                       {"no amount", parse(R"({"spec": {"hard": {"pods": "many"}}})")},
                       {"bounds that are text", parse(R"({"spec": {"hard": "x"}})")}});
}

}  // namespace berth::truth
