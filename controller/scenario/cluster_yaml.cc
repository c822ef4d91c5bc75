// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/cluster_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/base/nearest_name.h"
#include "controller/fleet/geometry.h"
#include "controller/scenario/object_names.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr int kMaxNodes = 1000;
constexpr int kMaxReplicas = 1000;
constexpr int kMaxGpus = 16;
constexpr std::size_t kMaxName = 50;  // a number or a random suffix is appended

std::vector<std::string> product_words() {
  std::vector<std::string> words;
  for (const Product& product : all_products()) {
    words.push_back(product.model);
    words.insert(words.end(), product.labels.begin(), product.labels.end());
  }
  return words;
}

bool is_name(const std::string& text) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kMaxName && alphanumeric(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return alphanumeric(c) || c == '-' || c == '.'; });
}

void check_name(Fields& fields, const std::string& key, const std::string& name) {
  if (!is_name(name))
    fields.complain(key, fmt::format("must be at most {} lower case letters, digits, '-' and '.', "
                                     "and start with a letter or digit",
                                     kMaxName));
}

ScenarioNodes read_nodes(const Json& item, const std::string& path,
                         std::vector<Complaint>& complaints) {
  Fields fields(item, path, complaints);
  ScenarioNodes nodes;
  nodes.like.name = std::string("n");  // g++ 12 reports an overflow if the literal is assigned
  fields.read("name", nodes.like.name);
  check_name(fields, "name", nodes.like.name);
  nodes.numbered = fields.has("count") || !fields.has("name");
  fields.read("count", nodes.count, 1, kMaxNodes);
  if (fields.has("product")) {
    std::string text;
    fields.read("product", text);
    const Result<std::string> label = product_label(text);
    if (label)
      nodes.like.product = *label;
    else
      fields.complain("product", label.error().message);
  }
  fields.read("gpus", nodes.like.gpus, 1, kMaxGpus);
  fields.read("labels", nodes.like.labels);
  fields.read("annotations", nodes.like.annotations);
  fields.read("cordoned", nodes.like.cordoned);
  fields.finish();
  return nodes;
}

void read_all_nodes(Fields& top, Scenario& scenario, std::vector<Complaint>& complaints) {
  top.require("nodes", "a list such as [{count: 4, product: A100-80GB}]");
  const std::vector<const Json*> items = top.items("nodes");
  std::set<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("nodes[{}]", i);
    scenario.nodes.push_back(read_nodes(*items[i], path, complaints));
    for (const std::string& name : node_names(scenario.nodes.back()))
      if (!names.insert(name).second)
        complaints.push_back(
            {path + ".name", fmt::format("{} is the name of two nodes; write another", name)});
  }
  if (items.empty() && top.has("nodes")) top.complain("nodes", "needs at least one entry");
}

void read_kind(Fields& fields, ScenarioWorkload& workload) {
  std::string kind = "ReplicaSet";
  fields.read_choice("kind", kind, {"ReplicaSet", "Job", "Pod"});
  workload.kind = kind == "Job"   ? ScenarioWorkload::Kind::kJob
                  : kind == "Pod" ? ScenarioWorkload::Kind::kPod
                                  : ScenarioWorkload::Kind::kReplicaSet;
}

void read_budget(Fields& fields, ScenarioWorkload& workload) {
  const Json* value = fields.find("budget");
  if (value == nullptr) return;
  if (value->is_string())
    workload.budget = value->get<std::string>();
  else if (value->is_object() && value->size() == 1)
    workload.budget = fmt::format(
        "{}: {}", value->begin().key(),
        value->begin()->is_string() ? value->begin()->get<std::string>() : value->begin()->dump());
  else
    return fields.complain("budget", "must be a map such as {minAvailable: 1}");
  const Result<BudgetText> budget = parse_budget(workload.budget);
  if (!budget) fields.complain("budget", budget.error().message);
}

ScenarioWorkload read_workload(const Json& item, const std::string& path,
                               std::vector<Complaint>& complaints) {
  Fields fields(item, path, complaints);
  ScenarioWorkload workload;
  read_kind(fields, workload);
  fields.read("namespace", workload.namespace_);
  check_name(fields, "namespace", workload.namespace_);
  fields.require("name", "the workload's name");
  fields.read("name", workload.name);
  if (fields.has("name")) check_name(fields, "name", workload.name);
  fields.read("replicas", workload.replicas, 0, kMaxReplicas);
  fields.read("resource", workload.resource);
  fields.read("count", workload.count, 0, kMaxReplicas);
  fields.read("nodeSelector", workload.node_selector);
  fields.read("labels", workload.labels);
  fields.read("annotations", workload.annotations);
  fields.read("toleratesGPU", workload.tolerates_gpu);
  read_budget(fields, workload);
  fields.finish();
  return workload;
}

void read_workloads(Fields& top, Scenario& scenario, std::vector<Complaint>& complaints) {
  const std::vector<const Json*> items = top.items("workloads");
  std::set<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("workloads[{}]", i);
    scenario.workloads.push_back(read_workload(*items[i], path, complaints));
    const ScenarioWorkload& workload = scenario.workloads.back();
    if (!names.insert(workload.namespace_ + "/" + workload.name).second)
      complaints.push_back({path + ".name", fmt::format("{}/{} is listed twice",
                                                        workload.namespace_, workload.name)});
  }
}

