// SPDX-License-Identifier: Apache-2.0
// Random weeks of faults, empty rounds, users and restarts: at any time no more nodes are out than
// the policy allows, berth changes no foreign cordon, and in the end, when all is well and
// measured, every node is as users left it.
#include <fmt/format.h>

#include <map>
#include <random>

#include "apis/base/names.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

constexpr int kNodes = 10;

class History {
 public:
  explicit History(unsigned seed) : random_(seed) {
    sick_.policy.spec.disruption.max_unavailable = {3, false};
    sick_.settles = false;
  }

  void run() {
    for (int step = 0; step < 150; ++step) {
      act();
      sick_.now += 30s * static_cast<int>(1 + below(20));
      if (below(5) > 0) sick_.look(below(4) == 0 ? any_node() : "");
      before_ = cordons();
      sick_.run();
      check();
      if (testing::Test::HasFailure()) return;
    }
    end();
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  std::string any_node() { return fmt::format("n{}", 1 + below(kNodes)); }

  void act() {
    const std::string name = any_node();
    switch (below(9)) {
      case 0:
        return sick_.xid(name, below(4), below(2) == 0 ? 79 : 31);
      case 1:
        return below(2) == 0 ? sick_.heat(name, below(4)) : cool_all(name);
      case 2:
        sick_.gpu(name, below(4)).remap_failed = below(3) == 0;
        return;
      case 3:
        return cordon(name, true);
      case 4:
        return cordon(name, false);
      case 5:
        return hold(name, below(3) == 0);
      case 6:
        return sick_.restart();
      case 7:
        sick_.policy.spec.health.action =
            below(4) == 0 ? HealthAction::kReport : HealthAction::kCordon;
        return;
      default:
        // A fault on all nodes at once is the exporter's.
        for (int n = 1; below(6) == 0 && n <= kNodes; ++n) sick_.xid(fmt::format("n{}", n), 0, 79);
    }
  }
  // By a user, who also removes their own cordon or berth's. A user's cordon of a node that berth
  // has cordoned does not show.
  void cordon(const std::string& name, bool out) {
    Node node = sick_.node(name);
    if (node.cordoned() == out) return;
    if (out)
      node.unschedulable = true;
    else
      node.unschedulable.reset();
    const auto record = sick_.record(name);
    persons_[name] = out && !(record && record->phase == HealthPhase::kCordoned);
    sick_.put(std::move(node));
  }
  void cool_all(const std::string& name) {
    for (int i = 0; i < 4; ++i) sick_.cool(name, i);
  }
  void hold(const std::string& name, bool held) {
    Node node = sick_.node(name);
    if (held)
      node.meta.annotations.set(names::kHoldAnnotation, "mine");
    else
      node.meta.annotations.erase(names::kHoldAnnotation);
    sick_.put(std::move(node));
  }

  std::map<std::string, bool> cordons() const {
    std::map<std::string, bool> out;
    for (const auto& node : sick_.cluster.nodes()) out[node->meta.name] = node->cordoned();
    return out;
  }

  void check() {
    int taken = 0;
    int ours = 0;
    int out = 0;
    for (const auto& node : sick_.cluster.nodes()) {
      const std::string& name = node->meta.name;
      const bool goes = node->cordoned() && !before_[name];
      taken += goes ? 1 : 0;
      out += node->cordoned() ? 1 : 0;
      const bool record_says =
          sick_.record(name) && sick_.record(name)->phase == HealthPhase::kCordoned;
      ours += record_says ? 1 : 0;
      const bool held = node->meta.annotations.contains(names::kHoldAnnotation);
      EXPECT_FALSE(held && node->cordoned() != before_[name]) << name << " is held";
      EXPECT_TRUE(node->cordoned() || !persons_[name]) << name << " was a person's to put back";
      EXPECT_TRUE(!goes || sick_.policy.spec.health.action == HealthAction::kCordon) << name;
      EXPECT_TRUE(!goes || record_says) << name << " has a cordon that nobody owns up to";
    }
    EXPECT_TRUE(taken == 0 || ours <= 2) << ours << " of ten, where a fifth may go";
    EXPECT_TRUE(taken == 0 || out <= 3) << out << " out, where three may be";
  }

  void end() {
    sick_.policy.spec.health.action = HealthAction::kCordon;
    for (int n = 1; n <= kNodes; ++n) {
      const std::string name = fmt::format("n{}", n);
      hold(name, false);
      for (int i = 0; i < 4; ++i) sick_.gpu(name, i).remap_failed = false;
      cool_all(name);
    }
    // The longest wait, and once more for what was found at its end.
    for (int i = 0; i < 100; ++i) {
      sick_.now += 1h;
      sick_.look();
      sick_.run();
    }
    for (const auto& node : sick_.cluster.nodes()) {
      EXPECT_EQ(node->cordoned(), persons_[node->meta.name]) << node->meta.name;
      EXPECT_FALSE(sick_.record(node->meta.name)) << node->meta.name;
    }
  }

  std::mt19937 random_;
  SickCluster sick_{kNodes};
  std::map<std::string, bool> persons_;  // cordoned by a user and not uncordoned by one
  std::map<std::string, bool> before_;
};

TEST(HealthHistories, WhateverHappensBerthKeepsToWhatItMayDo) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    History(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace berth::test
