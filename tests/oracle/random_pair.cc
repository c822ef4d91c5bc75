// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/random_pair.h"

#include <fmt/format.h>

namespace berth::oracle {
namespace {

using nlohmann::json;

const std::vector<std::string> kKeys = {"tier", "zone", "size", "nvidia.com/gpu.product"};
const std::vector<std::string> kValues = {"a", "b", "3", "12", "007", ""};
const std::vector<std::string> kOddValues = {"-7", "+3", "a b", "_"};  // of no label
const std::vector<std::string> kEffects = {"NoSchedule", "NoExecute", "PreferNoSchedule"};
const std::vector<std::string> kCpus = {"1", "250m", "0.5", "1500m", "2", "3"};
const std::vector<std::string> kMemories = {"1Gi", "512Mi", "1G", "1500000k", "2Gi", "0.5Gi"};

}  // namespace

Pair RandomPair::next() {
  tried_ = static_cast<Rule>(below(kRules));
  Pair pair;
  pair.node = make_node();
  const int running = below(4);
  for (int i = 0; i < running; ++i) {
    json pod = make_pod(fmt::format("runs-{}", i));
    pod["spec"]["nodeName"] = "n1";
    pod["status"]["phase"] = "Running";
    pair.pods.push_back(std::move(pod));
  }
  if (tries(kCount)) {
    json& most = pair.node["status"]["allocatable"]["pods"];
    most = std::to_string(running + (chance(70) ? 0 : 1));
  }
  pair.pod = make_pod("pod");
  select(pair.node, pair.pod);
  return pair;
}

json RandomPair::make_node() {
  json labels = {{"kubernetes.io/hostname", "n1"}};
  for (const std::string& key : kKeys)
    if (chance(70)) labels[key] = one_of(kValues);
  json offers = {{"cpu", one_of({"8", "7910m", "16"})},
                 {"memory", one_of({"16Gi", "15Gi", "20000M"})},
                 {"pods", "110"},
                 {"ephemeral-storage", "100Gi"}};
  if (chance(90)) offers["nvidia.com/gpu"] = std::to_string(6 + below(3));
  if (chance(30)) offers["nvidia.com/mig-1g.10gb"] = std::to_string(below(8));
  if (chance(20)) offers["hugepages-2Mi"] = "1Gi";
  json node = {{"apiVersion", "v1"},
               {"kind", "Node"},
               {"metadata", {{"name", "n1"}, {"uid", "n1"}, {"labels", labels}}},
               {"spec", json::object()},
               {"status",
                {{"allocatable", offers},
                 {"capacity", offers},
                 {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  if (tries(kTaints))
    for (int i = 0, n = 1 + below(2); i < n; ++i) {
      json taint = {{"key", fmt::format("{}{}", one_of(kKeys), i)}, {"effect", one_of(kEffects)}};
      if (chance(60)) taint["value"] = one_of(kValues);
      node["spec"]["taints"].push_back(std::move(taint));
    }
  if (tries(kCordon)) node["spec"]["unschedulable"] = true;
  return node;
}

json RandomPair::requests(bool large) {
  json asks = json::object();
  if (chance(70)) asks["cpu"] = large ? one_of({"6", "7", "7910m", "8"}) : one_of(kCpus);
  if (chance(60)) asks["memory"] = large ? one_of({"12Gi", "15Gi", "16Gi"}) : one_of(kMemories);
  if (chance(large ? 80 : 40))
    asks["nvidia.com/gpu"] = std::to_string(large ? 2 + below(8) : below(2));
  if (chance(large ? 15 : 2)) asks["nvidia.com/mig-1g.10gb"] = std::to_string(below(4));
  if (chance(large ? 10 : 1)) asks["hugepages-2Mi"] = "256Mi";
  if (chance(10)) asks["ephemeral-storage"] = large ? "60Gi" : "1Gi";
  return asks;
}

json RandomPair::container(const std::string& name, bool large) {
  return {{"name", name}, {"image", "x"}, {"resources", {{"requests", requests(large)}}}};
}

json RandomPair::make_pod(const std::string& name) {
  const bool large = name == "pod" && tries(kResources);
  json spec = {{"schedulerName", "default-scheduler"}, {"containers", json::array()}};
  for (int i = 0, n = 1 + below(2); i < n; ++i)
    spec["containers"].push_back(container(fmt::format("c{}", i), large));
  for (int i = 0, n = chance(25) ? 1 + below(3) : 0; i < n; ++i) {
    json init = container(fmt::format("i{}", i), large && chance(30));
    if (chance(40)) init["restartPolicy"] = "Always";
    spec["initContainers"].push_back(std::move(init));
  }
  if (chance(8))
    spec["resources"] = {{"requests", {{"cpu", one_of({"3", "8"})}, {"memory", "4Gi"}}}};
  if (chance(8)) spec["overhead"] = {{"cpu", "100m"}, {"memory", "64Mi"}};
  for (int i = 0, n = below(3); i < n; ++i) spec["tolerations"].push_back(toleration());
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"namespace", "team"}, {"name", name}, {"uid", name}}},
          {"spec", std::move(spec)},
          {"status", {{"phase", "Pending"}}}};
}

json RandomPair::toleration() {
  json toleration = json::object();
  if (chance(95)) {
    toleration["key"] = chance(5) ? "node.kubernetes.io/unschedulable"
                                  : fmt::format("{}{}", one_of(kKeys), below(2));
  } else {
    toleration["operator"] = "Exists";  // of every taint
  }
  if (chance(60)) toleration["effect"] = one_of(kEffects);
  if (toleration.contains("operator")) return toleration;
  if (chance(40))
    toleration["operator"] = "Exists";
  else if (chance(80))
    toleration["value"] = one_of(kValues);
  return toleration;
}

void RandomPair::select(const json& node, json& pod) {
  const json& labels = node["metadata"]["labels"];
  json& spec = pod["spec"];
  if (chance(30))
    for (const auto& [key, value] : labels.items())
      if (chance(30)) spec["nodeSelector"][key] = value;
  if (tries(kSelector)) spec["nodeSelector"][one_of(kKeys)] = one_of(kValues);
  const bool tried = tries(kAffinity);
  if (!tried && !chance(15)) return;
  json terms = json::array();
  for (int i = 0, n = 1 + (tried ? below(3) : 0); i < n; ++i) terms.push_back(term(labels));
  if (!tried)  // one that the node meets
    terms.push_back(
        {{"matchExpressions", {{{"key", "kubernetes.io/hostname"}, {"operator", "Exists"}}}}});
  spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
      ["nodeSelectorTerms"] = terms;
}

json RandomPair::term(const json& labels) {
  json term = json::object();
  for (int i = 0, n = below(3); i < n; ++i) term["matchExpressions"].push_back(expression(labels));
  if (chance(20))
    term["matchFields"] = {{{"key", "metadata.name"},
                            {"operator", chance(80) ? "In" : "NotIn"},
                            {"values", {chance(60) ? "n1" : "n2"}}}};
  return term;
}

json RandomPair::expression(const json& labels) {
  const std::string& key = one_of(kKeys);
  json expression = {{"key", key},
                     {"operator", one_of({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})}};
  const std::string& how = expression["operator"].get_ref<const std::string&>();
  if (how == "Gt" || how == "Lt") expression["values"] = {one_of({"0", "5", "12", "13", "-7"})};
  if (how == "In" || how == "NotIn") {
    expression["values"] = {one_of(chance(90) ? kValues : kOddValues)};
    if (chance(50) && labels.contains(key)) expression["values"].push_back(labels[key]);
  }
  return expression;
}

}  // namespace berth::oracle
