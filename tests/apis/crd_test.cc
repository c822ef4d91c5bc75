// SPDX-License-Identifier: Apache-2.0
// Keeps crds/ equal to apis/: every field, type, bound, enum, pattern and default of a schema is
// the one of strict decoding, and vice versa; the CEL rules have the messages of check_rules.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "apis/codec/decode.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/gpu_queue_fields.h"
#include "apis/kinds/gpu_queue_rules.h"
#include "apis/kinds/layout_fields.h"
#include "apis/kinds/layout_rules.h"
#include "apis/kinds/policy_fields.h"
#include "apis/kinds/policy_rules.h"
#include "tests/support/places.h"

namespace berth {
namespace {

struct Crd {
  const KindInfo& kind;
  const Field& spec;
  std::vector<const char*> rules;
  const char* columns;
  const char* wide_columns;

  YAML::Node load() const {
    return YAML::LoadFile(test::source_dir() + "/crds/gpu.berth.dev_" + std::string(kind.plural) +
                          ".yaml");
  }
  YAML::Node root() const { return load()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]; }
};

const std::vector<Crd>& all_crds() {
  static const std::vector<Crd> crds{
      {kKind<MIGLayout>,
       layout_spec_field(),
       {rules::kNameTooLong, rules::kNoSelector, rules::kGpuTwice, rules::kTwoWithoutGpus,
        rules::kOwnLabel, rules::kProductSuffix, rules::kValuesNeeded, rules::kValuesForbidden,
        rules::kRetiredAndKept},
       "READY REASON NODES UPDATED IN-PROGRESS BLOCKED FAILED CONFIG AGE ",
       "PENDING PAUSED MESSAGE "},
      {kKind<GPUClusterPolicy>,
       policy_spec_field(),
       {rules::kPolicyName,     rules::kTwoFiles,        rules::kExtraIsOwn,
        rules::kReplicasNeeded, rules::kReplicasForNone, rules::kMpsReplicas,
        rules::kMpsResources,   rules::kMpsWithMig,      rules::kSharedName,
        rules::kSelectorMoves,  rules::kSelectsOwnLabel, rules::kForeignLabel,
        rules::kForeignTaint,   rules::kNoExecute,       rules::kLevelTwice,
        rules::kHostnameLast,   rules::kSystemPriority,  rules::kKubeSystem,
        rules::kCaWithoutTls,   rules::kValuesNeeded,    rules::kValuesForbidden,
        rules::kOnePrice,       rules::kPriceOfWhat},
       "READY REASON POOLS NODES GPUS IDLE UNHEALTHY WASTE/MONTH AGE ",
       "CONFLICTS OPEN NEXT-OPENING MESSAGE "},
      {kKind<GPUQueue>,
       queue_spec_field(),
       {rules::kQueueName, rules::kUnknownGpu, rules::kBorrowAlone, rules::kLendAlone,
        rules::kLendAboveNominal, rules::kReclaimAlone, rules::kDefaultOfNone,
        rules::kTwoTopologies, rules::kNothingLimited, rules::kValuesNeeded,
        rules::kValuesForbidden},
       "READY COHORT ADMITTED PENDING USED BORROWED OLDEST AGE ",
       "REASON STRATEGY STOP MESSAGE "}};
  return crds;
}

std::string text(const YAML::Node& node) { return node ? node.as<std::string>() : ""; }

std::int64_t number(const YAML::Node& node, std::int64_t otherwise) {
  return node ? node.as<std::int64_t>() : otherwise;
}

std::string all_rules(const YAML::Node& schema) {
  std::string rules;
  for (const YAML::Node& rule : schema["x-kubernetes-validations"])
    rules += text(rule["rule"]) + "\n";
  return rules;
}

void expect_equal(const YAML::Node& schema, const Field& field, const std::string& path);

void expect_equal_object(const YAML::Node& schema, const Field& field, const std::string& path) {
  EXPECT_EQ(text(schema["type"]), "object") << path;
  std::set<std::string> names, required;
  for (const auto& property : schema["properties"]) {
    std::string name = property.first.as<std::string>();
    names.insert(name);
    const Field* child = field.find(name);
    ASSERT_NE(child, nullptr) << path << "." << name << " is in the CRD but not in apis/";
    expect_equal(property.second, *child, path + "." + name);
  }
  for (const YAML::Node& name : schema["required"]) required.insert(name.as<std::string>());
  for (const Field& child : field.children) {
    EXPECT_EQ(names.count(child.name), 1u)
        << path << "." << child.name << " is in apis/ but not in the CRD";
    EXPECT_EQ(required.count(child.name) == 1, child.required) << path << "." << child.name;
  }
}

void expect_equal_list(const YAML::Node& schema, const Field& field, const std::string& path) {
  EXPECT_EQ(text(schema["type"]), "array") << path;
  EXPECT_EQ(number(schema["minItems"], 0), field.min) << path;
  EXPECT_EQ(number(schema["maxItems"], -1), field.max) << path;
  EXPECT_EQ(text(schema["x-kubernetes-list-type"]), field.set            ? "set"
                                                    : field.keys.empty() ? "atomic"
                                                                         : "map")
      << path;
  std::vector<std::string> keys;
  for (const YAML::Node& key : schema["x-kubernetes-list-map-keys"])
    keys.push_back(key.as<std::string>());
  EXPECT_EQ(keys, field.keys) << path;
  expect_equal(schema["items"], field.children.front(), path + "[]");
}

void expect_equal_map(const YAML::Node& schema, const Field& field, const std::string& path) {
  EXPECT_EQ(text(schema["type"]), "object") << path;
  EXPECT_EQ(number(schema["maxProperties"], -1), field.max) << path;
  EXPECT_NE(all_rules(schema).find("k.matches(r'" + field.pattern + "')"), std::string::npos)
      << path;
  expect_equal(schema["additionalProperties"], field.children.front(), path + ".*");
}

void expect_equal_text(const YAML::Node& schema, const Field& field, const std::string& path) {
  EXPECT_EQ(text(schema["type"]), "string") << path;
  std::vector<std::string> values;
  for (const YAML::Node& value : schema["enum"]) {
    values.push_back(value.as<std::string>());
    bool truth = false;
    EXPECT_FALSE(value.Tag() == "?" && YAML::convert<bool>::decode(value, truth))
        << path << ": the server reads " << values.back() << " as true or false; quote it";
  }
  EXPECT_EQ(values, field.one_of) << path;
  EXPECT_EQ(text(schema["pattern"]), field.pattern) << path;
  EXPECT_EQ(text(schema["format"]), field.base64 ? "byte" : "") << path;
  if (!field.one_of.empty()) return;
  EXPECT_EQ(number(schema["minLength"], 0), field.min) << path;
  EXPECT_EQ(number(schema["maxLength"], -1), field.max) << path;
}

void expect_equal_integer(const YAML::Node& schema, const Field& field, const std::string& path) {
  EXPECT_EQ(text(schema["type"]), "integer") << path;
  EXPECT_EQ(number(schema["minimum"], -1), field.min) << path;
  EXPECT_EQ(number(schema["maximum"], -1), field.max) << path;
}

void expect_equal_duration(const YAML::Node& schema, const Field& field, const std::string& path) {
  EXPECT_EQ(text(schema["type"]), "string") << path;
  EXPECT_EQ(text(schema["format"]), "duration") << path;
  EXPECT_EQ(text(schema["pattern"]), field.pattern) << path;
  std::string bounds = "duration(self) >= duration('" + std::to_string(field.min) +
                       "s') && duration(self) <= duration('" + std::to_string(field.max / 3600) +
                       "h')";
  EXPECT_NE(all_rules(schema).find(bounds), std::string::npos) << path;
}

void expect_equal(const YAML::Node& schema, const Field& field, const std::string& path) {
  SCOPED_TRACE(path);
  bool inner =
      path.back() == ']' || path.back() == '*';  // item or value: its list or map describes it
  EXPECT_FALSE(!inner && text(schema["description"]).empty()) << path << " has no description";
  // A default is compared as its JSON, so it is quoted if it is text.
  YAML::Node standard = schema["default"];
  std::string json = !standard ? "" : standard.IsMap() ? "{}" : standard.as<std::string>();
  bool is_text =
      field.type == FieldType::kString || field.type == FieldType::kDuration || json.ends_with('%');
  if (standard && is_text) json = "\"" + json + "\"";
  EXPECT_EQ(json, field.default_json) << path;
  switch (field.type) {
    case FieldType::kObject:
      return expect_equal_object(schema, field, path);
    case FieldType::kList:
      return expect_equal_list(schema, field, path);
    case FieldType::kMap:
      return expect_equal_map(schema, field, path);
    case FieldType::kString:
      return expect_equal_text(schema, field, path);
    case FieldType::kInteger:
      return expect_equal_integer(schema, field, path);
    case FieldType::kBoolean:
      EXPECT_EQ(text(schema["type"]), "boolean");
      return;
    case FieldType::kDuration:
      return expect_equal_duration(schema, field, path);
    case FieldType::kIntOrPercent:
      EXPECT_TRUE(schema["x-kubernetes-int-or-string"].as<bool>());
      EXPECT_NE(all_rules(schema).find("self >= " + std::to_string(field.min) +
                                       " && self <= " + std::to_string(field.max)),
                std::string::npos);
      return;
  }
}

TEST(Crd, SpecIsWhatStrictDecodingKnows) {
  for (const Crd& crd : all_crds())
    expect_equal(crd.root()["properties"]["spec"], crd.spec, "spec");
}

TEST(Crd, NamesAreTheKinds) {
  for (const Crd& crd : all_crds()) {
    YAML::Node spec = crd.load()["spec"];
    EXPECT_EQ(text(crd.load()["metadata"]["name"]),
              std::string(crd.kind.plural) + ".gpu.berth.dev");
    EXPECT_EQ(text(spec["group"]), crd.kind.group);
    EXPECT_EQ(text(spec["versions"][0]["name"]), crd.kind.version);
    EXPECT_EQ(text(spec["names"]["plural"]), crd.kind.plural);
    EXPECT_EQ(text(spec["names"]["kind"]), crd.kind.kind);
    EXPECT_EQ(text(spec["scope"]), crd.kind.namespaced ? "Namespaced" : "Cluster");
  }
}

std::string default_json_of(const Field& object) {
  std::string json;
  for (const Field& child : object.children) {
    std::string value = child.default_json;
    if (child.type == FieldType::kObject && !value.empty()) value = default_json_of(child);
    if (!value.empty()) json += (json.empty() ? "\"" : ",\"") + child.name + "\":" + value;
  }
  return "{" + json + "}";
}

// The server applies the schema's defaults; offline, the structs' members replace them. They must
// be the same.
TEST(Crd, DefaultsAreTheStructs) {
  std::string defaults = default_json_of(layout_spec_field());
  defaults.pop_back();
  std::string filled = R"({"spec":)" + defaults + R"(,"devices":[{"profiles":{}}]}})";
  std::string bare = R"({"spec":{"devices":[{"profiles":{}}]}})";
  Result<MIGLayout> from_server = decode_object<MIGLayout>(filled),
                    from_file = decode_object<MIGLayout>(bare);
  ASSERT_TRUE(from_server.has_value()) << describe(from_server.error());
  ASSERT_TRUE(from_file.has_value()) << describe(from_file.error());
  EXPECT_EQ(from_server->spec, from_file->spec);
  EXPECT_NE(filled.find("\"progressDeadline\":\"30m\""), std::string::npos) << filled;

  // waitForCompletion has no default of its own, but its timeout has.
  std::string timeout =
      layout_spec_field().find("drain")->find("waitForCompletion")->find("timeout")->default_json;
  EXPECT_EQ(timeout, "\"" + format_duration_short(WaitForCompletion().timeout) + "\"");
}

// Defaults inside of lists apply where an item exists.
TEST(Crd, DefaultsOfThePolicyAreTheStructs) {
  const auto decode_policy = [](std::string spec) {
    std::string body = R"({"spec":)" + spec + "}";
    Result<GPUClusterPolicy> policy = decode_object<GPUClusterPolicy>(body);
    EXPECT_TRUE(policy.has_value()) << body << describe(policy.error());
    return policy ? policy->spec : GPUClusterPolicySpec();
  };
  const Field& spec = policy_spec_field();
  const std::string filled = default_json_of(spec);
  EXPECT_EQ(decode_policy(filled), GPUClusterPolicySpec());
  EXPECT_NE(filled.find(R"("maxUnavailable":"10%")"), std::string::npos) << filled;
  EXPECT_NE(filled.find(R"("recoverAfter":"15m")"), std::string::npos) << filled;

  const auto item = [&](const char* list) { return spec.find(list)->children.front(); };
  const auto default_of = [](const Field& object, const char* name) {
    return "\"" + std::string(name) + "\":" + object.find(name)->default_json;
  };
  EXPECT_EQ(item("pools").find("sharing")->default_json, "{}");
  const std::string sharing = default_json_of(*item("pools").find("sharing"));
  const std::string currency = default_of(*item("pools").find("price"), "currency");
  const std::string pool = R"({"name":"a","nodeSelector":{},"price":{"perGPUHour":"1")";
  EXPECT_EQ(
      decode_policy(R"({"pools":[)" + pool + "," + currency + R"(},"sharing":)" + sharing + "}]}"),
      decode_policy(R"({"pools":[)" + pool + "}}]}"));
  const Field& window = spec.find("disruption")->find("windows")->children.front();
  EXPECT_EQ(default_of(window, "timeZone"), "\"timeZone\":\"" + WindowSpec().time_zone + "\"");
  const Field& secret = *spec.find("metrics")->find("prometheus")->find("bearerTokenSecretRef");
  EXPECT_EQ(default_of(secret, "key"), "\"key\":\"" + SecretKeyRef().key + "\"");
}

TEST(Crd, DefaultsOfTheQueueAreTheStructs) {
  const auto decode_queue = [](std::string spec) {
    std::string body = R"({"spec":)" + spec + "}";
    Result<GPUQueue> queue = decode_object<GPUQueue>(body);
    EXPECT_TRUE(queue.has_value()) << body << describe(queue.error());
    return queue ? queue->spec : GPUQueueSpec();
  };
  const std::string quotas =
      R"("quotas":[{"resource":"nvidia.com/gpu","pool":"a","nominalQuota":1}])";
  std::string filled = default_json_of(queue_spec_field());
  EXPECT_NE(filled.find(R"("placementTimeout":"5m")"), std::string::npos) << filled;
  filled.back() = ',';
  EXPECT_EQ(decode_queue(filled + quotas + "}"), decode_queue("{" + quotas + "}"));
}

void collect_messages(const YAML::Node& schema, std::multiset<std::string>& messages) {
  for (const YAML::Node& rule : schema["x-kubernetes-validations"])
    messages.insert(text(rule["message"]));
  for (const auto& property : schema["properties"]) collect_messages(property.second, messages);
  if (schema["items"]) collect_messages(schema["items"], messages);
}

TEST(Crd, RulesSpeakInTheSameWords) {
  for (const Crd& crd : all_crds()) {
    std::multiset<std::string> messages;
    collect_messages(crd.root(), messages);
    for (const char* rule : crd.rules) EXPECT_GE(messages.count(rule), 1u) << rule;
    EXPECT_EQ(messages.count(""), 0u) << "every rule has a message";
  }
}

void expect_described(const YAML::Node& schema, const std::string& path) {
  for (const auto& property : schema["properties"]) {
    std::string name = path + "." + property.first.as<std::string>();
    if (name == ".metadata") continue;  // the server allows no description there
    EXPECT_FALSE(text(property.second["description"]).empty()) << name;
    expect_described(property.second, name);
  }
  if (schema["items"]) expect_described(schema["items"], path + "[]");
}

TEST(Crd, StatusIsDescribedAndBounded) {
  for (const Crd& crd : all_crds()) {
    YAML::Node root = crd.root();
    expect_described(root, "");
    YAML::Node conditions = root["properties"]["status"]["properties"]["conditions"];
    EXPECT_EQ(number(conditions["items"]["properties"]["message"]["maxLength"], 0),
              static_cast<std::int64_t>(limits::kMaxMessage));
    EXPECT_EQ(text(conditions["x-kubernetes-list-map-keys"][0]), "type");
  }
  YAML::Node details = all_crds()[0].root()["properties"]["status"]["properties"]["details"];
  EXPECT_EQ(number(details["maxItems"], 0), static_cast<std::int64_t>(limits::kMaxDetails));
  EXPECT_EQ(number(details["items"]["properties"]["message"]["maxLength"], 0),
            static_cast<std::int64_t>(limits::kMaxMessage));
  YAML::Node policy = all_crds()[1].root()["properties"]["status"]["properties"];
  EXPECT_EQ(number(policy["conflicts"]["maxItems"], 0),
            static_cast<std::int64_t>(limits::kMaxConflicts));
  EXPECT_EQ(number(policy["pools"]["maxItems"], 0), limits::kMaxPools);
  YAML::Node queue = all_crds()[2].root()["properties"]["status"]["properties"];
  EXPECT_EQ(number(queue["pending"]["maxItems"], 0),
            static_cast<std::int64_t>(limits::kMaxPendingWorkloads));
  EXPECT_EQ(number(queue["pendingReasons"]["maxItems"], 0),
            static_cast<std::int64_t>(limits::kMaxPendingReasons));
  EXPECT_EQ(number(queue["usage"]["maxItems"], 0), limits::kMaxQuotas);
}

TEST(Crd, PrintsTheColumnsOfTheDesign) {
  for (const Crd& crd : all_crds()) {
    std::string wide, columns;
    for (const YAML::Node& column : crd.load()["spec"]["versions"][0]["additionalPrinterColumns"])
      (column["priority"] ? wide : columns) += text(column["name"]) + " ";
    EXPECT_EQ(columns, crd.columns);
    EXPECT_EQ(wide, crd.wide_columns);
  }
}

}  // namespace
}  // namespace berth
