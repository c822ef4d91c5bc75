// SPDX-License-Identifier: Apache-2.0
// Disturber: carries a schedule out on a run. It sits in the wires' hooks of every process of
// berth's, counts what passes, and strikes where the schedule says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/scenario/scenario_run.h"
#include "controller/sim/world/random.h"
#include "tests/explore/schedule.h"

namespace berth::explore {

// The scenario as the schedule wants it to begin: more replicas, people who wait for a phase.
Scenario prepare(Scenario scenario, const Schedule& schedule, const std::string& layout);

class Disturber {
 public:
  struct Hooks {
    std::function<void(const std::string& user, const HttpRequest&)> on_request;
    // Asked as a counter moves on, before anything strikes: the schedule from here on, if another.
    std::function<std::optional<Schedule>(std::string_view counter, int number)> branch;
    std::function<void(const std::string& what)> tell;  // for the transcript
    std::function<void()> delays;                       // what goes to and fro is late from now on
    std::function<bool()> at_rest;                      // nothing has moved for a while
  };
  Disturber(ScenarioRun& run, const Scenario& scenario, const Schedule& schedule, Hooks hooks);

  // What passed so far.
  const Footprint& footprint() const { return footprint_; }
  // Something is still to happen by itself: a thaw, a request that lands late.
  bool pending() const { return pending_ > 0; }
  // For how long a single write was on its way, while everything else comes in time.
  std::chrono::nanoseconds held_up() const { return held_up_; }

 private:
  sim::ExchangeFault on_request(BerthProcess& berth, const HttpRequest& request);
  sim::ExchangeFault on_write(BerthProcess& berth, const HttpRequest& request, const Fault& fault);
  sim::ReviewFault on_review();
  sim::ReviewFault strike_review(const std::string& how);
  sim::ExchangeFault hold_up(std::chrono::nanoseconds delay);
  sim::ExchangeFault at_random(BerthProcess& berth, bool is_write);
  void on_applied(BerthProcess& berth, const HttpRequest& request);
  void on_reply(BerthProcess& berth, const HttpRequest& request);
  sim::FrameFault on_frame(BerthProcess& berth, const sim::Change& change);
  sim::FrameFault coalesce(BerthProcess& berth, const sim::Change& change);

  void later(std::chrono::nanoseconds delay, std::function<void()> what);
  void kill_soon(BerthProcess& berth, std::chrono::nanoseconds delay);
  void freeze(BerthProcess& berth, std::chrono::nanoseconds span);
  void act(const std::string& actor, const std::string& target);
  void tell(const std::string& what);
  void delay();
  void reach(std::string_view counter, int number);

  ScenarioRun& run_;
  const Settings settings_;
  Schedule schedule_;
  const Hooks hooks_;
  sim::Random random_;
  std::vector<std::string> nodes_;
  const std::vector<std::string> actors_;
  Footprint footprint_;
  std::map<const HttpRequest*, int> under_way_;  // writes, by their number
  int pending_ = 0;
  std::chrono::nanoseconds held_up_{0};
  int looks_ = 0;                   // at certificates, since a write
  int notes_ = 0;                   // of what is used
  int strikes_left_ = 0;            // of a random schedule
  BerthProcess* doomed_ = nullptr;  // ends at its next step
  std::map<BerthProcess*, std::pair<int, std::chrono::nanoseconds>> stale_;  // from this start on
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace berth::explore
