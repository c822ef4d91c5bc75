// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/plan.h"

#include <utility>

#include "controller/cmd/cluster/cluster_dump.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/commands/node_key_trial.h"
#include "controller/cmd/commands/page_host.h"
#include "controller/cmd/commands/plan_simulate.h"
#include "controller/cmd/commands/plan_workloads.h"
#include "controller/cmd/commands/planned_deletions.h"
#include "controller/cmd/input/manifest_files.h"
#include "controller/cmd/line/console.h"
#include "controller/live/tz_database.h"
#include "controller/page/page.h"
#include "controller/preview/json.h"
#include "controller/preview/project.h"
#include "controller/preview/text.h"
#include "controller/preview/yaml.h"

namespace berth {
namespace {

constexpr int kNothingToDo = 0;
constexpr int kError = 1;
constexpr int kChanges = 2;

int fail(const Error& error) { return complain("berth plan", error); }

std::string print(const Projection& projection, const std::string& format) {
  if (format == "json") return print_json(projection);
  if (format == "yaml") return print_yaml(projection);
  return print_text(projection);
}

bool as_page(const PlanFlags& flags) { return flags.ui || flags.output == "html"; }

// Prints the plan and then the simulation; as JSON and page only the simulation.
int carry_out(const PlanFlags& flags, std::string snapshot, const ManifestFiles& files,
              const Projection& projection) {
  PlannedRun planned{.snapshot = std::move(snapshot), .settings = flags.settings};
  for (const LayoutInFile& layout : files.layouts)
    planned.manifests.push_back(layout.document.json);
  const Result<PlannedEnd> end = simulate_plan(planned, as_page(flags) ? "page" : flags.output);
  if (!end) return fail(end.error());
  if (flags.output == "text") put(print_text(projection));
  if (flags.ui) {
    if (show_page("berth plan", end->text, flags.port) != 0) return kError;
  } else {
    put(as_page(flags) ? print_page(end->text) : end->text);
  }
  if (!end->settled) return kError;
  return projection.changes() ? kChanges : kNothingToDo;
}

// For a live cluster, asks the API server which labels and taints it lets the pools set. If it
// refuses some, projects again with that restriction.
Projection project_as_let(const PlanFlags& flags, const Dump& dump, const Given& given) {
  const TzDatabase zones;
  Settings settings = flags.settings;
  Projection projection = project(dump.cluster, given, settings, dump.taken_at, zones);
  if (!flags.snapshot.empty() || !projection.policy ||
      projection.policy->change == LayoutSummary::Change::kDeleted)
    return projection;
  const NodeKeyTrial trial =
      try_node_keys(flags.connection, settings, flags.account, dump.cluster, *projection.policy);
  for (const std::string& note : trial.notes) complain("note: " + note);
  if (!trial.refused) return projection;
  settings.node_keys = trial.keys;
  return project(dump.cluster, given, settings, dump.taken_at, zones);
}

// The namespace for Jobs and Pods without one; does not read the cluster if there are none.
Result<std::string> namespace_for(const PlanFlags& flags, const ManifestFiles& files) {
  if (files.workloads.empty() || !flags.snapshot.empty()) return std::string("default");
  return namespace_of(flags.connection);
}

Given given_by(const ManifestFiles& files, std::vector<GivenWorkload> workloads,
               std::vector<ObjectRef> deletions) {
  Given given;
  given.deletions = std::move(deletions);
  for (const LayoutInFile& layout : files.layouts) given.layouts.push_back(layout.layout);
  for (const PolicyInFile& policy : files.policies) given.policies.push_back(policy.policy);
  for (const QueueInFile& queue : files.queues) given.queues.push_back(queue.queue);
  given.workloads = std::move(workloads);
  return given;
}

}  // namespace

FlagTable plan_flags(PlanFlags& flags) {
  FlagTable table = {
      manifest_flag(flags.files,
                    "manifest to be applied: berth's kinds, and Jobs and Pods for queues"),
      list_flag("--delete", flags.deletions,
                "object to be deleted, KIND/NAME: a miglayout, gpuclusterpolicy or gpuqueue; "
                "repeatable"),
      file_flag("--snapshot", flags.snapshot,
                "plan against this file, as `berth snapshot` wrote it, instead of a live cluster"),
      choice_flag("-o,--output", flags.output, {"text", "json", "yaml", "html"},
                  "how the plan is written; html: as a page that plays it, in one file"),
      switch_flag("--simulate", flags.simulate,
                  "carry the plan out on a simulated copy of the cluster, and report how long each "
                  "node is unavailable"),
      switch_flag("--ui", flags.ui, "the same, shown in a browser on this machine, until Ctrl-C"),
      port_flag(flags.port),
      text_flag("--controller-account", flags.account,
                "the controller's ServiceAccount; the plan tries the pools' labels and taints on "
                "nodes in its name, as a dry run; empty: it does not"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) table.push_back(std::move(flag));
  return table;
}

int run_plan(const PlanFlags& flags) {
  if (flags.simulate && flags.output == "yaml")
    return fail(invalid_spec("-o", "--simulate can't write yaml; use text, json or html"));
  if (flags.ui && flags.output != "text")
    return fail(invalid_spec("-o", "goes without --ui: the page is shown, and written nowhere"));
  if ((flags.simulate || as_page(flags)) && !flags.deletions.empty())
    return fail(invalid_spec("--delete", "the simulation carries out files alone; use -o text"));
  if (const Result<void> valid = validate_port(flags.port); !valid) return fail(valid.error());
  const bool simulate = flags.simulate || as_page(flags);
  Result<ManifestFiles> files = read_manifests(flags.files, Workloads::kTake);
  if (!files) return fail(files.error());
  for (const Finding& note : files->skipped) complain("note: " + format(note));
  for (const Finding& finding : files->findings) complain(format(finding));
  if (!files->findings.empty()) return kError;
  const Result<std::string> namespace_ = namespace_for(flags, *files);
  if (!namespace_) return fail(namespace_.error());

  Result<ClusterDump> cluster =
      read_cluster(flags.snapshot, flags.connection, {.settings = flags.settings});
  if (!cluster) return fail(cluster.error());
  const Dump& dump = cluster->dump;
  PlannedWorkloads planned = plan_workloads(files->workloads, dump.cluster, *namespace_);
  for (const Finding& note : planned.notes) complain("note: " + format(note));
  for (const Finding& finding : planned.findings) complain(format(finding));
  if (!planned.findings.empty()) return kError;
  Result<std::vector<ObjectRef>> deletions = read_deletions(flags.deletions, dump.cluster);
  if (!deletions) return fail(deletions.error());
  const Projection projection = project_as_let(
      flags, dump, given_by(*files, std::move(planned.workloads), std::move(*deletions)));
  if (as_page(flags) && projection.queues_alone)
    return fail(invalid_spec(flags.ui ? "--ui" : "-o",
                             "a page plays how nodes are cut anew, and these files cut none; use "
                             "-o text"));
  if (simulate && projection.policy)
    complain("note: the simulation carries out MIGLayouts only, not the GPUClusterPolicy");
  if (simulate && projection.queues)
    complain("note: the simulation carries out MIGLayouts only, and admits nobody");
  if (simulate && !projection.queues_alone && !projection.invalid_spec())
    return carry_out(flags, std::move(cluster->text), *files, projection);
  put(print(projection, flags.output));
  if (projection.invalid_spec()) return kError;
  return projection.changes() ? kChanges : kNothingToDo;
}

}  // namespace berth
