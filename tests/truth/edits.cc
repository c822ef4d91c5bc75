// SPDX-License-Identifier: Apache-2.0
// Changes of objects in scripts.
#include "tests/truth/objects.h"

namespace berth::truth {
namespace {

using nlohmann::json;

json parse(const char* text) { return json::parse(text); }

json condition(const std::string& type, const std::string& status, const std::string& reason) {
  return {{"type", type},
          {"status", status},
          {"reason", reason},
          {"message", "as the script has it"},
          {"lastTransitionTime", "2020-01-01T00:00:00Z"}};
}

}  // namespace

Edit ObjectWriter::some_edit(const Kind& kind) {
  if (random_.one_in(8)) return wrong_edit(kind);
  return random_.one_in(2) ? spec_edit(kind) : metadata_edit(kind);
}

Edit ObjectWriter::metadata_edit(const Kind&) {
  json metadata;
  const std::uint64_t choice = random_.below(10);
  if (choice < 4) {
    metadata["labels"][any_of({"a", "b", "c"})] = any_of<json>({"x", "y", nullptr});
  } else if (choice < 7) {
    metadata["annotations"][any_of({"note", "gpu.berth.dev/state"})] =
        any_of<json>({"one", "two", nullptr});
  } else if (choice == 7) {
    metadata["finalizers"] = any_of<json>({json::array({"test.berth.dev/hold"}), nullptr});
  } else if (choice == 8) {
    metadata["ownerReferences"] =
        any_of<json>({parse(R"([{"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "name": "owner", "uid": "11111111-2222-3333-4444-555555555555", "controller": true}])"),
                      nullptr});
  } else {
    metadata["labels"] = {{"a", "y"}, {"d", "x"}};
    metadata["annotations"] = nullptr;
  }
  return {"metadata", {{"metadata", std::move(metadata)}}};
}

Edit ObjectWriter::spec_edit(const Kind& kind) {
  json change;
  if (kind.plural == "nodes") {
    if (random_.one_in(2)) {
      change["spec"]["unschedulable"] = any_of<json>({true, false, nullptr});
    } else {
      change["spec"]["taints"] =
          any_of<json>({json::array({taint("t", "NoSchedule")}),
                        json::array({taint("t", "NoSchedule"), taint("t", "NoExecute")}),
                        json::array({taint("other", "PreferNoSchedule")}), nullptr});
    }
  } else if (kind.plural == "pods") {
    change["spec"] = pod_edit();
  } else if (kind.plural == "resourcequotas") {
    change["spec"] = quota_edit();
  } else if (kind.plural == "configmaps") {
    change["data"] =
        any_of<json>({{{"k", "w"}}, {{"k", nullptr}, {"other", "1"}}, {{"third", ""}}});
  } else if (kind.plural == "leases") {
    change["spec"] = any_of<json>({{{"holderIdentity", "other"}, {"leaseTransitions", 2}},
                                   {{"renewTime", "2020-01-01T00:00:05.000000Z"}},
                                   {{"leaseDurationSeconds", 20}}});
  } else if (kind.plural == "poddisruptionbudgets") {
    change["spec"] = any_of<json>({{{"minAvailable", 2}, {"maxUnavailable", nullptr}},
                                   {{"minAvailable", nullptr}, {"maxUnavailable", "50%"}},
                                   {{"unhealthyPodEvictionPolicy", "AlwaysAllow"}}});
  } else if (kind.plural == "events") {
    // An event's content is immutable, except for its series.
    change["series"] = {{"count", any_of({2, 3})},
                        {"lastObservedTime", "2020-01-01T00:00:09.000000Z"}};
  } else if (kind.plural == "miglayouts") {
    change["spec"] = any_of<json>({{{"priority", 5}},
                                   {{"rollout", {{"paused", true}}}},
                                   {{"rollout", {{"maxUnavailable", "25%"}}}},
                                   {{"devices", json::array({{{"profiles", json::object()}}})}}});
  } else if (kind.plural == "gpuclusterpolicies") {
    change["spec"] = any_of<json>(
        {parse(R"({"pools": [{"name": "lab", "nodeSelector": {"matchLabels": {"tier": "lab"}}},
                             {"name": "rest", "nodeSelector": {"matchLabels": {"tier": "rest"}},
                              "sharing": {"strategy": "MPS", "replicas": 2}}]})"),
         parse(R"({"pools": [{"name": "lab", "nodeSelector": {"matchLabels": {"tier": "other"}},
                              "taints": [{"key": "lab", "effect": "PreferNoSchedule"},
                                         {"key": "lab", "value": "yes", "effect": "NoSchedule"}]}]})"),
         {{"disruption", {{"maxUnavailable", 2}}}},
         {{"disruption", {{"windows", nullptr}}}},
         {{"priorityClasses", json::array({{{"name", "research"}, {"value", 200}},
                                           {{"name", "service"}, {"value", 300}}})}},
         {{"admission", {{"enforcement", "Warn"}}}},
         {{"admission", nullptr}}});
  } else if (kind.plural == "priorityclasses") {
    change["description"] = any_of<json>({"of the script", "once more", nullptr});
  } else if (kind.plural == "secrets") {
    change["data"] = any_of<json>(
        {{{"tls.crt", "eg=="}}, {{"previous.crt", "eA=="}}, {{"previous.crt", nullptr}}});
  } else if (kind.plural.ends_with("webhookconfigurations")) {
    // In the form of the certificate manager's server-side apply; a merge patch replaces the list.
    change["webhooks"] = any_of<json>(
        {parse(R"([{"name": "a.gpu.berth.dev", "clientConfig": {"caBundle": "eQ=="}},
                   {"name": "b.gpu.berth.dev", "clientConfig": {"caBundle": "eQ=="}}])"),
         parse(R"([{"name": "a.gpu.berth.dev", "clientConfig": {"caBundle": "eA=="}}])"),
         json::array({webhook(kind, "a")}), json::array({webhook(kind, "b"), webhook(kind, "a")})});
  } else {
    change["spec"] = job_edit();
  }
  return {"spec", std::move(change)};
}

