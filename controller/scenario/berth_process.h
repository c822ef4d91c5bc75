// SPDX-License-Identifier: Apache-2.0
// BerthProcess: one replica of `berth controller` or `berth webhook` inside a simulation: the real
// core and shell, on a loop and a wire of its own. It can be killed between any two things it does,
// frozen, and started anew; like a pod, it comes back when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controller/io/log.h"
#include "controller/runtime/controller_options.h"
#include "controller/sim/admission_webhooks.h"
#include "controller/sim/exporters.h"
#include "controller/sim/prometheus.h"
#include "controller/sim/simulation.h"
#include "controller/sim/wire.h"

namespace berth {

struct BerthOptions {
  enum class Role { kController, kWebhook };
  Role role = Role::kController;
  Settings settings;
  const TimeZones* zones = &utc_only();  // outlives the process
  // Set: it keeps the webhook's certificates, and looks at them so often.
  std::optional<std::chrono::nanoseconds> certificates_check;
  // Set: there is one, whatever its address. It outlives the process.
  sim::Prometheus* prometheus = nullptr;
  sim::Exporters* exporters = nullptr;  // with a Prometheus
  std::chrono::nanoseconds restart_after = std::chrono::seconds(2);
  LeaseOptions lease;         // each life says whose it is
  bool keep_history = false;  // its writes would be noise in what most simulations look at
};

class BerthProcess {
 public:
  // `name` is the pod's and the user the API server knows it by: "berth-0".
  BerthProcess(sim::Simulation& simulation, std::string name, BerthOptions options);
  ~BerthProcess();
  BerthProcess(const BerthProcess&) = delete;
  BerthProcess& operator=(const BerthProcess&) = delete;

  void start();
  // SIGKILL. Safe from within anything the process does, its wire's hooks above all: nothing leaves
  // it any more. A new one starts after `restart_after`.
  void kill();
  // SIGTERM: it ends in order, and is not started again.
  void terminate();
  // SIGSTOP and SIGCONT: time goes by without it.
  void freeze();
  void thaw();
  // The clock of its machine, from now on, in whatever life: so far ahead of the cluster's.
  void set_clock(std::chrono::microseconds ahead);

  // Of a webhook: a review by POST to "/mutate" or "/validate". It answers in its own time, as long
  // as it lives; code 0: it does not.
  void ask(const std::string& path, const std::string& review,
           const std::function<void(sim::WebhookAnswer)>& answer);

  const std::string& name() const { return name_; }
  bool is_webhook() const { return options_.role == BerthOptions::Role::kWebhook; }
  bool running() const { return life_ != nullptr; }
  bool frozen() const { return frozen_; }
  int starts() const { return starts_; }
  // Of the life that runs; each new life's wire gets `faults`, which outlive it.
  sim::Wire& wire();
  sim::WireFaults faults;
  // A log line of the process, for the transcript; may be empty.
  std::function<void(LogLevel, const std::string& line)> on_log;

 private:
  struct Life;  // from start to end: loop, wire, clients
  struct ControllerLife;
  struct WebhookLife;
  std::shared_ptr<Life> new_life();
  void leave();
  static void unwind(Life& life);

  sim::Simulation& simulation_;
  const std::string name_;
  const BerthOptions options_;
  sim::Random random_;
  std::shared_ptr<Life> life_;
  bool frozen_ = false;
  bool wanted_ = false;  // is started again when it ends
  int starts_ = 0;
  std::chrono::microseconds clock_ahead_{0};
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // false once this is gone
};

}  // namespace berth
