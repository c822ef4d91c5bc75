// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/plan_simulate.h"

#include <fmt/format.h>

#include "apis/base/printable.h"
#include "apis/base/time.h"
#include "controller/cmd/commands/story_recorder.h"
#include "controller/live/tz_database.h"
#include "controller/scenario/cluster_copy.h"
#include "controller/scenario/report_json.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

std::string shown(std::chrono::nanoseconds span) {
  return format_duration_short(std::chrono::round<std::chrono::seconds>(span));
}

// Each time that a node is out of service, and the sums.
std::string print_times(const std::vector<NodeOut>& outs) {
  if (outs.empty()) return "No node changes.\n";
  std::vector<std::vector<std::string>> rows{
      {"NODE", "TAKEN AFTER", "DRAIN", "AGENT", "VERIFY", "OUT FOR", "END"}};
  NodeOut sum;
  for (const NodeOut& out : outs) {
    rows.push_back({out.node, shown(out.taken), shown(out.drain), shown(out.agent),
                    shown(out.verify), shown(out.total()), to_string(out.end)});
    sum.drain += out.drain;
    sum.agent += out.agent;
    sum.verify += out.verify;
  }
  rows.push_back({"in sum", "", shown(sum.drain), shown(sum.agent), shown(sum.verify),
                  shown(sum.total()), ""});
  return table(rows, 2) +
         fmt::format("\nFrom the first cordon to the last return: {}.\n", shown(wall_of(outs)));
}

std::string print_assumptions(const Scenario& scenario) {
  return fmt::format(
      "Assumed: mig-manager repartitions a node in {} and sees a new file within {}, a pod is "
      "gone "
      "in {},\npods run until they are evicted, and nobody interferes.\n",
      shown(scenario.agents.apply_time), shown(scenario.agents.config_map_delay),
      shown(scenario.kube.pod_stop));
}

std::string print_text(const Scenario& scenario, const RunReport& report) {
  std::string text = "\nCarried out on a simulated copy of the cluster\n";
  text += print_times(report.outs);
  text += print_assumptions(scenario);
  text += "\n" + print_text(report.end, report.outs);
  if (!report.unsettled.empty())
    text += "\nIt does not finish: " + printable(report.unsettled) + "\n";
  return text;
}

}  // namespace

Result<PlannedEnd> simulate_plan(const PlannedRun& planned, const std::string& format) {
  Result<Scenario> scenario =
      copy_of_cluster(planned.snapshot, planned.settings, planned.manifests);
  if (!scenario) return std::move(scenario).error();
  const TzDatabase zones;
  scenario->zones = &zones;
  scenario->name = "plan";
  scenario->limit = 14 * 24h;
  // longer than berth's default waits, except for pods that must end by themselves
  scenario->patience = 1h;

  const auto seed = static_cast<std::uint64_t>(planned.seed);
  if (format == "page") {
    StoryRecorder recorder(*scenario, "The plan, carried out on a simulated copy of the cluster");
    const RunReport report = play_scenario(
        *scenario, seed, [&](const TranscriptEntry& entry) { recorder.hear(entry); },
        [&](ScenarioRun& run) { recorder.follow(run); });
    return PlannedEnd{.text = recorder.print(), .settled = report.unsettled.empty()};
  }
  const RunReport report = play_scenario(*scenario, seed, nullptr);
  return PlannedEnd{.text = format == "json" ? print_json(report) : print_text(*scenario, report),
                    .settled = report.unsettled.empty()};
}

}  // namespace berth
