// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/disturber.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "tests/explore/actors.h"

namespace berth::explore {

using namespace std::chrono_literals;
using sim::ExchangeFate;
using sim::ExchangeFault;
using sim::FrameFate;
using sim::FrameFault;

namespace {

constexpr int kStrikes = 12;  // of a random schedule
// A leader loses its lease as soon, and another gets it as soon, as with the default of 2 s; what
// is left is one more try in ten seconds instead of four. Renewals are what a quiet time costs.
constexpr std::chrono::seconds kLeaseRetry{4};
// Once nothing happens any more each is answered so much later: what is asked of a quiet time is
// that nothing but the lease is written, not how often. Two replies and the wait between them must
// fit in the ten seconds.
constexpr std::chrono::milliseconds kLeaseReplyAtRest{2800};
// Of a timeline: after these, news may be late.
constexpr std::string_view kDelays[] = {"freeze", "break-watches", "lag",
                                        "stall",  "outage",        "restore"};

// The keeper of certificates reads four objects a minute; until something is written, the third
// look of two replicas is like their second.
constexpr int kLooks = 16;
bool looks_at_certificates(const HttpRequest& request) {
  return request.method == "GET" &&
         (request.target.find("/secrets/") != request.target.npos ||
          request.target.find("webhookconfigurations/") != request.target.npos);
}

// What queues have used, and what GPUs cost, is written down once a minute: after these, each is
// like the last.
constexpr int kNotes = 4;
bool notes_use(const HttpRequest& request) {
  return request.target.find(std::string("/configmaps/") + names::kUsageConfigMap) !=
             request.target.npos ||
         request.target.find(std::string("/configmaps/") + names::kCostsConfigMap) !=
             request.target.npos;
}

bool is_lease(const HttpRequest& request) { return request.lane == Lane::kLease; }

bool is_write(const HttpRequest& request) {
  return request.method != "GET" && !is_lease(request) &&
         request.target.find("dryRun=All") == std::string::npos &&
         !request.target.starts_with("/apis/events.k8s.io/");
}

std::chrono::nanoseconds span_of(const std::string& text) {
  const Result<Duration> span = parse_duration(text);
  return span ? std::chrono::nanoseconds(*span) : 20s;
}

ExchangeFault refuse(int code) {
  ExchangeFault fault{.fate = ExchangeFate::kRefused};
  fault.code = code;
  fault.retry_after_s = code == 429 || code == 503 ? 1 : 0;
  return fault;
}

}  // namespace

Scenario prepare(Scenario scenario, const Schedule& schedule, const std::string& layout) {
  scenario.lease.retry_period = kLeaseRetry;
  for (const Fault& fault : schedule.faults) {
    if (fault.kind == "berths") scenario.berths = fault.number();
    if (fault.kind != "phase") continue;
    const std::size_t slash = fault.where.find('/');
    const std::string node = fault.where.substr(0, slash);
    for (Incident incident : phase_acts(fault.how, layout, node)) {
      incident.when_phase = fault.where.substr(slash + 1);
      incident.args["node"] = node;
      scenario.timeline.push_back(std::move(incident));
    }
  }
  return scenario;
}

Disturber::Disturber(ScenarioRun& run, const Scenario& scenario, const Schedule& schedule,
                     Hooks hooks)
    : run_(run),
      settings_(scenario.settings),
      schedule_(schedule),
      hooks_(std::move(hooks)),
      random_(0),
      actors_(actors_in(scenario)) {
  for (const ScenarioNodes& group : scenario.nodes)
    for (std::string& name : node_names(group)) nodes_.push_back(std::move(name));
  for (const Fault& fault : schedule_.faults) {
    if (fault.kind != "random") continue;
    random_ = sim::Random(static_cast<std::uint64_t>(fault.number()));
    strikes_left_ = kStrikes;
  }
  const auto delays = [](const Incident& incident) {
    return std::ranges::find(kDelays, incident.verb) != std::end(kDelays);
  };
  if (std::ranges::any_of(scenario.timeline, delays)) delay();
  if (run_.admission() != nullptr)
    run_.admission()->hooks.on_review = [this](const std::string&, const sim::StoreKey&) {
      return on_review();
    };
  for (BerthProcess* each : run_.processes()) {
    BerthProcess& berth = *each;
    berth.faults.on_request = [this, &berth](const HttpRequest& request) {
      return on_request(berth, request);
    };
    berth.faults.on_applied = [this, &berth](const HttpRequest& request, int) {
      on_applied(berth, request);
    };
    berth.faults.on_reply = [this, &berth](const HttpRequest& request, int) {
      on_reply(berth, request);
    };
    berth.faults.on_frame = [this, &berth](const sim::Change& change) {
      return on_frame(berth, change);
    };
  }
}

void Disturber::tell(const std::string& what) {
  if (hooks_.tell) hooks_.tell(what);
}

void Disturber::delay() {
  if (hooks_.delays) hooks_.delays();
}

void Disturber::reach(std::string_view counter, int number) {
  std::optional<Schedule> other;
  if (hooks_.branch) other = hooks_.branch(counter, number);
  if (other) schedule_ = std::move(*other);
}

void Disturber::later(std::chrono::nanoseconds delay, std::function<void()> what) {
  ++pending_;
  run_.simulation().loop().call_after(delay,
                                      [this, here = std::weak_ptr(here_), what = std::move(what)] {
                                        if (here.expired()) return;
                                        --pending_;
                                        what();
                                      });
}

void Disturber::kill_soon(BerthProcess& berth, std::chrono::nanoseconds delay) {
  later(delay, [this, &berth] {
    tell("crash of " + berth.name());
    berth.kill();
  });
}

void Disturber::freeze(BerthProcess& berth, std::chrono::nanoseconds span) {
  delay();
  tell(fmt::format("{} stops for {} s", berth.name(), span / 1s));
  later(0ns, [&berth] { berth.freeze(); });
  later(span, [&berth] { berth.thaw(); });
}

// On the node that the write was about, else on the first.
void Disturber::act(const std::string& actor, const std::string& target) {
  std::string node = nodes_.front();
  for (const std::string& name : nodes_)
    if (target.find("/nodes/" + name + "?") != target.npos || target.ends_with("/nodes/" + name))
      node = name;
  later(0ns, [this, actor, node] {
    tell(fmt::format("actor {} on {}", actor, node));
    const auto incident = act_of(actor, node, run_.simulation().store(), settings_);
    if (incident) run_.play(*incident);
  });
}

ExchangeFault Disturber::on_request(BerthProcess& berth, const HttpRequest& request) {
  under_way_.erase(&request);  // of one that was never answered, and lay at the same address
  if (doomed_ == &berth && !is_lease(request)) {
    doomed_ = nullptr;
    tell("crash of " + berth.name() + " at its next step");
    berth.kill();
    return {};
  }
  if (hooks_.on_request) hooks_.on_request(berth.name(), request);
  if (const auto stale = stale_.find(&berth);
      stale != stale_.end() && berth.starts() > stale->second.first) {
    tell(fmt::format("{} sees the world late", berth.name()));
    delay();
    berth.wire().lag(stale->second.second);
    later(3min, [this, &berth, life = berth.starts()] {
      if (berth.running() && berth.starts() == life) berth.wire().lag(0ns);
    });
    stale_.erase(stale);
  }
  if (request.lane == Lane::kWatch) return {};
  const bool write = is_write(request);
  if (write) looks_ = 0;
  footprint_.requests.push_back(is_lease(request) ||
                                (looks_at_certificates(request) && ++looks_ > kLooks));
  const int number = static_cast<int>(footprint_.requests.size());
  if (write) footprint_.writes.push_back(notes_use(request) && ++notes_ > kNotes);
  const int writes = static_cast<int>(footprint_.writes.size());
  if (write) under_way_[&request] = writes;
  reach("request", number);
  if (write) reach("write", writes);
  for (const Fault& fault : schedule_.faults) {
    if (write && fault.number() == writes) {
      const ExchangeFault its = on_write(berth, request, fault);
      if (its.fate != ExchangeFate::kAnswered || its.delay > 0ns || !berth.running()) return its;
    }
    if (fault.kind == "request" && fault.number() == number) {
      tell(fmt::format("{} {} is refused: {}", request.method, request.target, fault.how));
      delay();
      return refuse(std::stoi(fault.how));
    }
  }
  if (strikes_left_ > 0) return at_random(berth, write);
  const bool at_rest = is_lease(request) && !pending() && hooks_.at_rest && hooks_.at_rest();
  return {.delay = at_rest ? kLeaseReplyAtRest : 0ms};
}

ExchangeFault Disturber::on_write(BerthProcess& berth, const HttpRequest& request,
                                  const Fault& fault) {
  if (fault.kind == "write") tell(fmt::format("write {}: {}", request.target, fault.how));
  if (fault.kind == "stale") {
    stale_[&berth] = {berth.starts(), span_of(fault.how)};
    kill_soon(berth, 1us);
  } else if (fault.kind == "freeze") {
    freeze(berth, span_of(fault.how));
  } else if (fault.kind == "stuck") {
    ExchangeFault stuck;
    stuck.delay = span_of(fault.how);
    freeze(berth, stuck.delay);
    return stuck;
  } else if (fault.kind == "write" && fault.how == "before") {
    berth.kill();
  } else if (fault.kind == "write" && fault.how == "unapplied") {
    return {.fate = ExchangeFate::kNotSent};
  } else if (fault.kind == "write" && fault.how == "reply-lost") {
    return {.fate = ExchangeFate::kReplyLost};
  } else if (fault.kind == "write" && fault.how == "late") {
    kill_soon(berth, 0ns);
    return hold_up(20s);  // by then another life has the lease
  } else if (fault.kind == "write" && fault.how == "late-alive") {
    return hold_up(7s);
  }
  return {};
}

ExchangeFault Disturber::hold_up(std::chrono::nanoseconds delay) {
  held_up_ = std::max(held_up_, delay);
  later(delay, [] {});
  ExchangeFault late{.fate = ExchangeFate::kAppliedLate};
  late.delay = delay;
  return late;
}

ExchangeFault Disturber::at_random(BerthProcess& berth, bool write) {
  if (!random_.one_in(write ? 4 : 16)) return {};
  --strikes_left_;
  const std::chrono::nanoseconds span = random_.between(10ms, 25s);
  tell("chance strikes " + berth.name());
  delay();
  switch (random_.below(8)) {
    case 0:
      berth.kill();
      return {};
    case 1:
      return {.fate = ExchangeFate::kNotSent};
    case 2:
      return {.fate = ExchangeFate::kReplyLost};
    case 3:
      if (random_.one_in(2)) kill_soon(berth, 0ns);
      return hold_up(span);
    case 4:
      freeze(berth, span);
      return {};
    case 5:
      kill_soon(berth, random_.between(0ns, 10ms));
      return {};
    case 6: {
      ExchangeFault slow;
      slow.delay = span;
      return slow;
    }
    default:
      return refuse(random_.one_in(2) ? 429 : 503);
  }
}

void Disturber::on_applied(BerthProcess& berth, const HttpRequest& request) {
  const auto found = under_way_.find(&request);
  if (found == under_way_.end()) return;
  for (const Fault& fault : schedule_.faults) {
    if (fault.number() != found->second) continue;
    if (fault.kind == "actor") act(fault.how, request.target);
    if (fault.kind == "write" && fault.how == "applied") berth.kill();
  }
  const bool actors = !schedule_.faults.empty() && schedule_.faults.back().how == "all";
  if (actors && strikes_left_ > 0 && random_.one_in(8)) {
    --strikes_left_;
    act(actors_[random_.below(actors_.size())], request.target);
  }
}

void Disturber::on_reply(BerthProcess& berth, const HttpRequest& request) {
  const auto found = under_way_.find(&request);
  if (found == under_way_.end()) return;
  const int number = found->second;
  under_way_.erase(found);
  for (const Fault& fault : schedule_.faults) {
    if (fault.kind != "write" || fault.number() != number) continue;
    // A moment later it has been heard, and what follows from it at once is done.
    if (fault.how == "after") kill_soon(berth, 1us);
    if (fault.how == "next-step") doomed_ = &berth;
  }
}

sim::ReviewFault Disturber::on_review() {
  const int number = ++footprint_.reviews;
  reach("review", number);
  for (const Fault& fault : schedule_.faults)
    if (fault.kind == "review" && fault.number() == number) return strike_review(fault.how);
  if (strikes_left_ <= 0 || !random_.one_in(6)) return {};
  --strikes_left_;
  return strike_review(review_fates()[random_.below(review_fates().size())]);
}

sim::ReviewFault Disturber::strike_review(const std::string& how) {
  tell("review: " + how);
  if (how == "crash" || how == "freeze") {
    for (BerthProcess* process : run_.processes())
      if (process->is_webhook()) how == "crash" ? kill_soon(*process, 0ns) : freeze(*process, 20s);
    return {};
  }
  return {.unreachable = how == "unreachable",
          .delay = how == "late"   ? 2s
                   : how == "slow" ? 4s
                                   : 0s,
          .asked_again = how == "doubled",
          .sent_again = how == "again"};
}

FrameFault Disturber::on_frame(BerthProcess& berth, const sim::Change& change) {
  const int number = ++footprint_.frames;
  reach("frame", number);
  for (const Fault& fault : schedule_.faults) {
    if (fault.kind != "frame" || fault.number() != number) continue;
    tell(fmt::format("frame of {}: {}", change.key.str(), fault.how));
    delay();
    if (fault.how == "lost") return {.fate = FrameFate::kLost};
    if (fault.how == "coalesced") return coalesce(berth, change);
    return {.fate = FrameFate::kDelayed, .delay = fault.how == "stale" ? 30s : 4s};
  }
  if (strikes_left_ <= 0 || !random_.one_in(24)) return {};
  --strikes_left_;
  delay();
  if (random_.one_in(2)) return {.fate = FrameFate::kLost};
  return {.fate = FrameFate::kDelayed, .delay = random_.between(10ms, 30s)};
}

// The frame is held back until the world has moved on; then all watches end, their history is gone,
// and only the latest of everything is seen.
FrameFault Disturber::coalesce(BerthProcess& berth, const sim::Change&) {
  later(5s, [this, &berth] {
    sim::Store& store = run_.simulation().store();
    store.compact(store.revision());
    if (berth.running()) berth.wire().end_watches();
  });
  return {.fate = FrameFate::kDelayed, .delay = 6s};
}

}  // namespace berth::explore
