// SPDX-License-Identifier: Apache-2.0
// A small cluster whose GPUs are measured, for tests: node n1 with A100s, and pods on it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/observe/exposition.h"
#include "controller/observe/fold.h"
#include "tests/support/builders.h"

namespace berth::test {

struct Measured {
  ClusterState cluster;
  Samples samples;
  Time now{std::chrono::seconds(1'790'000'000)};
  FoldRules rules{
      .now = {}, .interval = std::chrono::seconds(30), .threshold = 5, .max_temperature = 85};
  Answers answers;
  Settings settings;

  Measured() {
    cluster.upsert<Node>(node("n1").a100_80(4), now);
    GPUClusterPolicy policy;
    policy.meta.name = limits::kPolicyName;
    PoolSpec& pool = policy.spec.pools.emplace_back();
    pool.name = "all";
    policy.spec.idle.policy = IdlePolicy::kNotify;
    cluster.upsert(std::move(policy), now);
  }
  const GPUClusterPolicy& policy() const {
    return *cluster.gpu_policies().find(limits::kPolicyName);
  }
  void run(Pod pod) {
    if (!pod.start_time) pod.start_time = now - std::chrono::hours(10);
    cluster.upsert(std::move(pod), now);
  }
  // As dcgm-exporter tells it, from anywhere.
  void look(std::string_view text) {
    Round round(cluster, settings.agents_namespace);
    const Result<std::size_t> read = read_exposition(
        text, [&](const CounterInfo& counter, const LabelViews& labels, double value) {
          round.add(counter, identify(labels), value, Told::kNow);
        });
    ASSERT_TRUE(read.has_value()) << describe(read.error());
    rules.now = now;
    fold(round, cluster, rules, samples);
  }
  Snapshot snapshot() const {
    return {.cluster = cluster,
            .answers = answers,
            .settings = settings,
            .now = now,
            .samples = samples};
  }
};

}  // namespace berth::test
