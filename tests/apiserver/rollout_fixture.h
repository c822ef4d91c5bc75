// SPDX-License-Identifier: Apache-2.0
// RolloutTest: a case that lets berth change a layout on the real control plane. NVIDIA's agents
// are installed, berth is started by the case, and when it ends the invariants are checked over
// what the API server logged meanwhile.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/apiserver/plane_fixture.h"
#include "tests/support/audit.h"
#include "tests/support/invariants.h"
#include "tests/support/programs.h"

namespace berth::test {

// What two GPUs of {3g.40gb, 2g.20gb, 1g.10gb ×2} and two of {1g.10gb ×7} offer under strategy
// mixed.
extern const std::map<std::string, int> kMixedA100;

class RolloutTest : public PlaneTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The headline layout as YAML. `spec_lines` are added under spec, indented by two;
  // `rollout_lines` under spec.rollout, by four.
  struct Layout {
    std::string name = "inference-a100";
    std::string devices =
        "  - gpus: [0, 1]\n    profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}\n"
        "  - gpus: [2, 3]\n    profiles: {1g.10gb: 7}\n";
    std::string node_selector = "{}";
    std::vector<std::string> rollout = {"maxUnavailable: 1"};
    std::vector<std::string> drain;
    std::vector<std::string> guard = {"retire: [nvidia.com/gpu]"};
    std::vector<std::string> spec;
  };
  static std::string yaml(const Layout& layout);
  void apply(const Layout& layout) { kube().apply(yaml(layout)); }

  Berth& start_berth(const std::vector<std::string>& flags = {});
  // Through a proxy, whose kubeconfig this is.
  Berth& start_berth_at(const std::string& kubeconfig, const std::vector<std::string>& flags = {});
  Berth& berth() { return *berth_; }
  // Its lease counts as run out: who waits for that is two_leaders_test.
  void kill_berth() {
    berth_->process().kill_now();
    kube().remove({"leases", "berth-controller", "berth-system"});
  }
  void stop_berth();

  Object layout(const std::string& name = "inference-a100") {
    return kube().get({"miglayouts", name});
  }
  // status.details' entry of the node: "phase reason: message", or "" if there is none.
  std::string detail(const std::string& node, const std::string& name = "inference-a100");
  std::string reason(const std::string& node, const std::string& name = "inference-a100");
  std::string phase(const std::string& node);  // in the node's rollout annotation, "" if never set
  bool cordoned(const std::string& node);

  void wait_ready(const std::string& name = "inference-a100", int seconds = 90);
  void wait_reason(const std::string& node, const std::string& wanted, int seconds = 40);
  void wait_phase(const std::string& node, const std::string& wanted, int seconds = 40);
  void wait_condition(const std::string& type, const std::string& status, int seconds = 40,
                      const std::string& name = "inference-a100");
  // Polls like wait_until, and shows berth's last words if it fails.
  void wait_for(const std::string& what, int seconds, const std::function<std::string()>& missing);

  // Since the case began.
  std::vector<AuditEvent> events();
  std::vector<AuditEvent> writes() { return writes_of_berth(events()); }
  // Names of nodes in the order in which berth first cordoned them.
  std::vector<std::string> cordon_order();

  InvariantOptions invariants_;

 private:
  std::string began_at_;
  std::unique_ptr<Berth> berth_;
};

}  // namespace berth::test
