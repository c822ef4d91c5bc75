// SPDX-License-Identifier: Apache-2.0
// PlannedCluster: the content of berth's caches, for tests of what berth plans. It carries out no
// plan and changes only what a test puts. Whole rollouts are in tests/rollout.
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
  // With mig-manager's DaemonSet, and a ledger in which this process holds epoch 1.
  PlannedCluster();

  template <class T>
  PlannedCluster& add(T object) {
    cluster.upsert(std::move(object), now);
    return *this;
  }
  PlannedCluster& add(const NodeBuilder& node) { return add(Node(node)); }
  PlannedCluster& add(const PodBuilder& pod) { return add(Pod(pod)); }
  PlannedCluster& add(const LayoutBuilder& layout) { return add(MIGLayout(layout)); }
  // Nodes n1…nN with 4 A100-80GB each, which the layouts of builders.h select.
  PlannedCluster& add_nodes(int count);
  // Renders mig-manager's file for the present objects. Returns the name of the layout's config in
  // it, if the layout has exactly one.
  std::string render_agent_config(const std::string& layout);
  // Starts the emergency stop, by the annotation of berth's namespace, or ends it.
  void stop(const std::string& why);
  void resume();
  // The slot of a node's first claim, for the layout.
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
  // The plan of one reconcile of the key; a second reconcile of the snapshot must plan the same.
  Plan plan(const std::string& key);
  // Applies the planned status as the API server would. Returns the events that go with it: "Normal
  // RolloutStarted: 2 of 2 …".
  std::vector<std::string> write_status(const std::string& key);

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now;
  std::int64_t epoch = 1;
  Attention attention;
};

// The layout with its finalizer, so that it may claim nodes.
MIGLayout under_way(MIGLayout layout);
// A node of builders.h in a rollout, claimed for the layout and cordoned by berth.
Node on_its_way(Node node, const MIGLayout& layout, const std::string& config, RolloutPhase phase,
                Time since);

}  // namespace berth::test
