// SPDX-License-Identifier: Apache-2.0
// A pool of nodes with four A100s each, for tests: what they are measured to do is set by hand, and
// what health plans is applied as the API server would apply it.
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

  GPUClusterPolicy policy;  // told with the next run
  Settings settings;
  // Off where one step may make room for the next, as a node's return does.
  bool settles = true;
  Time now{std::chrono::seconds(1'790'000'000)};

  // What is seen of the GPU from now on.
  GpuSample& gpu(const std::string& node, std::size_t index) {
    return samples_.nodes[node].at(index);
  }
  void xid(const std::string& node, std::size_t index, int code) {
    gpu(node, index).xid = Rise{.value = static_cast<double>(code), .at = now};
  }
  // From now on a Prometheus tells it all, and the nodes' own exporters have shown what it told so
  // far. What is set by gpu() from now on is what Prometheus tells.
  void tell_by_prometheus();
  // What the node's exporter shows of the GPU from now on.
  GpuSample& own(const std::string& node, std::size_t index) {
    return samples_.witnesses[node].gpus.at(index);
  }
  // The node's exporter shows what is told of it.
  void agree(const std::string& node) {
    samples_.witnesses[node] = {.gpus = samples_.nodes[node], .asked = now, .silence = {}};
  }
  void keep_silent(const std::string& node, const std::string& why) {
    samples_.witnesses[node].silence = why;
    for (GpuSample& gpu : samples_.witnesses[node].gpus) gpu.seen = now - std::chrono::minutes(10);
  }
  // Above the limit from now on, and no more.
  void heat(const std::string& node, std::size_t index) { gpu(node, index).hot_since = now; }
  void cool(const std::string& node, std::size_t index) { gpu(node, index).hot_since.reset(); }
  // A round of the sampler: every GPU is seen, but those of the node that is left out.
  void look(const std::string& but = "");
  // Looks and runs, every so often, until the time has passed.
  void pass(Duration time);
  // berth starts again: it knows what the cluster holds, has seen nothing rise, and has seen no GPU
  // hot before now.
  void restart();

  // Plans, applies, and plans again, which must come to nothing.
  Plan run();

  Node node(const std::string& name) const { return *cluster.nodes().find(name); }
  // The one proof that there is; null: none.
  const Job* proof() const;
  // As the job controller would.
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
