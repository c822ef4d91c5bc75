// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/webhook_configurations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "controller/sim/server/wrong_types.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

void fill(json& object, const char* name, json value) {
  if (!object.contains(name)) object[name] = std::move(value);
}

void check_webhook(const json& webhook, const std::string& at, std::vector<Cause>& causes) {
  const std::string name = text_at(webhook, {"name"});
  if (name.empty())
    causes.push_back(required_value(at + ".name"));
  else if (std::ranges::count(name, '.') < 2)
    causes.push_back(invalid_value(at + ".name", quote(name),
                                   "should be a domain with at least three segments separated by "
                                   "dots"));
  const json* versions = find_at(webhook, {"admissionReviewVersions"});
  if (versions == nullptr || !versions->is_array() || versions->empty())
    causes.push_back(
        required_value(at + ".admissionReviewVersions", "must specify one of v1, v1beta1"));
  const std::string effects = text_at(webhook, {"sideEffects"});
  if (effects.empty())
    causes.push_back(required_value(at + ".sideEffects", "must specify one of None, NoneOnDryRun"));
  else if (effects != "None" && effects != "NoneOnDryRun")
    causes.push_back({"FieldValueNotSupported",
                      fmt::format("Unsupported value: {}", quote(effects)), at + ".sideEffects"});
  const bool by_url = find_at(webhook, {"clientConfig", "url"}) != nullptr;
  const bool by_service = find_at(webhook, {"clientConfig", "service"}) != nullptr;
  if (by_url == by_service)
    causes.push_back(
        required_value(at + ".clientConfig", "exactly one of url or service is required"));
}

}  // namespace

bool configures_webhooks(const ResourceType& type) {
  return type.group == "admissionregistration.k8s.io";
}

void default_webhooks(const ResourceType& type, json& configuration) {
  const auto webhooks = configuration.find("webhooks");
  if (webhooks == configuration.end() || !webhooks->is_array()) return;
  for (json& webhook : *webhooks) {
    if (!webhook.is_object()) continue;
    fill(webhook, "clientConfig", json::object());
    if (text_at(webhook, {"clientConfig", "caBundle"}).empty())
      webhook["clientConfig"].erase("caBundle");
    fill(webhook, "failurePolicy", "Fail");
    fill(webhook, "matchPolicy", "Equivalent");
    fill(webhook, "timeoutSeconds", 10);
    fill(webhook, "namespaceSelector", json::object());
    fill(webhook, "objectSelector", json::object());
    if (type.kind == "MutatingWebhookConfiguration") fill(webhook, "reinvocationPolicy", "Never");
    if (const auto service = webhook["clientConfig"].find("service");
        service != webhook["clientConfig"].end() && service->is_object())
      fill(*service, "port", 443);
    if (const auto rules = webhook.find("rules"); rules != webhook.end() && rules->is_array())
      for (json& rule : *rules)
        if (rule.is_object()) fill(rule, "scope", "*");
  }
}

void check_webhooks(const json& configuration, std::vector<Cause>& causes) {
  const json* webhooks = find_at(configuration, {"webhooks"});
  if (webhooks == nullptr || !webhooks->is_array()) return;
  std::set<std::string> names;
  for (std::size_t i = 0; i < webhooks->size(); ++i) {
    const std::string at = fmt::format("webhooks[{}]", i);
    check_webhook((*webhooks)[i], at, causes);
    const std::string name = text_at((*webhooks)[i], {"name"});
    if (!name.empty() && !names.insert(name).second)
      causes.push_back({"FieldValueDuplicate", "Duplicate value: " + quote(name), at + ".name"});
  }
}

std::string find_wrong_webhook(const json& configuration) {
  const json* webhooks = find_at(configuration, {"webhooks"});
  if (webhooks == nullptr || webhooks->is_null()) return "";
  if (!webhooks->is_array()) return "webhooks";
  for (const json& webhook : *webhooks) {
    if (!webhook.is_object()) return "webhooks";
    const json* client = find_at(webhook, {"clientConfig"});
    if (client == nullptr || client->is_null()) continue;
    if (!client->is_object()) return "webhooks.clientConfig";
    const json* bundle = find_at(*client, {"caBundle"});
    if (bundle == nullptr || bundle->is_null()) continue;
    if (!is_base64(*bundle)) return "webhooks.clientConfig.caBundle";
  }
  return "";
}

}  // namespace berth::sim