void read_objects(Fields& top, Scenario& scenario) {
  const std::vector<const Json*> items = top.items("objects");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Json& object = *items[i];
    const std::string key = fmt::format("objects[{}]", i);
    if (!object.is_object() || !object.contains("kind") || !object["kind"].is_string())
      top.complain(key, "must be an object with apiVersion, kind and metadata");
    else if (find_object_type(object["kind"].get_ref<const std::string&>()) == nullptr)
      top.complain(key, fmt::format("the simulation serves no {}; {}",
                                    object["kind"].get_ref<const std::string&>(), served_kinds()));
    else
      scenario.objects.push_back(object.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

void read_kube(const Json& value, sim::KubeOptions& out, std::vector<Complaint>& complaints) {
  Fields fields(value, "kube", complaints);
  fields.read("bindLagMin", out.bind_lag_min);
  fields.read("bindLagMax", out.bind_lag_max);
  fields.read("podStart", out.pod_start);
  fields.read("podStop", out.pod_stop);
  fields.read("controllerLag", out.controller_lag);
  fields.finish();
  if (out.bind_lag_max < out.bind_lag_min)
    fields.complain("bindLagMax", "must not be less than bindLagMin");
}

void read_agents(const Json& value, sim::GpuAgentOptions& out, std::vector<Complaint>& complaints) {
  Fields fields(value, "agents", complaints);
  fields.read("configMap", out.config_map);
  fields.read_choice("strategy", out.strategy, {"none", "single", "mixed"});
  fields.read("configMapDelay", out.config_map_delay);
  fields.read("applyTime", out.apply_time);
  fields.read("podWait", out.pod_wait);
  fields.read("pluginLag", out.plugin_lag);
  fields.read("discoveryLag", out.discovery_lag);
  fields.read("capacityGrace", out.capacity_grace);
  fields.read("rebootTime", out.reboot_time);
  fields.read("operatorLag", out.operator_lag);
  fields.finish();
}

void read_settings(const Json& value, Settings& out, std::vector<Complaint>& complaints) {
  Fields fields(value, "settings", complaints);
  fields.read("settle", out.settle);
  fields.read("verifyFor", out.verify_for);
  fields.read("agentConfigMapDelay", out.agent_config_map_delay);
  fields.read("answerTTL", out.answer_ttl);
  fields.read("retryBackoff", out.retry_backoff);
  fields.read("abortBackoff", out.abort_backoff);
  fields.read("evictionRetry", out.eviction_retry);
  fields.finish();
}

void read_certificates(const Json& value, ScenarioCertificates& out,
                       std::vector<Complaint>& complaints) {
  Fields fields(value, "certificates", complaints);
  const auto read_age = [&](const char* key, std::optional<std::chrono::milliseconds>& age) {
    if (fields.has(key)) fields.read(key, age.emplace());
  };
  fields.read("check", out.check);
  read_age("authorityAge", out.authority_age);
  read_age("leafAge", out.leaf_age);
  read_age("previousAge", out.previous_age);
  fields.read("leafOfPrevious", out.leaf_of_previous);
  fields.finish();
  if (out.check < std::chrono::seconds(1)) fields.complain("check", "must be at least 1s");
  if (!out.authority_age && (out.leaf_age || out.previous_age))
    fields.complain("authorityAge", "is missing: who is to have signed the certificate?");
  if (out.leaf_of_previous && !out.previous_age)
    fields.complain("leafOfPrevious", "needs previousAge, how old that authority is");
}

}  // namespace

void read_cluster(Fields& top, Scenario& scenario, std::vector<Complaint>& complaints) {
  read_all_nodes(top, scenario, complaints);
  read_workloads(top, scenario, complaints);
  read_objects(top, scenario);
  if (const Json* kube = top.find("kube")) read_kube(*kube, scenario.kube, complaints);
  if (const Json* agents = top.find("agents")) read_agents(*agents, scenario.agents, complaints);
  if (const Json* settings = top.find("settings"))
    read_settings(*settings, scenario.settings, complaints);
  if (const Json* certificates = top.find("certificates"))
    read_certificates(*certificates, scenario.certificates.emplace(), complaints);
}

Result<BudgetText> parse_budget(const std::string& text) {
  const auto bad = invalid_spec("",
                                "write minAvailable or maxUnavailable and a whole number or a "
                                "percentage, such as {minAvailable: 1}");
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return bad;
  BudgetText budget{.field = text.substr(0, colon), .value = text.substr(colon + 1)};
  budget.value.erase(0, budget.value.find_first_not_of(' '));
  if (budget.field != "minAvailable" && budget.field != "maxUnavailable") return bad;
  const std::string digits = budget.value.substr(0, budget.value.find('%'));
  const bool number = !digits.empty() && digits.size() <= 6 &&
                      digits.find_first_not_of("0123456789") == digits.npos;
  if (!number || budget.value.size() > digits.size() + 1) return bad;
  return budget;
}

Result<std::string> product_label(const std::string& text) {
  if (const Product* product = find_product_by_model(text); product != nullptr)
    return product->labels.front();
  for (const Product& product : all_products())
    if (std::ranges::find(product.labels, text) != product.labels.end()) return text;
  return invalid_spec("", no_such_word(text, product_words()));
}

}  // namespace berth
