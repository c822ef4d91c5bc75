// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/simulate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "apis/base/time.h"
#include "controller/cmd/commands/page_host.h"
#include "controller/cmd/commands/story_recorder.h"
#include "controller/cmd/input/input_text.h"
#include "controller/cmd/line/console.h"
#include "controller/live/tz_database.h"
#include "controller/page/page.h"
#include "controller/scenario/report_json.h"
#include "controller/scenario/scenario.h"

namespace berth {
namespace {

constexpr int kAsExpected = 0;
constexpr int kNotSo = 1;

int fail(const Error& error) { return complain("berth simulate", error); }

Result<Scenario> read_scenario(const std::string& file) {
  if (file.empty()) return invalid_spec("-f", "name the scenario to play");
  const Result<std::string> text = read_text(file);
  if (!text) return text.error();
  return parse_scenario(*text, shown_path(file));
}

void print_head(const Scenario& scenario, int seed) {
  if (!scenario.name.empty()) put_line(fmt::format("{} (seed {})", scenario.name, seed));
  if (!scenario.description.empty()) put(scenario.description + "\n");
  put("\n");
}

// The real duration is not part of the transcript, which is always the same.
void print_end(const RunReport& report, std::chrono::steady_clock::time_point begun) {
  put("\n" + print_text(report.end, report.outs) + "\n");
  const std::string how = report.unsettled.empty() ? "Ended as expected"
                                                   : "Did not end as expected: " + report.unsettled;
  const auto simulated = std::chrono::round<std::chrono::seconds>(report.elapsed);
  put_line(fmt::format("{}, {} of simulated time.", how, format_duration_short(simulated)));
  std::fflush(stdout);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  complain(fmt::format("It took {:.2f} s of real time: {:.0f} simulated seconds to one.",
                       took.count(), std::chrono::duration<double>(report.elapsed) / took));
}

}  // namespace

FlagTable simulate_flags(SimulateFlags& flags) {
  return {
      file_flag("-f,--filename", flags.file,
                "the scenario: a YAML file as docs/simulation.md describes it, or - for standard "
                "input"),
      count_flag("--seed", flags.seed,
                 "decides what the scenario leaves open: how long each request takes, where a pod "
                 "lands; the same seed tells the same story"),
      choice_flag("-o,--output", flags.output, {"text", "json", "html"},
                  "how the story is written; html: as a page that plays it, in one file"),
      switch_flag("--ui", flags.ui, "then show it in a browser on this machine, until Ctrl-C"),
      port_flag(flags.port),
  };
}

int run_simulate(const SimulateFlags& flags) {
  if (const Result<void> valid = validate_port(flags.port); !valid) return fail(valid.error());
  if (flags.ui && flags.output != "text")
    return fail(invalid_spec("-o", "goes without --ui: the page is shown, and written nowhere"));
  Result<Scenario> scenario = read_scenario(flags.file);
  if (!scenario) return fail(scenario.error());
  const TzDatabase zones;
  scenario->zones = &zones;
  const bool text = flags.output == "text";
  const auto begun = std::chrono::steady_clock::now();
  if (text) print_head(*scenario, flags.seed);

  const auto seed = static_cast<std::uint64_t>(flags.seed);
  const bool shown = flags.ui || flags.output == "html";
  StoryRecorder recorder(*scenario, scenario->name.empty() ? "A story" : scenario->name);
  const RunReport report = play_scenario(
      *scenario, seed,
      [&](const TranscriptEntry& entry) {
        if (text) put_line(format(entry));
        if (shown) recorder.hear(entry);
      },
      shown ? [&](ScenarioRun& run) { recorder.follow(run); }
            : std::function<void(ScenarioRun&)>());
  if (text)
    print_end(report, begun);
  else if (flags.output == "json")
    put(print_json(report));
  const std::string story = shown ? recorder.print() : std::string();
  if (flags.output == "html") put(print_page(story));
  if (flags.ui && show_page("berth simulate", story, flags.port) != kAsExpected) return kNotSo;
  return report.unsettled.empty() ? kAsExpected : kNotSo;
}

}  // namespace berth
