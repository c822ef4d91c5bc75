// SPDX-License-Identifier: Apache-2.0
// PlaneTest: the fixture of every test in this folder. The program starts one control plane and one
// node agent; each case starts with an empty cluster. If the binaries are neither installed nor can
// be built, the cases are skipped with a message; in CI (CI=true) they fail.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/cluster.h"
#include "tests/support/control_plane.h"
#include "tests/support/programs.h"

namespace berth::test {

class PlaneTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  static ControlPlane& plane() { return *plane_; }
  static Kube& kube() { return plane_->kube(); }
  static Child& agent() { return *agent_; }
  Cluster& cluster() { return *cluster_; }

 private:
  static std::unique_ptr<ControlPlane> plane_;
  static std::unique_ptr<Child> agent_;
  static std::string why_not_;
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace berth::test
