// SPDX-License-Identifier: Apache-2.0
#include "tests/apiserver/plane_fixture.h"

#include <cstdlib>
#include <cstring>

namespace berth::test {

std::unique_ptr<ControlPlane> PlaneTest::plane_;
std::unique_ptr<Child> PlaneTest::agent_;
std::string PlaneTest::why_not_;

void PlaneTest::SetUpTestSuite() {
  try {
    control_plane_binaries();
  } catch (const std::exception& error) {
    why_not_ = error.what();
    return;
  }
  plane_ = std::make_unique<ControlPlane>();
  agent_ = start_node_agent(*plane_);
}

void PlaneTest::TearDownTestSuite() {
  agent_.reset();
  plane_.reset();
}

void PlaneTest::SetUp() {
  if (plane_ == nullptr) {
    const char* ci = std::getenv("CI");
    if (ci != nullptr && std::strcmp(ci, "true") == 0) FAIL() << why_not_;
    GTEST_SKIP() << "NOT TESTED on a real control plane: " << why_not_;
  }
  cluster_ = std::make_unique<Cluster>(kube());
  // A new kind gets 429 for a moment.
  wait_until("layouts to be served", std::chrono::seconds(30), []() -> std::string {
    kube().list("miglayouts");
    return "";
  });
  cluster_->reset();
}

void PlaneTest::TearDown() {
  if (plane_ == nullptr || !HasFailure()) return;
  plane_->keep_scratch();
  std::cerr << plane_->describe() << "\nthe node agent said last:\n"
            << agent_->log_tail(15) << "\n";
}

}  // namespace berth::test
