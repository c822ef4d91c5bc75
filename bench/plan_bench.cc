// SPDX-License-Identifier: Apache-2.0
// plan_bench: what one full reconcile_mig_layout costs over a fleet in which no node is as the
// layout wants it, at one, two and four times 2,000 nodes and 20,000 GPU pods. Prints one JSON
// object; times are the process' own CPU, the median of the rounds, each begun with cold caches.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "bench/fleet.h"
#include "bench/rounds.h"
#include "controller/mig/reconcile.h"
#include "controller/reconcilers/reconcile.h"

namespace berth {
namespace {

constexpr FleetSize kUnit{2000, 20000};
constexpr Time kNow{std::chrono::seconds(1'790'000'000)};

// What berth has written before it may choose a node: the layout's finalizer, the file its agents
// read, the ledger. Applies plans until they write nothing but nodes and questions.
void settle(Snapshot& snapshot, ClusterState& cluster) {
  for (const char* key : {"agent-config", "slots", "layout/inference"}) {
    for (const ObjectSteps& object : reconcile(snapshot, key).objects) {
      for (const Step& step : object.steps) {
        const Write* write = std::get_if<Write>(&step);
        if (write == nullptr) continue;
        if (write->object.kind == "ConfigMap") {
          nlohmann::json body = nlohmann::json::parse(write->body);
          body["metadata"]["uid"] = write->object.name;
          std::string text = body.dump();
          cluster.upsert(decode_object<ConfigMap>(text).value(), kNow);
        } else if (write->object.kind == "MIGLayout") {
          MIGLayout layout = *cluster.mig_layouts().find(write->object.name);
          layout.meta.finalizers.push_back(names::kFinalizer);
          cluster.upsert(std::move(layout), kNow);
        }
      }
    }
  }
}

// Milliseconds of one reconcile at `times` the unit.
double measure(int times, int count) {
  ClusterState cluster = load(make_fleet({kUnit.nodes * times, kUnit.pods * times}));
  const Answers answers;
  const Settings settings;
  Snapshot snapshot{
      .cluster = cluster, .answers = answers, .settings = settings, .now = kNow, .epoch = 1};
  settle(snapshot, cluster);
  if (reconcile_mig_layout(snapshot, "inference").empty()) {
    fmt::print(stderr, "plan_bench: the layout has nothing to do: {}\n",
               print(reconcile_mig_layout(snapshot, "inference")));
    std::exit(1);
  }
  return median_cpu_ms(count, [&] { reconcile_mig_layout(snapshot, "inference"); });
}

// Milliseconds that a plan of so many objects costs beside what is in it: to be put together, each
// step of an object after those of all others, to be compared with the last one, and to be asked
// about by statuses.
double measure_steps(int objects, int count) {
  std::vector<ObjectRef> refs;
  for (int i = 0; i < objects; ++i)
    refs.push_back({"Pod", fmt::format("team-{}", i % 50), fmt::format("train-{}", i),
                    fmt::format("uid-{}", i)});
  const std::string body =
      R"([{"op":"test","path":"/metadata/uid","value":"u"},{"op":"remove","path":"/spec/schedulingGates"}])";
  std::size_t seen = 0;
  const double ms = median_cpu_ms(count, [&] {
    Plan plan;
    for (const char* reason : {"hold", "admit"})
      for (const ObjectRef& ref : refs)
        plan.add(ref, Write{.object = ref, .body = body, .reason = reason});
    seen += hash_steps(plan) % 2;
    for (const ObjectRef& ref : refs) seen += plan.has_steps(ref) ? 1 : 0;
  });
  if (seen < refs.size()) std::exit(1);
  return ms;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;  // many, to look at a profile
  const double x1 = berth::measure(1, rounds);
  const double x2 = berth::measure(2, rounds), x4 = berth::measure(4, rounds);
  fmt::print(
      "{{\"ms\": {:.3f}, \"ms_x2\": {:.3f}, \"ms_x4\": {:.3f}, \"growth\": {:.3f}, \"add10k_ms\": "
      "{:.3f}}}\n",
      x1, x2, x4, x4 / x1 / 4, berth::measure_steps(10'000, rounds));
}
