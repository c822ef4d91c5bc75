// SPDX-License-Identifier: Apache-2.0
// A controller's /metrics during a rollout, as Prometheus would scrape them.
#include <fmt/format.h>

#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/exposition.h"
#include "tests/support/promtool.h"

namespace berth::test {
namespace {

using ::testing::Eq;
using ::testing::Gt;
using ::testing::Optional;

constexpr char kSince[] = "berth_node_unavailable_since_timestamp_seconds";

class MetricsOfARollout : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_nodes(2, {});
    cluster().wait_agents_running();
  }

  std::string scrape() {
    Kube probe(Credentials{.server = fmt::format("http://127.0.0.1:{}", berth().metrics_port())});
    return probe.send("GET", "/metrics").body.text("");
  }
  void wait_series(const std::string& series, double value) {
    wait_for(fmt::format("{} to be {}", series, value), 40, [&]() -> std::string {
      const std::string text = scrape();
      return Exposition(text).value(series) == std::optional(value) ? "" : text;
    });
  }
};

TEST_F(MetricsOfARollout, TellWhoIsOutWhoIsDoneAndEndWithTheLayout) {
  start_berth({"--verify-for=5s"});
  apply({});
  // The first node stays in progress until the test releases it.
  std::string first;
  wait_for("a node to be taken", 60, [&]() -> std::string {
    for (const char* node : {"n1", "n2"})
      if (cordoned(node)) first = node;
    return first.empty() ? "none is" : "";
  });
  kube().set_annotation({"nodes", first}, "gpu.berth.dev/hold", "to be looked at");
  const std::string series =
      fmt::format("{}{{node=\"{}\",layout=\"inference-a100\"}}", kSince, first);
  wait_for("the node to be told", 20, [&]() -> std::string {
    const std::string text = scrape();
    return Exposition(text).value(series) ? "" : text;
  });
  wait_series(R"(berth_miglayout_nodes{layout="inference-a100",state="in_progress"})", 1);
  const std::string midway = scrape();
  EXPECT_EQ(Exposition(midway).count(kSince), 1u) << midway;
  EXPECT_THAT(Exposition(midway).value(series), Optional(Gt(1.7e9)));
  EXPECT_THAT(Exposition(midway).value(R"(berth_node_rollouts_total{result="failed"})"),
              Optional(0));
  EXPECT_EQ(Exposition(midway).count("berth_build_info{commit=\""), 1u) << midway;
  if (has_promtool()) {
    EXPECT_EQ(lint_metrics(midway), "");
  }

  kube().set_annotation({"nodes", first}, "gpu.berth.dev/hold", "");
  wait_ready();
  wait_series(R"(berth_miglayout_nodes{layout="inference-a100",state="updated"})", 2);
  wait_series(R"(berth_node_rollouts_total{result="repartitioned"})", 2);
  wait_series(R"(berth_gpu_allocatable{resource="nvidia.com/mig-1g.10gb",state="in_service"})",
              2 * kMixedA100.at("nvidia.com/mig-1g.10gb"));
  EXPECT_EQ(Exposition(scrape()).count(kSince), 0u);

  kube().remove({"miglayouts", "inference-a100"});
  wait_for("the layout's series to end", 40, [&]() -> std::string {
    const std::string text = scrape();
    return text.find("inference-a100") == std::string::npos ? "" : text;
  });
}

}  // namespace
}  // namespace berth::test
