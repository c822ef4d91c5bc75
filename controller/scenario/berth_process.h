// SPDX-License-Identifier: Apache-2.0
// BerthProcess: one replica of `berth controller` or `berth webhook` in a simulation: the real core
// and shell, on its own loop and wire. A test can kill it between any two of its steps, freeze it
// and restart it. Like a pod, it restarts when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controller/io/log.h"
#include "controller/runtime/controller_options.h"
#include "controller/sim/kube/simulation.h"
#include "controller/sim/nvidia/exporters.h"
#include "controller/sim/nvidia/prometheus.h"
#include "controller/sim/server/admission_webhooks.h"
#include "controller/sim/server/wire.h"

namespace berth {

struct BerthOptions {
  enum class Role { kController, kWebhook };
  Role role = Role::kController;
  Settings settings;
  const TimeZones* zones = &utc_only();  // must outlive the process
  // If set: it manages the webhook's certificates and checks them at this interval.
  std::optional<std::chrono::nanoseconds> certificates_check;
  // If set: a Prometheus exists at any address. It must outlive the process.
  sim::Prometheus* prometheus = nullptr;
  sim::Exporters* exporters = nullptr;  // with a Prometheus
  std::chrono::nanoseconds restart_after = std::chrono::seconds(2);
  LeaseOptions lease;         // each life sets its own identity
  bool keep_history = false;  // off, because its writes would be noise in most simulations
};

class BerthProcess {
 public:
  // `name` is the pod's name and the user of its API calls: "berth-0".
  BerthProcess(sim::Simulation& simulation, std::string name, BerthOptions options);
  ~BerthProcess();
  BerthProcess(const BerthProcess&) = delete;
  BerthProcess& operator=(const BerthProcess&) = delete;

  void start();
  // SIGKILL. Safe to call from any code of the process, in particular from its wire's hooks: no
  // request leaves it afterwards. A new life starts after `restart_after`.
  void kill();
  // SIGTERM: it shuts down in order and does not restart.
  void terminate();
  // SIGSTOP and SIGCONT: time passes while it is frozen.
  void freeze();
  void thaw();
  // Sets its machine's clock this far ahead of the cluster's, for this life and later ones.
  void set_clock(std::chrono::microseconds ahead);

  // For a webhook: sends a review by POST to "/mutate" or "/validate". It answers later; code 0:
  // the process is not running.
  void ask(const std::string& path, const std::string& review,
           const std::function<void(sim::WebhookAnswer)>& answer);

  const std::string& name() const { return name_; }
  bool is_webhook() const { return options_.role == BerthOptions::Role::kWebhook; }
  bool running() const { return life_ != nullptr; }
  bool frozen() const { return frozen_; }
  int starts() const { return starts_; }
  // The wire of the present life. Each new life's wire gets `faults`, which must outlive it.
  sim::Wire& wire();
  sim::WireFaults faults;
  // Gets each log line of the process, for the transcript; may be empty.
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
  bool wanted_ = false;  // restarts when it ends
  int starts_ = 0;
  std::chrono::microseconds clock_ahead_{0};
  // false once this object is destroyed
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace berth
