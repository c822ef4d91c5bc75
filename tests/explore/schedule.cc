// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>

#include "tests/explore/actors.h"

namespace berth::explore {
namespace {

using Words = std::vector<std::string>;

const Words kWriteFates{"before", "unapplied", "applied", "reply-lost",
                        "after",  "next-step", "late",    "late-alive"};
const Words kRequestFates{"429", "500", "503", "504"};
const Words kFrameFates{"lost", "delayed", "stale", "coalesced"};
const Words kReviewFates{"unreachable", "late", "slow", "doubled", "crash", "freeze", "again"};
const Words kPhaseActs{"edit", "pause", "delete", "recreate"};
// For recurring requests that are equal to the previous one, such as renewals of the Lease.
constexpr int kLikeRequests = 6;

// The words that may follow a kind; an empty list: any.
const std::map<std::string, Words>& kinds() {
  static const std::map<std::string, Words> kinds{
      {"write", kWriteFates},
      {"request", kRequestFates},
      {"frame", kFrameFates},
      {"phase", kPhaseActs},
      {"review", kReviewFates},
      {"actor", actor_names()},
      {"stale", {}},
      {"freeze", {}},
      {"stuck", {}},
      {"berths", {}},
      {"random", {"net", "all"}},
  };
  return kinds;
}

Result<Fault> parse_fault(const std::string& text) {
  Fault fault;
  const std::size_t first = text.find(':');
  const std::size_t last = text.find(':', first == text.npos ? first : first + 1);
  fault.kind = text.substr(0, first);
  if (first != text.npos) fault.where = text.substr(first + 1, last - first - 1);
  if (last != text.npos) fault.how = text.substr(last + 1);
  const auto known = kinds().find(fault.kind);
  if (known == kinds().end())
    return invalid_spec("--schedule", fmt::format("{} is no kind of fault; see schedule.h", text));
  const Words& hows = known->second;
  if (!hows.empty() && std::ranges::find(hows, fault.how) == hows.end())
    return invalid_spec("--schedule",
                        fmt::format("{}: write one of {}", text, fmt::join(hows, ", ")));
  if (fault.kind != "phase" && fault.number() <= 0)
    return invalid_spec("--schedule", fmt::format("{}: needs a number from 1", text));
  return fault;
}

Kind at_each(const std::string& name, const std::vector<bool>& alike, const Words& hows,
             const std::string& prefix = "") {
  Kind kind{.name = name, .schedules = {}};
  for (std::size_t i = 0; i < alike.size(); ++i)
    for (const std::string& how : hows)
      if (!alike[i]) kind.schedules.push_back(fmt::format("{}{}:{}:{}", prefix, name, i + 1, how));
  return kind;
}

std::vector<bool> each_of(int count) { return std::vector<bool>(static_cast<std::size_t>(count)); }

}  // namespace

int Fault::number() const {
  int number = 0;
  const auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), number);
  return error == std::errc() && end == where.data() + where.size() ? number : 0;
}

std::string_view Fault::counter() const {
  constexpr std::string_view kOfWrites[] = {"write", "actor", "stale", "freeze", "stuck"};
  if (std::ranges::find(kOfWrites, kind) != std::end(kOfWrites)) return "write";
  if (kind == "request" || kind == "frame" || kind == "review") return kind;
  return "";
}

const std::vector<std::string>& review_fates() { return kReviewFates; }

Schedule Schedule::beginning() const {
  Schedule common;
  for (const Fault& fault : faults) {
    if (!fault.counter().empty()) continue;
    common.faults.push_back(fault);
    if (!common.text.empty()) common.text += ",";
    common.text += fault.kind + ":" + fault.where;
    if (!fault.how.empty()) common.text += ":" + fault.how;
  }
  return common;
}

bool Schedule::ends_as_expected(const Scenario& scenario) const {
  // Without the layout no node reaches the phase that the timeline waits for, and a new node does
  // not need a drain.
  const bool waits = std::ranges::any_of(
      scenario.timeline, [](const Incident& incident) { return !incident.when_phase.empty(); });
  // A user's marks on a node are there again when the node is re-created.
  const bool marked = std::ranges::any_of(
      scenario.nodes, [](const ScenarioNodes& group) { return !group.like.annotations.empty(); });
  return std::ranges::none_of(faults, [&](const Fault& fault) {
    if (fault.kind == "actor") return true;
    if (fault.kind == "random") return fault.how == "all";
    if (fault.kind != "phase") return false;
    if (fault.how == "recreate" && (waits || marked)) return true;
    return !scenario.expect.empty() || (waits && fault.how == "delete");
  });
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  schedule.text = text;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    Result<Fault> fault = parse_fault(std::string(text.substr(0, comma)));
    if (!fault) return fault.error();
    schedule.faults.push_back(std::move(fault).value());
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return schedule;
}

std::vector<Kind> enumerate_schedules(const Scenario& scenario, const Footprint& footprint) {
  std::vector<Kind> kinds;
  kinds.push_back(at_each("write", footprint.writes, kWriteFates));
  kinds.push_back(at_each("frame", each_of(footprint.frames), kFrameFates));
  kinds.push_back(at_each("review", each_of(footprint.reviews), kReviewFates));
  Kind requests{.name = "request", .schedules = {}};
  int alike = 0;
  for (std::size_t i = 0; i < footprint.requests.size(); ++i) {
    if (footprint.requests[i] && ++alike > kLikeRequests) continue;
    for (const std::string& code : kRequestFates)
      requests.schedules.push_back(fmt::format("request:{}:{}", i + 1, code));
  }
  kinds.push_back(std::move(requests));
  Kind phases{.name = "phase", .schedules = {}};
  for (const std::string& phase : footprint.phases)
    for (const std::string& act : kPhaseActs)
      phases.schedules.push_back(fmt::format("phase:{}:{}", phase, act));
  kinds.push_back(std::move(phases));
  kinds.push_back(at_each("actor", footprint.writes, actors_in(scenario)));
  kinds.push_back(at_each("stale", footprint.writes, {"10s", "40s"}));
  Kind leaders{.name = "leaders", .schedules = {}};
  for (const char* replicas : {"berths:2,", "berths:3,"}) {
    if (scenario.berths > 1 && replicas[7] == '2') continue;
    for (const Kind& kind : {at_each("freeze", footprint.writes, {"8s", "20s"}, replicas),
                             at_each("stuck", footprint.writes, {"20s"}, replicas)})
      leaders.schedules.insert(leaders.schedules.end(), kind.schedules.begin(),
                               kind.schedules.end());
  }
  kinds.push_back(std::move(leaders));
  return kinds;
}

}  // namespace berth::explore
