// SPDX-License-Identifier: Apache-2.0
// Disturber: applies a schedule to a run. It hooks into the connections of every process of berth,
// counts requests and frames, and injects the scheduled faults.
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

// The scenario at its start under the schedule: more replicas, users who wait for a phase.
Scenario prepare(Scenario scenario, const Schedule& schedule, const std::string& layout);

class Disturber {
 public:
  struct Hooks {
    std::function<void(const std::string& user, const HttpRequest&)> on_request;
    // Called when a counter increases, before any fault: a different schedule from here on, if any.
    std::function<std::optional<Schedule>(std::string_view counter, int number)> branch;
    std::function<void(const std::string& what)> tell;  // for the transcript
    std::function<void()> delays;                       // requests and frames are late from now on
    std::function<bool()> at_rest;                      // nothing has changed for a while
  };
  Disturber(ScenarioRun& run, const Scenario& scenario, const Schedule& schedule, Hooks hooks);

  // The counts so far.
  const Footprint& footprint() const { return footprint_; }
  // Whether a scheduled follow-up is open: a thaw, or a request that arrives late.
  bool pending() const { return pending_ > 0; }
  // How long a single write was delayed, while everything else is on time.
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
  void restore(int write);
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
  std::map<const HttpRequest*, int> under_way_;  // writes, with their number
  int pending_ = 0;
  std::chrono::nanoseconds held_up_{0};
  int looks_ = 0;                   // reads of certificates since the last write
  int notes_ = 0;                   // writes of used GPU hours
  int strikes_left_ = 0;            // faults left in a random schedule
  BerthProcess* doomed_ = nullptr;  // dies at its next step
  std::map<BerthProcess*, std::pair<int, std::chrono::nanoseconds>> stale_;  // late from here
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace berth::explore