Edit ObjectWriter::status_edit(const Kind& kind) {
  json status;
  if (kind.plural == "nodes") {
    status = node_status(any_of({"0", "4", "7"}));
    status["conditions"][0]["status"] = any_of({"True", "False"});
    if (random_.one_in(2)) status.erase("conditions");
  } else if (kind.plural == "pods") {
    status["phase"] = any_of({"Pending", "Running", "Running", "Succeeded", "Failed"});
    status["conditions"] =
        any_of<json>({json::array({condition("Ready", "True", "Up")}),
                      json::array({condition("Ready", "False", "Down")}), nullptr});
  } else if (kind.plural == "poddisruptionbudgets") {
    const int allowed = any_of({0, 0, 1, 1, 2});
    status = {{"observedGeneration", any_of({1, 2, 5})},
              {"disruptionsAllowed", allowed},
              {"currentHealthy", any_of({1, 2})},
              {"desiredHealthy", 1},
              {"expectedPods", 2}};
    if (random_.one_in(3))
      status["conditions"] =
          json::array({condition("DisruptionAllowed", allowed > 0 ? "True" : "False", "Some")});
  } else if (kind.plural == "jobs") {
    status = job_status();
  } else if (kind.plural == "resourcequotas") {
    status = quota_status();
  } else if (kind.plural == "gpuclusterpolicies") {
    status = parse(R"({"totals": {"pools": 1, "nodes": 2}, "disruption": {"open": true},
                       "conflicts": [{"node": "n1", "pools": ["lab", "rest"]}]})");
    status["observedGeneration"] = any_of({1, 2});
    status["pools"] =
        any_of<json>({json::array({{{"name", "lab"}, {"nodes", 2}, {"gpus", 16}}}),
                      json::array({{{"name", "lab"}, {"nodes", 1}}, {{"name", "rest"}}}), nullptr});
    status["conditions"] = json::array({condition("Ready", any_of({"True", "False"}), "Some")});
  } else {
    status = {{"observedGeneration", any_of({1, 2})}, {"configHash", "abc"}};
    status["nodes"] = {{"selected", any_of({1, 2})}, {"updated", 0}};
    status["conditions"] = any_of<json>(
        {json::array({condition("Ready", "True", "Done")}),
         json::array({condition("Ready", "False", "Busy"), condition("Stalled", "True", "Full")})});
  }
  return {"status", {{"status", std::move(status)}}};
}

