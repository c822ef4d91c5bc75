// SPDX-License-Identifier: Apache-2.0
// Writes the agents' file (agent_file.h) into its ConfigMap.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apis/names.h"
#include "apis/reasons.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/mig/agent_file.h"
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
    write.body = fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":{},"namespace":{},)"
        R"("labels":{{"{}":"berth"}},"annotations":{}}},"data":{}}})",
        quote_json(settings.mig_config_map), quote_json(settings.agents_namespace),
        names::kManagedByLabel, annotations, data);
    return write;
  }
  write.verb = Verb::kMergePatch;
  write.body = MergePatch::same_version(standing->meta)
                   .metadata("annotations", annotations)
                   .field("data", data)
                   .str();
  return write;
}

// A node that the cache does not show, or shows as it was, may name what is dropped: its agent
// would fail at its next start, and nobody has the content any more. Dropping is rare, and may
// wait.
Guard look_at_nodes(const ObjectRef& file, std::set<std::string> dropped) {
  Guard look;
  look.node = file;
  look.question = fmt::format("does no node name {}?", fmt::join(dropped, " or "));
  look.refuse_any =
      [dropped = std::move(dropped)](const std::vector<Node>& nodes) -> std::optional<std::string> {
    for (const Node& node : nodes)
      for (const std::string& name : configs_named_by(node))
        if (dropped.contains(name))
          return fmt::format("node {} names {}, and the cache is behind", node.meta.name, name);
    return std::nullopt;
  };
  return look;
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
  // Nobody asks for anything: the chart's empty file may stay empty until somebody does.
  if (snapshot.cluster.mig_layouts().size() == 0 && (old_file == nullptr || old_file->empty()))
    return plan;
  Result<AgentFile> file = compute_agent_file(snapshot);
  if (!file) {
    // What stands is kept: every node still finds its config there.
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
      plan.add(object, look_at_nodes(object, std::move(dropped)));
  plan.add(object, std::move(write));
  return plan;
}

}  // namespace berth
