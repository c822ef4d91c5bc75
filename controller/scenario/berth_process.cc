// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/berth_process.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "controller/admission/review.h"
#include "controller/certificates/certificate_keeper.h"
#include "controller/client/api_client.h"
#include "controller/io/task.h"
#include "controller/io/task_group.h"
#include "controller/reconcilers/keys.h"
#include "controller/reconcilers/reconcilers.h"
#include "controller/runtime/controller.h"
#include "controller/runtime/required_apis.h"
#include "controller/runtime/review_caches.h"
#include "controller/sampling/sampler.h"
#include "controller/scenario/simulated_keys.h"
#include "controller/sim/world/virtual_loop.h"

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
    for (const auto& [key, value] : fields) line += fmt::format(" {}={}", key, value.text);
    on_line_(level, line);
  }

 private:
  const std::function<void(LogLevel, const std::string&)>& on_line_;
};

constexpr char kVersion[] = "simulated";

}  // namespace

struct BerthProcess::Life {
  Life(BerthProcess& owner, const std::string& component)
      : loop(owner.simulation_.clock()),
        wire(loop, owner.simulation_.loop(), owner.simulation_.server(), owner.name_,
             owner.random_.fork()),
        log(owner.on_log),
        client(loop, wire, log, {.version = kVersion, .component = component}),
        metrics(kVersion),
        beside(loop) {}
  virtual ~Life() = default;
  virtual Task<void> run() = 0;
  virtual sim::WebhookAnswer answer(const std::string&, const std::string&) { return {}; }

  sim::VirtualLoop loop;
  sim::Wire wire;
  ProcessLog log;
  ApiClient client;
  Metrics metrics;
  TaskGroup beside;  // runs beside run(), and ends after it
  std::stop_source stop;
  bool ended = false;
};

struct BerthProcess::ControllerLife : BerthProcess::Life {
  ControllerLife(BerthProcess& owner, ControllerOptions options)
      : Life(owner, "controller"),
        lease_client(loop, wire, log, {.version = kVersion, .component = "leader-election"}),
        controller(Controller::World{client, lease_client, log, metrics, nullptr, samples},
                   reconcilers(options.settings), options),
        limit(options.sync_limit) {
    if (owner.options_.prometheus != nullptr) sampler.emplace(sampling(owner), options.settings);
    if (!owner.options_.certificates_check) return;
    keys.emplace(owner.random_.fork());
    keeper.emplace(client, log,
                   CertificateKeeperOptions{.namespace_ = options.settings.berth_namespace,
                                            .period = *owner.options_.certificates_check},
                   *keys);
  }

  Sampler::Parts sampling(BerthProcess& owner) {
    return {.client = client,
            .log = log,
            .cluster = controller.cluster(),
            .samples = samples,
            .connect =
                [this, options = &owner.options_](const ClientConfig& to) {
                  std::unique_ptr<Transport> exporter =
                      options->exporters->connect(loop, to.server);
                  return exporter ? std::move(exporter) : options->prometheus->connect(loop);
                },
            .acts = [this] { return controller.working(); },
            .on_round =
                [this] {
                  for (const std::string& key : keys_of_samples()) controller.due(key);
                }};
  }

  // The same as `berth controller` between its flags and its exit code.
  Task<void> run() override {
    if (keeper) beside.spawn(keeper->run(beside.token()));
    if (sampler) beside.spawn(sampler->run(beside.token()));
    const bool served =
        co_await wait_for_apis(client, log, required_apis(true, true), limit, stop.get_token());
    if (served && !stop.stop_requested()) co_await controller.run(stop.get_token());
  }

  ApiClient lease_client;
  Samples samples;
  Controller controller;
  std::optional<Sampler> sampler;
  std::optional<SimulatedKeys> keys;
  std::optional<CertificateKeeper> keeper;
  const std::chrono::nanoseconds limit;
};

struct BerthProcess::WebhookLife : BerthProcess::Life {
  WebhookLife(BerthProcess& owner, std::uint64_t seed)
      : Life(owner, "webhook"),
        settings(owner.options_.settings),
        caches(
            client, log, metrics, nullptr, [this](const std::string&) { stop.request_stop(); },
            seed) {}

  // The same as `berth webhook` without its certificate: it still answers for a while after a stop
  // request.
  Task<void> run() override {
    caches.start();
    while (!stop.stop_requested()) co_await sleep_for(std::chrono::hours(1), stop.get_token());
    co_await sleep_for(std::chrono::seconds(10), std::stop_token());
    caches.stop();
    co_await sleep_for(std::chrono::seconds(1), std::stop_token());  // its requests end
  }

  sim::WebhookAnswer answer(const std::string& path, const std::string& text) override {
    if (!caches.may_answer()) return {.code = 503, .body = ""};
    const ReviewPath which = path == "/mutate" ? ReviewPath::kMutate : ReviewPath::kValidate;
    ReviewReply reply = review(which, text, caches.cluster(), settings);
    return {.code = reply.http_status, .body = std::move(reply.body)};
  }

  const Settings& settings;
  ReviewCaches caches;
};

BerthProcess::BerthProcess(sim::Simulation& simulation, std::string name, BerthOptions options)
    : simulation_(simulation),
      name_(std::move(name)),
      options_(std::move(options)),
      random_(simulation.fork_random()) {}

BerthProcess::~BerthProcess() {
  *here_ = false;
  on_log = nullptr;  // its owner may be gone
  if (life_ == nullptr) return;
  life_->wire.cut();
  unwind(*life_);
}

void BerthProcess::start() {
  if (life_ != nullptr) return;
  wanted_ = true;
  ++starts_;
  life_ = new_life();
  life_->loop.step_wall(clock_ahead_);
  // Hooks may be set and removed while the process runs.
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
    const auto end = [this, life] {
      life->ended = true;
      if (life_.get() == life) leave();
    };
    if (life->beside.running() > 0)
      life->beside.stop(end);
    else
      end();
  });
}

std::shared_ptr<BerthProcess::Life> BerthProcess::new_life() {
  if (options_.role == BerthOptions::Role::kWebhook)
    return std::make_shared<WebhookLife>(*this, random_.next());
  ControllerOptions options;
  options.settings = options_.settings;
  options.zones = options_.zones;
  options.lease = options_.lease;
  options.lease.version = kVersion;
  options.keep_history = options_.keep_history;
  options.lease.namespace_ = options.settings.berth_namespace;
  options.lease.identity = name_ + "_" + random_.uuid();
  options.settings.own_pod = name_;
  options.seed = random_.next();
  return std::make_shared<ControllerLife>(*this, std::move(options));
}

void BerthProcess::ask(const std::string& path, const std::string& review,
                       const std::function<void(sim::WebhookAnswer)>& answer) {
  if (life_ == nullptr) return answer({});
  life_->loop.post([this, life = life_.get(), path, review, answer] {
    answer(life_.get() == life ? life->answer(path, review) : sim::WebhookAnswer{});
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

void BerthProcess::set_clock(std::chrono::microseconds ahead) {
  if (life_ != nullptr) life_->loop.step_wall(ahead - clock_ahead_);
  clock_ahead_ = ahead;
}

void BerthProcess::thaw() {
  if (life_ == nullptr || !std::exchange(frozen_, false)) return;
  simulation_.add(life_->loop);
}

sim::Wire& BerthProcess::wire() { return life_->wire; }

// The process has ended. Its frames may be on the stack now, so they are destroyed later.
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
