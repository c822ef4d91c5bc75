// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/actors.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apis/base/names.h"
#include "controller/certificates/certificate_keeper.h"
#include "controller/disruption/health_record.h"
#include "controller/scenario/webhook_objects.h"
#include "tests/explore/queue_actors.h"

namespace berth::explore {
namespace {

using namespace std::chrono_literals;

enum class On {
  kNode,
  kAgentFile,
  kLedger,
  kHealth,  // of a node
  kUsage,
  kAuthority,
  kLeaf,
  kMutating,
  kValidating,
};

struct Actor {
  std::string name;
  std::string verb;  // "edit" with a merge patch, or a verb without one
  On on = On::kNode;
  std::string patch;  // NODE is the node's name
};

// Merge patches: the key and its value.
constexpr char kAnnotation[] = R"({{"metadata":{{"annotations":{{"{}":{}}}}}}})";
constexpr char kLabel[] = R"({{"metadata":{{"labels":{{"{}":{}}}}}}})";

constexpr char kData[] = R"({{"data":{{"{}":{}}}}})";

std::string saying(const char* kind, const char* bundle) {
  return fmt::format(R"({{"webhooks":{}}})", webhooks_saying(kind, bundle));
}

const std::vector<Actor>& actors() {
  static const std::vector<Actor> table{
      {"cordon", "cordon", On::kNode, ""},
      {"uncordon", "uncordon", On::kNode, ""},
      {"hold", "hold", On::kNode, ""},
      {"mig-config", "edit", On::kNode, fmt::format(kLabel, names::kMigConfig, "\"all-disabled\"")},
      {"mig-config-gone", "edit", On::kNode, fmt::format(kLabel, names::kMigConfig, "null")},
      {"state-gone", "edit", On::kNode, fmt::format(kLabel, names::kMigConfigState, "null")},
      {"annotation-gone", "edit", On::kNode,
       fmt::format(kAnnotation, names::kRolloutAnnotation, "null")},
      {"annotation-junk", "edit", On::kNode,
       fmt::format(kAnnotation, names::kRolloutAnnotation, "\"{oops\"")},
      {"upgrade", "edit", On::kNode,
       fmt::format(kLabel, names::kDriverUpgradeState, "\"upgrade-required\"")},
      {"agent-file-edited", "edit", On::kAgentFile, R"({"data":{"config.yaml":"version: v1\n"}})"},
      {"agent-file-gone", "delete", On::kAgentFile, ""},
      {"ledger-gone", "delete", On::kLedger, ""},
      {"ledger-entry-gone", "edit", On::kLedger, R"({"data":{"NODE":null}})"},
      {"ledger-junk", "edit", On::kLedger, R"({"data":{"NODE":"oops"}})"},
      {"epoch-junk", "edit", On::kLedger,
       fmt::format(kAnnotation, names::kEpochAnnotation, "\"oops\"")},
      {"health-gone", "edit", On::kHealth,
       fmt::format(kAnnotation, names::kHealthAnnotation, "null")},
      {"health-junk", "edit", On::kHealth,
       fmt::format(kAnnotation, names::kHealthAnnotation, "\"{oops\"")},
      {"usage-gone", "delete", On::kUsage, ""},
      {"usage-junk", "edit", On::kUsage, fmt::format(kData, "checkpoint", "\"oops\"")},
      {"authority-gone", "delete", On::kAuthority, ""},
      {"authority-junk", "edit", On::kAuthority, fmt::format(kData, "tls.crt", "\"b29wcwo=\"")},
      {"authority-key-junk", "edit", On::kAuthority, fmt::format(kData, "tls.key", "\"b29wcwo=\"")},
      {"previous-gone", "edit", On::kAuthority, fmt::format(kData, "previous.crt", "null")},
      {"leaf-gone", "delete", On::kLeaf, ""},
      {"leaf-junk", "edit", On::kLeaf, fmt::format(kData, "tls.crt", "\"b29wcwo=\"")},
      {"bundle-gone", "edit", On::kMutating, saying("MutatingWebhookConfiguration", "")},
      {"bundle-junk", "edit", On::kValidating,
       saying("ValidatingWebhookConfiguration", "b29wcwo=")},
      {"configuration-gone", "delete", On::kValidating, ""},
  };
  return table;
}

void add_those_of(On first, On last, std::vector<std::string>& names) {
  for (const Actor& actor : actors())
    if (first <= actor.on && actor.on <= last) names.push_back(actor.name);
}

bool has_budgets(const Scenario& scenario) {
  return std::ranges::any_of(scenario.objects, [](const std::string& text) {
    return text.find("whenExceeded") != std::string::npos;
  });
}

std::string put_node(std::string patch, const std::string& node) {
  if (const std::size_t at = patch.find("NODE"); at != patch.npos) patch.replace(at, 4, node);
  return patch;
}

Incident edit_layout(const std::string& layout, const std::string& patch) {
  Incident incident;
  incident.verb = "edit";
  incident.target = "miglayouts/" + layout;
  incident.args["patch"] = patch;
  return incident;
}

}  // namespace

const std::vector<std::string>& actor_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Actor& actor : actors()) list.push_back(actor.name);
    for (const std::string& name : queue_actor_names()) list.push_back(name);
    return list;
  }();
  return names;
}

