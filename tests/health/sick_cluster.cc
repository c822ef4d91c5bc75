// SPDX-License-Identifier: Apache-2.0
#include "tests/health/sick_cluster.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode.h"

namespace berth::test {
namespace {

using nlohmann::json;

json as_json(const Node& node) {
  json annotations = json::object();
  for (const auto& [key, value] : node.meta.annotations) annotations[key.str()] = value.str();
  json spec = json::object();
  if (node.unschedulable) spec["unschedulable"] = *node.unschedulable;
  return {{"metadata", {{"uid", node.meta.uid}, {"annotations", annotations}}}, {"spec", spec}};
}

// For the API server, a test for null of an absent value is a test of absence.
json patched(const json& before, const json& operations) {
  json now = before;
  for (const json& operation : operations) {
    const json::json_pointer path(operation["path"].get<std::string>());
    if (operation["op"] == "test" && operation["value"].is_null()) {
      EXPECT_FALSE(now.contains(path)) << path;
      continue;
    }
    now = now.patch(json::array({operation}));
  }
  return now;
}

}  // namespace

SickCluster::SickCluster(int nodes) {
  policy.meta.name = limits::kPolicyName;
  policy.spec.pools.emplace_back().name = "all";
  policy.spec.disruption.max_unavailable = {100, true};
  policy.spec.health.action = HealthAction::kCordon;
  samples_.interval = std::chrono::seconds(30);
  samples_.measured_at = now;
  for (int n = 1; n <= nodes; ++n) {
    const std::string name = fmt::format("n{}", n);
    put(test::node(name).a100_80(4).annotation("example.com/rack", "7"));
    for (int i = 0; i < 4; ++i) {
      GpuSample& gpu = samples_.nodes[name].emplace_back();
      gpu.uuid = fmt::format("GPU-{}-{}", name, i);
      gpu.index = std::to_string(i);
      gpu.seen = now;
    }
  }
}

void SickCluster::look(const std::string& but) {
  samples_.measured_at = now;
  for (auto& [name, gpus] : samples_.nodes)
    for (GpuSample& gpu : gpus)
      if (name != but) {
        gpu.seen = now;
        if (gpu.hot_since && now - *gpu.hot_since >= kHotFor) gpu.hot_at = now;
      }
  for (auto& [name, witness] : samples_.witnesses)
    if (witness.silence.empty() && name != but)
      for (GpuSample& gpu : witness.gpus) {
        gpu.seen = now;
        if (gpu.hot_since && now - *gpu.hot_since >= kHotFor) gpu.hot_at = now;
      }
}

void SickCluster::tell_by_prometheus() {
  samples_.second_hand = true;
  for (const auto& [name, gpus] : samples_.nodes)
    samples_.witnesses[name] = {.gpus = gpus, .asked = now, .silence = {}};
}

void SickCluster::pass(Duration time) {
  for (const Time end = now + time; now < end;) {
    now += std::min<Duration>(std::chrono::seconds(30), std::chrono::ceil<Duration>(end - now));
    look();
    run();
  }
}

void SickCluster::restart() {
  attention.since = now;
  for (auto& [_, gpus] : samples_.nodes)
    for (GpuSample& gpu : gpus) {
      if (gpu.xid) gpu.xid->at.reset();
      if (gpu.double_bit_errors) gpu.double_bit_errors->at.reset();
      gpu.hot_at.reset();
      if (gpu.hot_since) gpu.hot_since = now;
    }
}

Plan SickCluster::run() {
  cluster.upsert(policy, now);
  Plan plan = reconcile_health(snapshot());
  for (const ObjectSteps& steps : plan.objects)
    for (const Step& step : steps.steps)
      if (const auto* write = std::get_if<Write>(&step); write != nullptr) {
        if (write->object.kind == "Node") apply(*write);
        if (write->object.kind == "Job") create_job(*write);
        if (write->object.kind == "ConfigMap") apply_to_ledger(*write);
      }
  if (!settles) return plan;
  const Plan again = reconcile_health(snapshot());
  for (const ObjectSteps& steps : again.objects)
    EXPECT_NE(steps.object.kind, "Node") << print(again);
  return plan;
}

const Job* SickCluster::proof() const {
  const Job* found = nullptr;
  for (const auto& job : cluster.jobs()) {
    if (!job->meta.labels.contains(names::kProofLabel) || job->finished) continue;
    EXPECT_EQ(found, nullptr) << "never two";
    found = job.get();
  }
  return found;
}

void SickCluster::pass_proof() {
  ASSERT_NE(proof(), nullptr);
  Job job = *proof();
  job.succeeded = 1;
  job.finished = true;
  cluster.upsert(std::move(job), now);
}

void SickCluster::fail_proof(const std::string& why) {
  ASSERT_NE(proof(), nullptr);
  Job job = *proof();
  job.failed = 1;
  job.finished = true;
  job.failure = Text(why);
  cluster.upsert(std::move(job), now);
}

void SickCluster::apply_to_ledger(const Write& write) {
  ConfigMap ledger = *cluster.config_maps().find(settings.berth_namespace, names::kSlotsConfigMap);
  const json body = json::parse(write.body);
  ASSERT_EQ(body.at("/metadata/resourceVersion"_json_pointer), ledger.meta.resource_version);
  for (const auto& [key, value] : body["metadata"]["annotations"].items())
    ledger.meta.annotations.set(key, value.get<std::string>());
  cluster.upsert(std::move(ledger), now);
}

void SickCluster::create_job(const Write& write) {
  ASSERT_EQ(write.verb, Verb::kCreate);
  std::string body = write.body;
  Result<Job> job = decode_object<Job>(body);
  ASSERT_TRUE(job.has_value()) << describe(job.error());
  ASSERT_EQ(cluster.jobs().find(write.object.namespace_, write.object.name), nullptr);
  job->meta.uid = "uid-" + job->meta.name;
  job->meta.creation_timestamp = now;
  cluster.upsert(*std::move(job), now);
}

void SickCluster::apply(const Write& write) {
  Node node = this->node(write.object.name);
  const json before = as_json(node);
  const json body = json::parse(write.body);
  json now_is = before;
  if (write.verb == Verb::kMergePatch)
    now_is.merge_patch(body);
  else
    now_is = patched(before, body);
  node.meta.annotations = {};
  for (const auto& [key, value] : now_is["metadata"]["annotations"].items())
    node.meta.annotations.set(key, value.get<std::string>());
  node.unschedulable.reset();
  if (now_is["spec"].contains("unschedulable"))
    node.unschedulable = now_is["spec"]["unschedulable"].get<bool>();
  put(std::move(node));
}

}  // namespace berth::test
