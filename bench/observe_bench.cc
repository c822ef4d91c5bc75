// SPDX-License-Identifier: Apache-2.0
// observe_bench: what samples of 2,000 nodes with eight GPUs each hold of memory, and what it costs
// to come from them to plans: which pods are idle, what the policy's status says, what is broken.
// Each GPU has a pod; a twentieth of them have just been idle for long enough, and are told. The
// samples come from expositions as dcgm-exporter writes them, round by round, as they do in the
// controller. Prints one JSON object; the times are the process' own CPU.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "apis/codec/decode.h"
#include "bench/rounds.h"
#include "bench/usage.h"
#include "controller/health/reconcile.h"
#include "controller/observe/exposition.h"
#include "controller/observe/fold.h"
#include "controller/observe/reconcile.h"
#include "controller/policy/reconcile.h"
#include "controller/reconcilers/reconcile.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr int kNodes = 2'000, kGpus = 8, kPods = kNodes * kGpus, kIdleEvery = 20;
constexpr Duration kBetweenRounds = 2min, kGrace = 30min;
constexpr Time kStart{std::chrono::seconds(1'790'000'000)};

template <class T>
void add(ClusterState& cluster, std::string text) {
  Result<T> read = decode_object<T>(text);
  if (!read) throw std::runtime_error(describe(read.error()));
  cluster.upsert(*std::move(read), kStart);
}

std::string node(int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"gpu-{0:05}","uid":"{0:08x}-0000-4000-8000-000000000001","labels":)"
      R"({{"kubernetes.io/hostname":"gpu-{0:05}","nvidia.com/gpu.present":"true",)"
      R"("nvidia.com/gpu.count":"{1}"}}}},"status":{{"conditions":[{{"type":"Ready","status":"True"}}],)"
      R"("capacity":{{"nvidia.com/gpu":"{1}"}},"allocatable":{{"nvidia.com/gpu":"{1}"}}}}}})",
      i, kGpus);
}

std::string pod(int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"app-{0:05}","namespace":"team-{1:03}","uid":)"
      R"("{0:08x}-0000-4000-8000-000000000002","creationTimestamp":"2026-09-01T08:00:00Z"}},"spec":)"
      R"({{"nodeName":"gpu-{2:05}","containers":[{{"name":"main","resources":{{"limits":)"
      R"({{"nvidia.com/gpu":"1"}},"requests":{{"nvidia.com/gpu":"1"}}}}}}]}},)"
      R"("status":{{"phase":"Running"}}}})",
      i, i % 300, i / kGpus);
}

ClusterState fleet() {
  ClusterState cluster;
  add<GPUClusterPolicy>(
      cluster,
      fmt::format(R"({{"metadata":{{"name":"cluster"}},"spec":{{"pools":[{{"name":"all",)"
                  R"("nodeSelector":{{}}}}],"idle":{{"gracePeriod":"{}m","policy":"Notify"}}}}}})",
                  std::chrono::duration_cast<std::chrono::minutes>(kGrace).count()));
  for (int i = 0; i < kNodes; ++i) add<Node>(cluster, node(i));
  for (int i = 0; i < kPods; ++i) add<Pod>(cluster, pod(i));
  return cluster;
}

std::string series(const CounterInfo& counter, int i) {
  const bool idle = i % kIdleEvery == 0;
  double value = 0;
  if (counter.counter == Counter::kGpuUtil) value = idle ? 0 : 40 + i % 60;
  if (counter.counter == Counter::kEngineActive) value = idle ? 0 : 0.4;
  if (counter.counter == Counter::kPower) value = idle ? 60 : 300;
  if (counter.counter == Counter::kMemoryUsed) value = 20'000 + i % 10'000;
  if (counter.counter == Counter::kTemperature) value = 40 + i % 30;
  return fmt::format(
      "{0}{{gpu=\"{1}\",UUID=\"GPU-{2:08x}-0000-4000-8000-000000000003\",device=\"nvidia{1}\","
      "modelName=\"NVIDIA A100-SXM4-80GB\",Hostname=\"gpu-{3:05}\",container=\"main\","
      "namespace=\"team-{4:03}\",pod=\"app-{2:05}\"}} {5}\n",
      counter.name, i % kGpus, i, i / kGpus, i % 300, value);
}

std::string exposition(int of_node) {
  std::string text;
  for (const CounterInfo& counter : counters())
    for (int gpu = 0; gpu < kGpus; ++gpu) text += series(counter, of_node * kGpus + gpu);
  return text;
}

void look(const ClusterState& cluster, Time now, Samples& samples) {
  Round round(cluster, "gpu-operator");
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = fmt::format("gpu-{:05}", i);
    round.be_on(name);
    const Result<std::size_t> read = read_exposition(
        exposition(i), [&](const CounterInfo& counter, const LabelViews& labels, double value) {
          round.add(counter, identify(labels), value, Told::kNow);
        });
    if (!read) throw std::runtime_error(describe(read.error()));
  }
  fold(round, cluster, {.now = now, .interval = 1min, .threshold = 5, .max_temperature = 85},
       samples);
}

double resident_mib() {
  malloc_trim(0);
  return memory_now().resident_mib;
}

int run(int rounds) {
  const ClusterState cluster = fleet();
  Samples samples;
  const double before = resident_mib();
  Time now = kStart;
  for (; now <= kStart + kGrace; now += kBetweenRounds) look(cluster, now, samples);
  const double held = resident_mib() - before;
  const Answers answers;
  const Settings settings;
  const Snapshot snapshot{.cluster = cluster,
                          .answers = answers,
                          .settings = settings,
                          .now = now,
                          .epoch = 1,
                          .samples = samples};
  Plan idle;
  const double ms = median_cpu_ms(rounds, [&] {
    idle = reconcile(snapshot, kIdleKey);
    reconcile(snapshot, kPolicyKey);
    reconcile(snapshot, kHealthKey);
  });
  fmt::print("{{\"fleet_ms\": {:.3f}, \"samples_mib\": {:.1f}, \"told\": {}}}\n", ms, held,
             idle.events.size());
  return idle.events.size() == kPods / kIdleEvery ? 0 : 1;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  return berth::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 15);  // many, to look at a profile
}