std::vector<std::string> actors_in(const Scenario& scenario) {
  std::vector<std::string> names;
  if (scenario.certificates) {
    add_those_of(On::kAuthority, On::kValidating, names);
    return names;
  }
  add_those_of(On::kNode, On::kLedger, names);
  if (has_queues(scenario))
    for (const std::string& name : queue_actor_names()) names.push_back(name);
  if (scenario.prometheus) add_those_of(On::kHealth, On::kHealth, names);
  if (has_budgets(scenario)) add_those_of(On::kUsage, On::kUsage, names);
  return names;
}

std::optional<Incident> act_of(std::string_view name, const std::string& node,
                               const sim::Store& store, const Settings& settings) {
  if (std::ranges::find(queue_actor_names(), name) != queue_actor_names().end())
    return queue_act_of(name, store);
  const Actor& actor = *std::ranges::find(actors(), name, &Actor::name);
  Incident incident;
  incident.verb = actor.verb;
  const CertificateKeeperOptions certificates;
  switch (actor.on) {
    case On::kNode:
    case On::kHealth:
      incident.target = actor.verb == "edit" ? "nodes/" + node : "node/" + node;
      break;
    case On::kAgentFile:
      incident.target =
          fmt::format("configmaps/{}/{}", settings.agents_namespace, settings.mig_config_map);
      break;
    case On::kLedger:
      incident.target =
          fmt::format("configmaps/{}/{}", settings.berth_namespace, names::kSlotsConfigMap);
      break;
    case On::kUsage:
      incident.target =
          fmt::format("configmaps/{}/{}", settings.berth_namespace, names::kUsageConfigMap);
      break;
    case On::kAuthority:
      incident.target =
          fmt::format("secrets/{}/{}", settings.berth_namespace, certificates.authority_secret);
      break;
    case On::kLeaf:
      incident.target =
          fmt::format("secrets/{}/{}", settings.berth_namespace, certificates.leaf_secret);
      break;
    case On::kMutating:
      incident.target = "mutatingwebhookconfigurations/" + certificates.configuration;
      break;
    case On::kValidating:
      incident.target = "validatingwebhookconfigurations/" + certificates.configuration;
      break;
  }
  if (!actor.patch.empty()) incident.args["patch"] = put_node(actor.patch, node);
  return incident;
}

std::vector<Incident> phase_acts(std::string_view act, const std::string& layout,
                                 const std::string& node) {
  if (act == "edit")
    return {edit_layout(layout, R"({"spec":{"devices":[{"profiles":{"3g.40gb":2}}]}})")};
  if (act == "pause") {
    Incident resume = edit_layout(layout, R"({"spec":{"rollout":{"paused":false}}})");
    resume.after = 3min;
    return {edit_layout(layout, R"({"spec":{"rollout":{"paused":true}}})"), resume};
  }
  Incident incident;
  incident.verb = act == "delete" ? "delete" : "recreate-node";
  incident.target = act == "delete" ? "miglayouts/" + layout : "node/" + node;
  return {incident};
}

}  // namespace berth::explore
