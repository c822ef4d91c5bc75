// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/berth_process.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "controller/client/api_client.h"
#include "controller/io/task.h"
#include "controller/reconcilers/reconcilers.h"
#include "controller/runtime/controller.h"
#include "controller/runtime/required_apis.h"
#include "controller/sim/virtual_loop.h"

namespace berth {
namespace {

class ProcessLog : public Log {
 public:
  explicit ProcessLog(const std::function<void(LogLevel, const std::string&)>& on_line)
      : on_line_(on_line) {}
  void write(LogLevel level, std::string_view message,
             std::initializer_list<Field> fields) override {
    if (!on_line_) return;
    std::string line(message);
    for (const auto& [key, value] : fields) line += fmt::format(" {}={}", key, value);
    on_line_(level, line);
  }

 private:
  const std::function<void(LogLevel, const std::string&)>& on_line_;
};

constexpr char kVersion[] = "simulated";

}  // namespace

struct BerthProcess::Life {
  Life(BerthProcess& owner, ControllerOptions options)
      : loop(owner.simulation_.clock()),
        wire(loop, owner.simulation_.loop(), owner.simulation_.server(), owner.name_,
             owner.random_.fork()),
        log(owner.on_log),
        client(loop, wire, log, {.version = kVersion, .component = "controller"}),
        lease_client(loop, wire, log, {.version = kVersion, .component = "leader-election"}),
        metrics(kVersion),
        controller(Controller::World{client, lease_client, log, metrics, nullptr},
                   reconcilers(options.settings), options),
        limit(options.sync_limit) {}

  // What `berth controller` does between its flags and its exit code.
  Task<void> run() {
    const bool served =
        co_await wait_for_apis(client, log, required_apis(true, true), limit, stop.get_token());
    if (served && !stop.stop_requested()) co_await controller.run(stop.get_token());
  }

  sim::VirtualLoop loop;
  sim::Wire wire;
  ProcessLog log;
  ApiClient client;
  ApiClient lease_client;
  Metrics metrics;
  Controller controller;
  const std::chrono::nanoseconds limit;
  std::stop_source stop;
  bool ended = false;
};

BerthProcess::BerthProcess(sim::Simulation& simulation, std::string name, BerthOptions options)
    : simulation_(simulation),
      name_(std::move(name)),
      options_(std::move(options)),
      random_(simulation.fork_random()) {}

BerthProcess::~BerthProcess() {
  *here_ = false;
  on_log = nullptr;  // who listened may have gone before
  if (life_ == nullptr) return;
  life_->wire.cut();
  unwind(*life_);
}

void BerthProcess::start() {
  if (life_ != nullptr) return;
  wanted_ = true;
  ++starts_;
  ControllerOptions options;
  options.settings = options_.settings;
  options.zones = options_.zones;
  options.lease.namespace_ = options.settings.berth_namespace;
  options.lease.identity = name_ + "_" + random_.uuid();
  options.seed = random_.next();
  life_ = std::make_shared<Life>(*this, std::move(options));
  // Hooks may be set and taken away while the process runs.
  life_->wire.faults = {.on_request =
                            [this](const HttpRequest& request) {
                              return faults.on_request ? faults.on_request(request)
                                                       : sim::ExchangeFault{};
                            },
                        .on_applied =
                            [this](const HttpRequest& request, int code) {
                              if (faults.on_applied) faults.on_applied(request, code);
                            },
                        .on_reply =
                            [this](const HttpRequest& request, int code) {
                              if (faults.on_reply) faults.on_reply(request, code);
                            },
                        .on_frame =
                            [this](const sim::Change& change) {
                              return faults.on_frame ? faults.on_frame(change) : sim::FrameFault{};
                            }};
  frozen_ = false;
  simulation_.add(life_->loop);
  spawn(life_->loop, life_->run(), [this, life = life_.get()] {
    life->ended = true;
    if (life_.get() == life) leave();
  });
}

void BerthProcess::kill() {
  if (life_ == nullptr) return;
  life_->wire.cut();
  leave();
}

void BerthProcess::terminate() {
  wanted_ = false;
  if (life_ != nullptr) life_->stop.request_stop();
}

void BerthProcess::freeze() {
  if (life_ == nullptr || std::exchange(frozen_, true)) return;
  simulation_.remove(life_->loop);
}

void BerthProcess::thaw() {
  if (life_ == nullptr || !std::exchange(frozen_, false)) return;
  simulation_.add(life_->loop);
}

sim::Wire& BerthProcess::wire() { return life_->wire; }

// The process is no more. Its frames may be on the stack right now, so they go a little later.
void BerthProcess::leave() {
  simulation_.remove(life_->loop);
  simulation_.loop().post([life = std::exchange(life_, nullptr)] { unwind(*life); });
  if (!wanted_) return;
  simulation_.loop().call_after(options_.restart_after, [this, here = here_] {
    if (*here && wanted_) start();
  });
}

void BerthProcess::unwind(Life& life) {
  life.stop.request_stop();
  life.loop.run_alone_until([&] { return life.ended; });
  if (life.ended) return;
  fmt::print(stderr, "a stopped controller did not end within an hour\n");
  std::abort();
}

}  // namespace berth
