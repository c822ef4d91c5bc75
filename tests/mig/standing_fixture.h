// SPDX-License-Identifier: Apache-2.0
// StandingTest: what the layout's status says about n1, as one line of text.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/disruption/slots.h"
#include "controller/mig/situation.h"
#include "controller/mig/standing.h"
#include "tests/mig/one_node.h"

namespace berth::test {

inline const char* column_of(NodeBucket bucket) {
  switch (bucket) {
    case NodeBucket::kUpdated:
      return "updated";
    case NodeBucket::kInProgress:
      return "in progress";
    case NodeBucket::kBlocked:
      return "blocked";
    case NodeBucket::kFailed:
      return "failed";
    case NodeBucket::kPending:
      return "pending";
  }
  return "?";
}

class StandingTest : public OneNode {
 protected:
  std::optional<NodeStanding> standing() {
    const Snapshot snapshot = world_.snapshot();
    LayoutView view(snapshot);
    return standing_of(situation_of(snapshot, view, *world_.cluster.nodes().find("n1")));
  }
  // "in progress Cordoned Settling: drained; …"; empty: berth may claim the node.
  std::string told() {
    const std::optional<NodeStanding> s = standing();
    return !s ? ""
              : fmt::format("{} {} {}: {}", column_of(s->bucket), s->phase, s->cause.reason,
                            s->cause.message);
  }
  void set_slot(const Slot& slot) {
    ConfigMap ledger = world_.ledger();
    ledger.data["n1"] = encode_slot(slot);
    world_.add(ledger);
  }
  // The node is idle after the rollout that the test describes.
  void back(std::function<void(NodeRollout&)> describe) {
    NodeRollout rollout;
    rollout.seq = 1;
    rollout.since = world_.now;
    describe(rollout);
    rollout.node_uid = "uid-n1";
    edit_node([&](Node& node) {
      node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    });
  }
  struct Case {
    const char* sentence;
    std::function<void()> stands;
    const char* told;
  };
  // Checks each case on a new n1, made by `anew`.
  void expect_told(const std::vector<Case>& cases, std::function<void()> anew) {
    const ConfigMap file = *world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                              world_.settings.mig_config_map);
    const Time start = world_.now;
    for (const Case& c : cases) {
      SCOPED_TRACE(c.sentence);
      world_.now = start;
      world_.add(test::node("n1").a100_80(4).label("tier", "mig")).add(layout_).add(file);
      world_.cluster.erase<Pod>("team-a", "web");
      anew();
      c.stands();
      if (*c.told == '\0')
        EXPECT_EQ(told(), "");
      else
        EXPECT_THAT(told(), ::testing::StartsWith(c.told));
    }
  }
  void empty_file() {
    ConfigMap file = *world_.cluster.config_maps().find(world_.settings.agents_namespace,
                                                        world_.settings.mig_config_map);
    file.data[names::kMigPartedKey] = "version: v1\nmig-configs:\n  x:\n";
    world_.add(file);
  }
};

}  // namespace berth::test