Edit ObjectWriter::wrong_edit(const Kind& kind) {
  const std::uint64_t choice = random_.below(6);
  if (choice == 0)
    return {"a bad label value", parse(R"({"metadata": {"labels": {"a": "no spaces"}}})")};
  if (choice == 1) return {"labels that are a number", parse(R"({"metadata": {"labels": 5}})")};
  if (choice == 2) return {"a bad label key", parse(R"({"metadata": {"labels": {"-": "x"}}})")};
  if (kind.plural == "nodes") {
    if (choice < 5)
      return {"the same taint twice",
              {{"spec",
                {{"taints", json::array({taint("t", "NoSchedule"), taint("t", "NoSchedule")})}}}}};
    return {"unschedulable as text", parse(R"({"spec": {"unschedulable": "yes"}})")};
  }
  if (kind.plural == "pods") return wrong_pod_edit();
  if (kind.plural == "resourcequotas") return wrong_quota_edit();
  if (kind.plural == "configmaps") return {"data that is text", parse(R"({"data": "x"})")};
  if (kind.plural == "leases")
    return {"a duration of 0", parse(R"({"spec": {"leaseDurationSeconds": 0}})")};
  if (kind.plural == "poddisruptionbudgets")
    return {"both bounds", parse(R"({"spec": {"minAvailable": 1, "maxUnavailable": 1}})")};
  if (kind.plural == "events") {
    if (choice == 3) return {"once is no series", parse(R"({"series": {"count": 1}})")};
    if (choice == 4)
      return any_of<Edit>({{"another reason", parse(R"({"reason": "Other"})")},
                           {"a note too long", {{"note", std::string(1025, 'n')}}},
                           {"no action", parse(R"({"action": null})")},
                           {"another object", parse(R"({"regarding": {"name": "b"}})")}});
    return {"another note", parse(R"({"note": "not so"})")};
  }
  if (kind.plural == "miglayouts") {
    if (choice < 5)
      return {"no such order", parse(R"({"spec": {"rollout": {"order": "Upwards"}}})")};
    return {"a priority that is text", parse(R"({"spec": {"priority": "high"}})")};
  }
  if (kind.plural == "gpuclusterpolicies") {
    if (choice == 3)
      return {"no such effect", parse(R"({"spec": {"pools": [{"name": "lab", "nodeSelector": {},
                         "taints": [{"key": "lab", "effect": "Always"}]}]}})")};
    if (choice == 4)
      return {"too few replicas", parse(R"({"spec": {"pools": [{"name": "lab", "nodeSelector": {},
                         "sharing": {"strategy": "MPS", "replicas": 1}}]}})")};
    return {"a pool without a selector", parse(R"({"spec": {"pools": [{"name": "lab"}]}})")};
  }
  if (kind.plural == "priorityclasses")
    return any_of<Edit>({{"another value", parse(R"({"value": 7})")},
                         {"a system's value", parse(R"({"value": 2000000000})")},
                         {"no such policy", parse(R"({"preemptionPolicy": "Always"})")},
                         {"a value that is text", parse(R"({"value": "high"})")}});
  if (kind.plural == "secrets")
    return any_of<Edit>({{"another type", parse(R"({"type": "example.com/other"})")},
                         {"no key", parse(R"({"data": {"tls.key": null}})")},
                         {"data that is no base64", parse(R"({"data": {"tls.crt": "no base64"}})")},
                         {"data that is text", parse(R"({"data": "x"})")}});
  if (kind.plural.ends_with("webhookconfigurations"))
    return any_of<Edit>(
        {{"a name too short", {{"webhooks", json::array({[&] {
                                  json one = webhook(kind, "a");
                                  one["name"] = "a";
                                  return one;
                                }()})}}},
         {"nobody to ask",
          parse(R"({"webhooks": [{"name": "c.gpu.berth.dev", "admissionReviewVersions": ["v1"],
                                                  "sideEffects": "None"}]})")},
         {"a bundle that is no base64",
          parse(
              R"({"webhooks": [{"name": "a.gpu.berth.dev", "clientConfig": {"caBundle": "§"}}]})")},
         {"webhooks that are text", parse(R"({"webhooks": "x"})")}});
  return any_of<Edit>(
      {{"other completions", parse(R"({"spec": {"completions": 7}})")},
       {"labels that nothing selects",
        parse(R"({"spec": {"template": {"metadata": {"labels": {"job": "other"}}}}})")},
       {"less than nothing", parse(R"({"spec": {"parallelism": -1}})")}});
}

}  // namespace berth::truth
