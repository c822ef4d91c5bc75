// SPDX-License-Identifier: Apache-2.0
// A second berth in another namespace changes nothing while the first owns the cluster, reports the
// owner, and takes over once the first is gone. The first runs with the chart's account.
#include <fmt/format.h>

#include "tests/apiserver/chart_fixture.h"
#include "tests/support/exposition.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class TwoInstallations : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_nodes(1, {});
    kube().apply("{apiVersion: v1, kind: Namespace, metadata: {name: gpu-tools}}");
    const Said installed = install({"flowSchema.enabled=true"});
    ASSERT_EQ(installed.code, 0) << installed.text;
    claims_ = chart_flags("berth", "--cluster-claim-namespace");
    ASSERT_EQ(claims_.size(), 1u);
  }
  void TearDown() override {
    second_.reset();
    if (!IsSkipped()) kube().remove({"leases", "berth-cluster", "kube-system"});
    ChartTest::TearDown();
  }

  void start_second() {
    std::vector<std::string> flags = claims_;
    flags.push_back("--namespace=gpu-tools");
    second_ = std::make_unique<Berth>(plane(), Berth::Options{.name = "second", .flags = flags});
  }
  // The holder of the Lease for the cluster.
  std::string holder() {
    const auto lease = kube().find({"leases", "berth-cluster", "kube-system"});
    return lease ? lease->text("/spec/holderIdentity") : "";
  }
  void wait_holder(const std::string& ns) {
    wait_until("the cluster to be " + ns + "'s", seconds(40), [&]() -> std::string {
      return holder() == ns + "/berth-controller" ? "" : "it is of " + holder();
    });
  }
  static std::string readiness(Berth& of) {
    Kube probe(Credentials{.server = fmt::format("http://127.0.0.1:{}", of.health_port())});
    const Reply reply = probe.send("GET", "/readyz");
    return fmt::format("{} {}", reply.status, reply.body.text(""));
  }
  void wait_standing_by(Berth& of, const std::string& ns) {
    wait_until("a berth to stand by for " + ns, seconds(40), [&]() -> std::string {
      const std::string said = readiness(of);
      return said.starts_with("503") && said.find("the berth in namespace " + ns +
                                                  " has this cluster") != std::string::npos
                 ? ""
                 : said;
    });
  }

  std::vector<std::string> claims_;
  std::unique_ptr<Berth> second_;
};

TEST_F(TwoInstallations, TheSecondStandsByUntilTheFirstIsGone) {
  start_berth_as_account(claims_);
  wait_holder("berth-system");
  start_second();
  wait_standing_by(*second_, "berth-system");
  EXPECT_THAT(second_->process().log_text(), HasSubstr("another installation has the cluster"));
  Kube probe(Credentials{.server = fmt::format("http://127.0.0.1:{}", second_->metrics_port())});
  EXPECT_EQ(Exposition(probe.send("GET", "/metrics").body.text(""))
                .value(R"(leader_election_master_status{name="berth-cluster"})"),
            std::optional<double>(0));

  apply({});
  wait_ready();
  EXPECT_FALSE(kube().find({"configmaps", "berth-node-slots", "gpu-tools"}))
      << "the second has no ledger: it never began";
  EXPECT_THAT(refused_to_berth(), testing::IsEmpty());

  // It keeps the Lease over a restart.
  start_berth_as_account(claims_);
  wait_until("the first to be ready", seconds(40), [&]() -> std::string {
    const std::string said = readiness(berth());
    return said.starts_with("200") ? "" : said;
  });
  EXPECT_EQ(holder(), "berth-system/berth-controller");

  // The move: the first ends, and a user deletes the Lease instead of waiting for ten minutes.
  stop_berth();
  kube().remove({"leases", "berth-cluster", "kube-system"});
  wait_holder("gpu-tools");
  wait_until("the second to be ready", seconds(40), [&]() -> std::string {
    const std::string said = readiness(*second_);
    return said.starts_with("200") ? "" : said;
  });
  wait_until("the second to work", seconds(40), [&]() -> std::string {
    return kube().find({"configmaps", "berth-node-slots", "gpu-tools"}) ? "" : "it has no ledger";
  });
  start_berth_as_account(claims_);
  wait_standing_by(berth(), "gpu-tools");
}

}  // namespace
}  // namespace berth::test
