// SPDX-License-Identifier: Apache-2.0
#include "tests/metrics/filled_metrics.h"

#include "apis/base/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/slots.h"
#include "controller/mig/rollout_measures.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/reconcilers/reconcilers.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

const Time kTaken = *parse_time("2026-11-21T10:00:00Z");

NodeRollout rollout(RolloutPhase phase) {
  NodeRollout rollout;
  rollout.seq = 1;
  rollout.layout_uid = "uid-inference";
  rollout.layout = "inference";
  rollout.config = "berth-inference-1";
  rollout.previous = "all-disabled";
  rollout.phase = phase;
  rollout.since = kTaken + std::chrono::minutes(5);
  rollout.taken = kTaken;
  rollout.berth_cordoned = true;
  return rollout;
}

Node taken(const std::string& name, RolloutPhase phase) {
  return node(name)
      .a100_80(4)
      .label("tier", "mig")
      .cordoned()
      .annotation(names::kRolloutAnnotation, encode_rollout(rollout(phase)));
}

Condition condition(const std::string& type, const std::string& status, const std::string& reason) {
  return {.type = type, .status = status, .reason = reason};
}

MIGLayout layouts_with(const std::string& name, NodeCounts nodes,
                       std::vector<Condition> conditions) {
  MIGLayout out = layout(name);
  out.status.observed_generation = 1;
  out.status.nodes = nodes;
  out.status.conditions = std::move(conditions);
  return out;
}

GPUClusterPolicy policy() {
  GPUClusterPolicy policy;
  policy.meta.name = "cluster";
  policy.meta.generation = 2;
  for (const char* name : {"mig", "lab"}) {
    PoolSpec pool;
    pool.name = name;
    pool.node_selector = LabelSelector{{{"tier", name}}, {}};
    pool.price = PriceSpec{"3.06", "USD"};
    policy.spec.pools.push_back(std::move(pool));
  }
  policy.status.observed_generation = 1;
  policy.status.conditions = {condition("Ready", "True", "PoolsInPlace")};
  policy.status.pools = {{.name = "lab",
                          .allocated = 12,
                          .utilization = 48,
                          .idle_gpus = 3,
                          .monthly_waste = "36992"}};
  return policy;
}

GPUQueue queue() {
  GPUQueue queue;
  queue.meta.name = "research";
  queue.meta.generation = queue.status.observed_generation = 1;
  queue.spec.cohort_name = "teams";
  queue.spec.namespace_selector.emplace();
  queue.spec.default_queue = true;
  queue.spec.quotas.push_back({"nvidia.com/gpu", "mig", 4, 2, 1});
  queue.spec.budget = BudgetSpec{.gpu_hours_thousandths = 100'000};
  queue.status.conditions = {condition("Ready", "True", "QueueActive")};
  return queue;
}

// What it has used of its budget.
ConfigMap usage() {
  queue::GpuHours hours{.at = kTaken};
  hours.budgets["research"] = {.period = {kTaken, kTaken + std::chrono::hours(1)}, .used = 1};
  ConfigMap usage;
  usage.meta.namespace_ = Settings().berth_namespace;
  usage.meta.name = names::kUsageConfigMap;
  for (auto& [key, text] : queue::encode_usage(hours)) usage.data[key] = text;
  return usage;
}

// Waits in that queue.
Job waiting_job() {
  Job job;
  job.meta.namespace_ = "default";
  job.meta.name = job.meta.uid = "train";
  job.suspended = true;
  job.pod_shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(1));
  return job;
}

Pod lost_pod() {
  Pod lost = pod("lost").on("n5");
  lost.meta.deletion_timestamp = kTaken;
  lost.meta.annotations.set(names::kOnDeadNodeSinceAnnotation, format_time(kTaken));
  return lost;
}

}  // namespace

ClusterState sample_cluster() {
  ClusterState cluster;
  const auto add = [&](auto object) { cluster.upsert(std::move(object), kTaken); };
  add(Node(node("n1").a100_80(4).label("tier", "mig")));
  add(taken("n2", RolloutPhase::kCordoned));
  add(taken("n3", RolloutPhase::kFailed));
  add(Node(node("n4").a100_80(8).label("tier", "lab").cordoned()));
  add(Node(node("n5").a100_80(8).label("tier", "lab").not_ready()));
  add(Node(node("c1")));
  add(Pod(pod("train-0").gpu(3).on("n1")));
  add(Pod(pod("train-1").gpu(2)));
  add(lost_pod());
  add(layouts_with(
      "inference", {.selected = 3, .updated = 1, .in_progress = 1, .failed = 1},
      {condition("Ready", "False", "NodeFailed"), condition("Stalled", "True", "NodeFailed")}));
  add(layouts_with("whole", {}, {}));
  add(policy());
  Namespace home;
  home.meta.name = "default";
  add(home), add(queue()), add(usage()), add(waiting_job());
  return cluster;
}

Figures sample_figures() { return reconcilers(Settings()).figures(sample_cluster()); }

void fill(Metrics& metrics) {
  using namespace std::chrono_literals;
  metrics.on_state("nodes", InformerState::kWatching);
  metrics.on_refresh("nodes");
  metrics.on_event("nodes", InformerEvent::kAdded);
  metrics.on_objects("nodes", 6);
  metrics.on_depth(1);
  metrics.on_add();
  metrics.on_retry();
  metrics.on_start(1ms);
  metrics.on_done(1ms);
  metrics.on_unfinished({});
  metrics.on_call({.method = "GET", .lane = Lane::kWrite, .code = 200, .took = 1ms});
  metrics.on_leading("berth-controller", true);
  metrics.on_reconcile("layout", "done", 1ms);
  metrics.on_write("jsonpatch", "done");
  metrics.begin_term(reconcilers(Settings()).measures);
  const RolloutRecord before{.text = "", .rollout = rollout(RolloutPhase::kApplying)};
  for (const Observation& seen : observe_rollout({}, before, rollout(RolloutPhase::kFailed)))
    metrics.observe(*seen.measure, seen.labels, seen.value);
  metrics.on_eviction("budget");
  metrics.show(sample_figures());
  metrics.on_review("mutate", "CREATE", "patched", 1ms);
  metrics.on_certificate(kTaken);
  metrics.on_clock_skew(std::chrono::milliseconds(-1500));
  metrics.on_newest_version("4711");
  metrics.on_page({.followers = 2, .unknown_total = 1});
  metrics.on_keeper(
      {.last_success = kTaken, .authority_end = kTaken, .leaf_end = kTaken, .failures_total = 1});
  metrics.on_conflict_loop();
  metrics.on_process({.cpu_seconds = 2, .resident_bytes = 4096, .start_time_seconds = 1});
}

}  // namespace berth::test
