// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/plan.h"

#include "controller/cmd/cluster_dump.h"
#include "controller/cmd/console.h"
#include "controller/cmd/manifest_files.h"
#include "controller/cmd/plan_simulate.h"
#include "controller/live/tz_database.h"
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

// The plan, then how it goes; as JSON how it goes alone.
int carry_out(const PlanFlags& flags, std::string snapshot, const ManifestFiles& files,
              const Projection& projection) {
  PlannedRun planned{.snapshot = std::move(snapshot), .settings = flags.settings};
  for (const LayoutInFile& layout : files.layouts)
    planned.manifests.push_back(layout.document.json);
  const Result<PlannedEnd> end = simulate_plan(planned, flags.output);
  if (!end) return fail(end.error());
  if (flags.output == "text") put(print_text(projection));
  put(end->text);
  if (!end->settled) return kError;
  return projection.changes() ? kChanges : kNothingToDo;
}

}  // namespace

FlagTable plan_flags(PlanFlags& flags) {
  FlagTable table = {
      manifest_flag(flags.files, "manifest to be applied"),
      file_flag("--snapshot", flags.snapshot,
                "plan against this file, as `berth snapshot` wrote it, instead of a live cluster"),
      choice_flag("-o,--output", flags.output, {"text", "json", "yaml"}, "how the plan is written"),
      switch_flag("--simulate", flags.simulate,
                  "carry the plan out on a simulated copy of the cluster, and tell how long each "
                  "node is out"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) table.push_back(std::move(flag));
  return table;
}

int run_plan(const PlanFlags& flags) {
  if (flags.simulate && flags.output == "yaml")
    return fail(invalid_spec("-o", "yaml is not written with --simulate; text and json are"));
  Result<ManifestFiles> files = read_manifests(flags.files);
  if (!files) return fail(files.error());
  for (const Finding& note : files->skipped) complain("note: " + format(note));
  for (const Finding& finding : files->findings) complain(format(finding));
  if (!files->findings.empty()) return kError;

  Result<ClusterDump> cluster = read_cluster(flags.snapshot, flags.connection, flags.settings);
  if (!cluster) return fail(cluster.error());
  const Dump& dump = cluster->dump;
  Given given;
  for (const LayoutInFile& layout : files->layouts) given.layouts.push_back(layout.layout);
  for (const PolicyInFile& policy : files->policies) given.policies.push_back(policy.policy);
  const TzDatabase zones;
  const Projection projection = project(dump.cluster, given, flags.settings, dump.taken_at, zones);
  if (flags.simulate && projection.policy)
    complain("note: --simulate carries out layouts alone, without the GPUClusterPolicy");
  if (flags.simulate && !projection.invalid_spec())
    return carry_out(flags, std::move(cluster->text), *files, projection);
  put(print(projection, flags.output));
  if (projection.invalid_spec()) return kError;
  return projection.changes() ? kChanges : kNothingToDo;
}

}  // namespace berth
