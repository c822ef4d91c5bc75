// SPDX-License-Identifier: Apache-2.0
// PlannedCluster: a cluster as berth's caches have it, for tests of what berth plans on it. Nothing
// is carried out and nothing moves: a test puts what stands. Whole rollouts are in tests/rollout.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/rollout_annotation.h"
#include "tests/support/builders.h"

namespace berth::test {

class PlannedCluster {
 public:
  // mig-manager's DaemonSet, and a ledger of which this process holds epoch 1.
  PlannedCluster();

  template <class T>
  PlannedCluster& add(T object) {
    cluster.upsert(std::move(object), now);
    return *this;
  }
  PlannedCluster& add(const NodeBuilder& node) { return add(Node(node)); }
  PlannedCluster& add(const PodBuilder& pod) { return add(Pod(pod)); }
  PlannedCluster& add(const LayoutBuilder& layout) { return add(MIGLayout(layout)); }
  // Nodes n1…nN, 4 A100-80GB each, that the layouts of builders.h select.
  PlannedCluster& add_nodes(int count);
  // mig-manager's file as berth writes it for what stands. Returns the name of the layout's config
  // in it, if it has a single one.
  std::string render_agent_config(const std::string& layout);
  // The emergency stop, by the annotation of berth's namespace, and its end.
  void stop(const std::string& why);
  void resume();
  // The slot of the node's first taking, for the layout.
  void claim(const std::string& node, const std::string& layout);
  ConfigMap ledger() const;

  Snapshot snapshot() {
    return {.cluster = cluster,
            .answers = answers,
            .settings = settings,
            .now = now,
            .epoch = epoch,
            .attention = attention};
  }
  // What one reconcile of the key plans; another of the same snapshot has to plan the same.
  Plan plan(const std::string& key);
  // The status that it plans stands from then on, as the API server would have it. What is told as
  // that is written: "Normal RolloutStarted: 2 of 2 …".
  std::vector<std::string> write_status(const std::string& key);

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now;
  std::int64_t epoch = 1;
  Attention attention;
};

// As far as a layout comes before it takes a node: its finalizer is set.
MIGLayout under_way(MIGLayout layout);
// A node of builders.h on its way, taken for the layout by a cordon of berth's.
Node on_its_way(Node node, const MIGLayout& layout, const std::string& config, RolloutPhase phase,
                Time since);

}  // namespace berth::test
