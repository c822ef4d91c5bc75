// SPDX-License-Identifier: Apache-2.0
// A pool of nodes with four A100s each, for tests. The test sets the measurements, and health's
// plans are applied as the API server would.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "controller/disruption/health_record.h"
#include "controller/health/reconcile.h"
#include "tests/support/builders.h"

namespace berth::test {

class SickCluster {
 public:
  explicit SickCluster(int nodes);

  GPUClusterPolicy policy;  // published with the next run
  Settings settings;
  // False where one step frees capacity for the next, like a node's return.
  bool settles = true;
  Time now{std::chrono::seconds(1'790'000'000)};

  // The GPU's samples from now on.
  GpuSample& gpu(const std::string& node, std::size_t index) {
    return samples_.nodes[node].at(index);
  }
  void xid(const std::string& node, std::size_t index, int code) {
    gpu(node, index).xid = Rise{.value = static_cast<double>(code), .at = now};
  }
  // From now on Prometheus is the source, and the nodes' own exporters have shown the same so far.
  // gpu() then sets Prometheus' samples.
  void tell_by_prometheus();
  // The samples of the node's own exporter from now on.
  GpuSample& own(const std::string& node, std::size_t index) {
    return samples_.witnesses[node].gpus.at(index);
  }
  // The node's exporter shows what Prometheus reports.
  void agree(const std::string& node) {
    samples_.witnesses[node] = {.gpus = samples_.nodes[node], .asked = now, .silence = {}};
  }
  void keep_silent(const std::string& node, const std::string& why) {
    samples_.witnesses[node].silence = why;
    for (GpuSample& gpu : samples_.witnesses[node].gpus) gpu.seen = now - std::chrono::minutes(10);
  }
  // Above the limit from now on; below it again.
  void heat(const std::string& node, std::size_t index) { gpu(node, index).hot_since = now; }
  void cool(const std::string& node, std::size_t index) { gpu(node, index).hot_since.reset(); }
  // A round of the sampler: every GPU is measured, except those of the node `but`.
  void look(const std::string& but = "");
  // Measures and runs regularly, until the time has passed.
  void pass(Duration time);
  // berth restarts: it knows the cluster's objects, but no rise of a counter and no earlier heat.
  void restart();

  // Plans, applies, and plans again, which must change nothing.
  Plan run();

  Node node(const std::string& name) const { return *cluster.nodes().find(name); }
  // The only validation Job; null: none.
  const Job* proof() const;
  // Like the job controller.
  void pass_proof();
  void fail_proof(const std::string& why);
  void put(Node node) { cluster.upsert(std::move(node), now); }
  bool is_out(const std::string& name) const { return node(name).cordoned(); }
  std::optional<HealthRecord> record(const std::string& name) const {
    return health_of(node(name));
  }
  Snapshot snapshot() const {
    return {.cluster = cluster,
            .answers = answers_,
            .settings = settings,
            .now = now,
            .samples = samples_,
            .attention = attention};
  }

  ClusterState cluster;
  Attention attention;

 private:
  void apply(const Write& write);
  void create_job(const Write& write);
  void apply_to_ledger(const Write& write);

  Samples samples_;
  Answers answers_;
};

}  // namespace berth::test
