// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/tenant_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "controller/scenario/scenario_run.h"
#include "controller/sim/kube/actor_client.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_look.h"
#include "tests/support/random_tenant.h"

namespace berth::explore {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::int64_t kMostOfAlice = 16;  // nominal quota 8, borrowing limit 8
constexpr std::int64_t kNominalOfBob = 8;
constexpr std::chrono::minutes kMayEnd{2};  // for an evicted pod, with the default grace period
// The minimum run time, the deadline of a reclaim, the grace period, and a few cycles.
constexpr std::chrono::minutes kInTime{5};
constexpr std::chrono::minutes kPause{10};  // between two requests of bob

class SimulatedHands final : public test::TenantHands {
 public:
  SimulatedHands(sim::ApiServer& server, std::string team)
      : client_(server, team), team_(std::move(team)) {}

  std::vector<Object> list(const std::string& plural) override {
    std::vector<Object> objects;
    for (const sim::ObjectPtr& object : client_.list(plural, team_))
      objects.push_back({text_at(object.get(), {"metadata", "name"}),
                         text_at(object.get(), {"metadata", "uid"})});
    return objects;
  }
  int create(const std::string& plural, json object) override {
    object["metadata"]["namespace"] = team_;
    client_.submit(plural, std::move(object), [](const sim::WriteReply&) {});
    return 0;
  }
  int patch(const std::string& plural, const std::string& name, const json& merge_patch) override {
    return client_.merge_patch(plural, team_, name, merge_patch).code;
  }
  int remove(const std::string& plural, const std::string& name,
             const json& delete_options) override {
    return client_.remove(plural, team_, name, delete_options).code;
  }

 private:
  const sim::ActorClient client_;
  const std::string team_;
};

class TenantRun {
 public:
  TenantRun(const Scenario& scenario, std::uint64_t seed,
            const std::function<void(const std::string&)>& transcript)
      : transcript_(transcript),
        run_(scenario, seed),
        random_(run_.simulation().fork_random()),
        hands_(run_.simulation().server(), "alice"),
        alice_(hands_, random_.fork()),
        bob_(run_.simulation().server(), "bob") {}

  TenantReport play(std::int64_t writes) {
    bob_turns_at_ = now() + kPause;
    while (report_.writes < writes && report_.failure.empty()) {
      ++report_.writes;
      tell(alice_.act());
      if (random_.one_in(6)) end_one_of_alices();
      go_on(random_.between(50ms, 4s));
      if (now() >= bob_turns_at_) take_bobs_turn();
    }
    return report_;
  }

 private:
  MonotonicTime now() { return run_.simulation().now(); }

  void tell(const std::string& what) {
    if (transcript_) transcript_(fmt::format("{:>9.3f} {}", (now() / 1ms) / 1000.0, what));
  }

  void go_on(std::chrono::nanoseconds span) {
    const MonotonicTime until = now() + span;
    while (now() < until && report_.failure.empty()) {
      run_.simulation().step(std::min(until, now() + 1s));
      judge_alice();
    }
  }

  // One of alice's programs ends by itself.
  void end_one_of_alices() {
    const std::vector<sim::ObjectPtr> pods = bob_.list("pods", "alice");
    if (pods.empty()) return;
    const std::string& name = text_at(pods[random_.below(pods.size())].get(), {"metadata", "name"});
    const bool succeeds = random_.one_in(2);
    tell(fmt::format("alice's pod {} {}", name, succeeds ? "succeeds" : "fails"));
    run_.kube().finish("alice", name, succeeds);
  }

  std::int64_t held_by(const std::string& team) {
    std::int64_t gpus = 0;
    for (const sim::ObjectPtr& pod : bob_.list("pods", team))
      if (!text_at(pod.get(), {"spec", "nodeName"}).empty() && !has_ended(*pod))
        gpus += gpus_of((*pod)["spec"]);
    return gpus;
  }

  void judge_alice() {
    const std::int64_t held = held_by("alice");
    report_.most_held = std::max(report_.most_held, held);
    if (held <= kMostOfAlice)
      over_since_.reset();
    else if (!over_since_)
      over_since_ = now();
    if (over_since_ && now() - *over_since_ > kMayEnd)
      report_.failure = fmt::format("Held: alice's pods hold {} GPUs for {} s, at most {} are hers",
                                    held, (now() - *over_since_) / 1s, kMostOfAlice);
  }

  // bob requests all of the quota, or ends the work again.
  void take_bobs_turn() {
    if (asks_) {
      const std::int64_t held = held_by("bob");
      if (held != kNominalOfBob)
        report_.failure =
            fmt::format("Starved: bob's queue holds {} of its {} GPUs {} min after all were asked",
                        held, kNominalOfBob, kInTime / 1min);
      for (int i = 0; i < kNominalOfBob; ++i)
        bob_.remove("jobs", "bob", fmt::format("b-{}-{}", report_.rounds, i),
                    {{"propagationPolicy", "Background"}});
    } else {
      ++report_.rounds;
      for (int i = 0; i < kNominalOfBob; ++i) ask(fmt::format("b-{}-{}", report_.rounds, i));
    }
    asks_ = !asks_;
    tell(asks_ ? "bob asks for his quota" : "bob ends his work");
    bob_turns_at_ = now() + (asks_ ? std::chrono::nanoseconds(kInTime) : kPause);
  }

  void ask(const std::string& name) {
    const json container = {
        {"name", "main"}, {"image", "x"}, {"resources", {{"limits", {{"nvidia.com/gpu", 1}}}}}};
    const json pod = {{"metadata", {{"labels", {{"app", name}}}}},
                      {"spec", {{"restartPolicy", "Never"}, {"containers", {container}}}}};
    bob_.submit("jobs",
                {{"metadata", {{"namespace", "bob"}, {"name", name}}},
                 {"spec", {{"suspend", true}, {"template", pod}}}},
                [](const sim::WriteReply&) {});
  }

  const std::function<void(const std::string&)>& transcript_;
  ScenarioRun run_;
  sim::Random random_;
  SimulatedHands hands_;
  test::RandomTenant alice_;
  const sim::ActorClient bob_;
  TenantReport report_;
  std::optional<MonotonicTime> over_since_;
  MonotonicTime bob_turns_at_{0};
  bool asks_ = false;
};

}  // namespace

TenantReport play_tenant(const Scenario& scenario, std::uint64_t seed, std::int64_t writes,
                         const std::function<void(const std::string& line)>& transcript) {
  return TenantRun(scenario, seed, transcript).play(writes);
}

}  // namespace berth::explore
