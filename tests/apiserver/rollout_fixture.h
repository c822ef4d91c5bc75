// SPDX-License-Identifier: Apache-2.0
// RolloutTest: a case in which berth rolls out a layout on the real control plane. NVIDIA's
// components are installed and the case starts berth. At its end the invariants are checked over
// the audit log.
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

// The resources of two GPUs with {3g.40gb, 2g.20gb, 1g.10gb ×2} and two with {1g.10gb ×7}, with
// strategy mixed.
extern const std::map<std::string, int> kMixedA100;

class RolloutTest : public PlaneTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The layout of the README as YAML. `spec_lines` are added under spec, indented by two;
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
  // Through a proxy with this kubeconfig.
  Berth& start_berth_at(const std::string& kubeconfig, const std::vector<std::string>& flags = {});
  Berth& berth() { return *berth_; }
  // Its Lease counts as expired; two_leaders_test is about the wait for that.
  void kill_berth() {
    berth_->process().kill_now();
    kube().remove({"leases", "berth-controller", "berth-system"});
  }
  void stop_berth();

  Object layout(const std::string& name = "inference-a100") {
    return kube().get({"miglayouts", name});
  }
  // The node's entry in status.details: "phase reason: message", or "" if there is none.
  std::string detail(const std::string& node, const std::string& name = "inference-a100");
  std::string reason(const std::string& node, const std::string& name = "inference-a100");
  std::string phase(const std::string& node);  // in the node's rollout annotation; "" if never set
  bool cordoned(const std::string& node);

  void wait_ready(const std::string& name = "inference-a100", int seconds = 90);
  void wait_reason(const std::string& node, const std::string& wanted, int seconds = 40);
  void wait_phase(const std::string& node, const std::string& wanted, int seconds = 40);
  void wait_condition(const std::string& type, const std::string& status, int seconds = 40,
                      const std::string& name = "inference-a100");
  // Like wait_until, but shows the end of berth's log if it fails.
  void wait_for(const std::string& what, int seconds, const std::function<std::string()>& missing);

  // Since the case started.
  std::vector<AuditEvent> events();
  std::vector<AuditEvent> writes() { return writes_of_berth(events()); }
  // Names of nodes in the order of berth's first cordons.
  std::vector<std::string> cordon_order();

  InvariantOptions invariants_;

 private:
  std::string began_at_;
  std::unique_ptr<Berth> berth_;
};

}  // namespace berth::test
