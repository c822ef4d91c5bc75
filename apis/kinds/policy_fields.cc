// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/policy_fields.h"

#include "apis/kinds/field_shapes.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/mig_layout.h"

namespace berth {
namespace {

using namespace shape;

constexpr std::int64_t kMaxLabel = 63;  // of a DNS label, and of a label's value
constexpr std::int64_t kMaxSubdomain = 253;
constexpr char kDnsLabel[] = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
constexpr char kDnsLabelAdvice[] =
    "write lower case letters, digits and '-', starting and ending with a letter or digit";
constexpr char kDnsSubdomain[] =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
constexpr char kDnsSubdomainAdvice[] =
    "write lower case letters, digits, '-' and '.', starting and ending with a letter or digit";
constexpr char kDecimal[] = "^[0-9]{1,9}(\\.[0-9]{1,6})?$";
constexpr char kCurrency[] = "^[A-Z]{3}$";
constexpr char kMemory[] = "^[1-9][0-9]{0,8}(k|M|G|T|Ki|Mi|Gi|Ti)$";
constexpr char kPercent[] = "^(100|[1-9][0-9]?)%$";
constexpr char kTimeZone[] = "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$";
constexpr char kUrl[] = "^https?://[A-Za-z0-9._:\\[\\]-]+(/[A-Za-z0-9._~%/-]*)?$";
constexpr char kSeriesLabel[] = "^[a-zA-Z_][a-zA-Z0-9_]{0,62}$";
constexpr char kSeriesLabelAdvice[] =
    "write a label of Prometheus: letters, digits and '_', such as namespace or job";
constexpr char kSeriesLabelValue[] = "^[-A-Za-z0-9_./:@]+$";
// check_rules() checks the rest
constexpr char kSchedule[] = "^[0-9A-Za-z*?/,-]+( +[0-9A-Za-z*?/,-]+){4}$";
constexpr char kScheduleAdvice[] =
    "write cron's five fields, minute, hour, day of the month, month and weekday, as \"0 22 * * "
    "sat\"";

Field dns_subdomain(std::string name) {
  return text(std::move(name), 1, kMaxSubdomain, kDnsSubdomain, kDnsSubdomainAdvice);
}

Field agents() {
  return with_default(
      object(
          "agents",
          {with_default(text("namespace", 1, kMaxLabel, kDnsLabel, kDnsLabelAdvice),
                        "\"gpu-operator\""),
           with_default(dns_subdomain("migManagerConfigMap"), "\"berth-mig-parted-config\""),
           object("extraMigConfigs", {required(dns_subdomain("name"))}),
           with_default(dns_subdomain("devicePluginConfigMap"), "\"berth-device-plugin-config\"")}),
      "{}");
}

Field sharing() {
  return with_default(
      object("sharing",
             {with_default(one_of("strategy", {"None", "TimeSlicing", "MPS"}), "\"None\""),
              integer("replicas", 2, limits::kMaxReplicas,
                      "to share nothing write strategy: None without replicas"),
              set_of(list("resources", 1, limits::kMaxSharedResources,
                          text("", 1, kMaxLabel, kResource, kResourceAdvice))),
              with_default(boolean("renameByDefault"), "false"),
              boolean("failRequestsGreaterThanOne")}),
      "{}");
}

Field taint() {
  return object(
      "", {required(label_key("key")), text("value", 0, kMaxLabel, kLabelValue, kLabelValueAdvice),
           required(one_of("effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"}))});
}

Field money(const char* name) {
  return text(name, 1, 16, kDecimal, "write a decimal in quotes, as \"3.06\"");
}

Field currency() {
  return with_default(
      text("currency", 3, 3, kCurrency, "write the currency's three letters, as USD or EUR"),
      "\"USD\"");
}

Field price() { return object("price", {required(money("perGPUHour")), currency()}); }

Field prices() {
  const auto label = [](const char* name) {
    return text(name, 1, kMaxLabel, kLabelValue, kLabelValueAdvice);
  };
  return list("prices", 0, limits::kMaxPrices,
              object("", {label("instanceType"), label("product"),
                          one_of("capacityType", {"OnDemand", "Spot", "Reserved"}),
                          money("perGPUHour"), money("perNodeHour"), currency()}));
}

Field elastic() {
  return object("elastic", {required(integer("maxNodes", 1, limits::kMaxElasticNodes,
                                             "write how many nodes the pool may have in all"))});
}

Field pools() {
  return keyed_by(
      {"name"},
      list("pools", 0, limits::kMaxPools,
           object("",
                  {required(text("name", 1, limits::kMaxPoolName, kDnsLabel, kDnsLabelAdvice)),
                   required(label_selector("nodeSelector")), sharing(),
                   one_of("migStrategy", {"none", "single", "mixed"}),
                   map("labels", limits::kMaxPoolLabels, kLabelKey, kLabelKeyAdvice,
                       text("", 0, kMaxLabel, kLabelValue, kLabelValueAdvice)),
                   keyed_by({"key", "effect"}, list("taints", 0, limits::kMaxPoolTaints, taint())),
                   price(), label_selector("eligibleNamespaces"), elastic()})));
}

Field resource_catalog() {
  return keyed_by(
      {"name"},
      list(
          "resourceCatalog", 0, limits::kMaxCatalogEntries,
          object("", {required(text("name", 1, kMaxLabel, kDnsLabel, kDnsLabelAdvice)),
                      required(text("resource", 1, kMaxLabel, kResource, kResourceAdvice)),
                      label_selector("eligibleNamespaces"), text("description", 0, 256, "", "")})));
}

Field priority_classes() {
  return keyed_by(
      {"name"},
      list("priorityClasses", 0, limits::kMaxPriorityClasses,
           object("", {required(dns_subdomain("name")),
                       required(integer("value", -limits::kMaxPriority, limits::kMaxPriority,
                                        "higher values belong to Kubernetes' own "
                                        "system classes"))})));
}

Field admission() {
  Field defaults = with_default(
      object("defaults", {with_default(boolean("tolerations"), "true"),
                          with_default(boolean("poolAffinity"), "true"),
                          text("sharedMemory", 1, 16, kMemory, "write a size from 1k, as 8Gi"),
                          with_default(boolean("securityContext"), "false"),
                          dns_subdomain("priorityClassName")}),
      "{}");
  return with_default(
      object("admission",
             {with_default(one_of("enforcement", {"Enforce", "Warn", "Off"}), "\"Enforce\""),
              label_selector("namespaceSelector"), defaults,
              with_default(boolean("requireQueue"), "false"),
              with_default(one_of("daemonSets", {"Refuse", "Allow"}), "\"Refuse\""),
              with_default(one_of("resourceClaims", {"Refuse", "Allow"}), "\"Refuse\""),
              with_default(one_of("podReplacementPolicy", {"Failed", "Any"}), "\"Failed\""),
              with_default(duration("maxTerminationGracePeriod", 30), "\"1h\"")}),
      "{}");
}

Field window_list(std::string name) {
  return list(
      std::move(name), 0, limits::kMaxWindows,
      object("", {required(text("schedule", 9, 128, kSchedule, kScheduleAdvice)),
                  required(duration("duration", 60)),
                  with_default(text("timeZone", 1, 64, kTimeZone,
                                    "write a name of the IANA database, as Europe/Berlin or UTC"),
                               "\"UTC\"")}));
}

Field disruption() {
  return with_default(
      object("disruption",
             {with_default(int_or_percent("maxUnavailable",
                                          "write a number from 1, or a percentage from \"1%\" to "
                                          "\"100%\"; to allow no disruption, write a blackout"),
                           "\"10%\""),
              window_list("windows"), window_list("blackouts")}),
      "{}");
}

Field idle() {
  return with_default(
      object("idle", {with_default(integer("utilizationThreshold", 1, 100,
                                           "write the percentage below which a GPU counts as idle"),
                                   "5"),
                      with_default(duration("gracePeriod", 60), "\"30m\""),
                      with_default(duration("warnAfter", 60), "\"10m\""),
                      with_default(one_of("policy", {"Observe", "Notify", "OnPressure", "Always"}),
                                   "\"Observe\""),
                      label_selector("excludeSelector")}),
      "{}");
}

Field health() {
  return with_default(
      object("health",
             {with_default(integer("maxTemperature", 40, 120, "write degrees Celsius"), "85"),
              with_default(one_of("xid", {"Default", "Ignore"}), "\"Default\""),
              with_default(boolean("doubleBitECC"), "true"),
              with_default(one_of("action", {"Report", "Cordon", "Drain"}), "\"Report\""),
              with_default(duration("recoverAfter", 60), "\"15m\""),
              with_default(text("maxUnhealthyFraction", 2, 4, kPercent,
                                "write a percentage from \"1%\" to \"100%\""),
                           "\"20%\"")}),
      "{}");
}

Field metrics() {
  Field ca_bundle =
      text("caBundle", 0, limits::kMaxCaBundle, "", "write base64 of PEM, as webhooks do");
  ca_bundle.base64 = true;
  return with_default(
      object("metrics",
             {object("prometheus",
                     {required(text("url", 1, 512, kUrl,
                                    "write an address, as http://prometheus.monitoring:9090; a "
                                    "token goes into bearerTokenSecretRef")),
                      object("bearerTokenSecretRef",
                             {required(dns_subdomain("name")),
                              with_default(text("key", 1, kMaxSubdomain, "^[-._a-zA-Z0-9]+$",
                                                "write a key of the Secret, as token"),
                                           "\"token\"")}),
                      ca_bundle,
                      map("matchLabels", limits::kMaxMatchLabels, kSeriesLabel, kSeriesLabelAdvice,
                          text("", 1, 253, kSeriesLabelValue,
                               "write the value that the label must have, such as gpu-operator; "
                               "it is compared as a whole, and no regular expression"))}),
              with_default(duration("interval", 5), "\"30s\"")}),
      "{}");
}

}  // namespace

const Field& policy_spec_field() {
  static const Field field = required(
      object("spec",
             {agents(), pools(), prices(),
              list("topologyLevels", 0, limits::kMaxTopologyLevels, label_key("")),
              resource_catalog(), priority_classes(), admission(), disruption(), idle(), health(),
              metrics(), with_default(one_of("deletionPolicy", {"Retain", "Remove"}), "\"Retain\""),
              with_default(one_of("operations", {"Normal", "Stopped"}), "\"Normal\"")}));
  return field;
}

}  // namespace berth
