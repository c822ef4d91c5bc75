// SPDX-License-Identifier: Apache-2.0
// Writes the mig-managers' file (agent_file.h) into its ConfigMap.
#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/mig/agent_file.h"
#include "controller/mig/dropped_config.h"
#include "controller/mig/preflight.h"
#include "controller/mig/reconcile.h"

namespace berth {
namespace {

Write write_file(const Snapshot& snapshot, const ConfigMap* standing, const std::string& file) {
  const Settings& settings = snapshot.settings;
  Write write;
  write.object = agent_config_ref(snapshot);
  write.field_manager = names::kManagerMig;
  write.reason = "render the MIGLayouts into the agents' file";
  const std::string data = fmt::format(R"({{"{}":{}}})", names::kMigPartedKey, quote_json(file));
  const std::string annotations =
      fmt::format(R"({{"{}":"{}"}})", kRenderedAtAnnotation, format_micro_time(snapshot.now));
  if (standing == nullptr) {
    write.verb = Verb::kCreate;
    // No label app.kubernetes.io/managed-by: Helm would refuse the ConfigMap if the chart is
    // installed later.
    write.body = fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":{},"namespace":{},)"
        R"("annotations":{}}},"data":{}}})",
        quote_json(settings.mig_config_map), quote_json(settings.agents_namespace), annotations,
        data);
    return write;
  }
  write.verb = Verb::kMergePatch;
  write.body = MergePatch::same_version(standing->meta)
                   .metadata("annotations", annotations)
                   .field("data", data)
                   .str();
  return write;
}

void warn(Plan& plan, ObjectRef object, std::string why) {
  plan.events.push_back(
      {std::move(object), true, reasons::kAgentConfigTooLarge, "Render", std::move(why)});
}

}  // namespace

Plan reconcile_agent_config(const Snapshot& snapshot) {
  Plan plan;
  const ConfigMap* standing = find_agent_config(snapshot);
  const std::string* old_file = agent_file_of(standing);
  // No layout asks for anything, so the chart's empty file may stay empty.
  if (snapshot.cluster.mig_layouts().size() == 0 && (old_file == nullptr || old_file->empty()))
    return plan;
  Result<AgentFile> file = compute_agent_file(snapshot);
  if (!file) {
    // The current file stays, because every node still finds its config there.
    warn(plan, agent_config_ref(snapshot), describe(file.error()));
    return plan;
  }
  for (const AgentFile::LeftOut& left_out : file->left_out)
    warn(plan, ref_of(*left_out.layout), left_out.why);
  if (old_file != nullptr && *old_file == file->text) return plan;
  Write write = write_file(snapshot, standing, file->text);
  const ObjectRef object = write.object;
  if (old_file != nullptr && !snapshot.offline)
    if (std::set<std::string> dropped = configs_dropped(*old_file, file->text); !dropped.empty())
      plan.add(object, nobody_names(object, std::move(dropped),
                                    [](const Node& node) { return configs_named_by(node); }));
  plan.add(object, std::move(write));
  return plan;
}

}  // namespace berth
