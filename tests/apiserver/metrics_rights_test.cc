// SPDX-License-Identifier: Apache-2.0
// Who may read /metrics of berth's processes, with the chart's flags and accounts: an account with
// the chart's role for Prometheus, at its first scrape, and no other.
#include <fmt/format.h>

#include <fstream>

#include "tests/apiserver/webhook_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class MetricsRights : public WebhookTest {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    start_keeper();
    keeper_metrics_port_ = free_loopback_port();
    const std::string kubeconfig =
        plane().write_kubeconfig("scraped.kubeconfig", account("berth-certificates"));
    std::vector<std::string> argv = {
        berth_program(), "certificates", "--kubeconfig=" + kubeconfig,
        "--health-probe-bind-address=0",
        fmt::format("--metrics-bind-address=127.0.0.1:{}", keeper_metrics_port_)};
    for (const std::string& flag : door_flags("berth-certificates")) argv.push_back(flag);
    keeper_ = std::make_unique<Child>(argv, plane().scratch() + "/scraped.log");
    start_berth_as_account(door_flags("berth"));
    start_webhook(door_flags("berth-webhook"));
  }
  void TearDown() override {
    keeper_.reset();
    WebhookTest::TearDown();
  }

  std::vector<std::string> door_flags(const std::string& deployment) {
    std::vector<std::string> flags = chart_flags(deployment, "--metrics-authorization");
    EXPECT_EQ(flags.size(), 1u) << deployment;
    return flags;
  }
  // The answer's body, and its status as the last line; 000: no answer.
  std::string scrape(int port, const std::string& token, const std::string& scheme = "https") {
    std::vector<std::string> words = {"/usr/bin/curl",
                                      "--silent",
                                      "--insecure",
                                      "--noproxy",
                                      "*",
                                      "--max-time",
                                      "20",
                                      "--write-out",
                                      "\n%{http_code}",
                                      fmt::format("{}://127.0.0.1:{}/metrics", scheme, port)};
    if (!token.empty()) words.insert(words.end(), {"--header", "Authorization: Bearer " + token});
    return run(words).text;
  }
  static std::string status(const std::string& answer) {
    return answer.size() < 3 ? answer : answer.substr(answer.size() - 3);
  }

  std::unique_ptr<Child> keeper_;
  int keeper_metrics_port_ = 0;
};

TEST_F(MetricsRights, PrometheusGetsTheMetricsOfEachProcessAndNobodyElseDoes) {
  const std::string prometheus = person("prometheus", "berth-metrics-reader").token;
  const std::string tenant = person("tenant", "view").token;
  for (const int port : {berth().metrics_port(), webhook_metrics_port(), keeper_metrics_port_}) {
    wait_until("the port to answer", seconds(30), [&]() -> std::string {
      const std::string code = status(scrape(port, ""));
      return code == "401" ? "" : code;
    });
    const std::string first = scrape(port, prometheus);
    EXPECT_EQ(status(first), "200") << "a scraper does not ask twice: " << first;
    EXPECT_THAT(first, HasSubstr("berth_build_info"));
    const std::string refused = scrape(port, tenant);
    EXPECT_EQ(status(refused), "403");
    EXPECT_THAT(refused, Not(HasSubstr("berth_build_info")));
    EXPECT_EQ(status(scrape(port, "made-up")), "401");
    EXPECT_EQ(status(scrape(port, prometheus, "http")), "000") << "no token goes by plain HTTP";
  }
  EXPECT_THAT(scrape(keeper_metrics_port_, prometheus),
              HasSubstr("berth_certificates_last_success_timestamp_seconds"));
  EXPECT_THAT(refused_to_berth(), testing::IsEmpty());
}

// The pair of the webhook serves, as a Secret of cert-manager's would.
TEST_F(MetricsRights, ACertificateFromAFolderIsServedAndVerified) {
  const int port = free_loopback_port();
  const std::string kubeconfig =
      plane().write_kubeconfig("verified.kubeconfig", account("berth-certificates"));
  const std::string authority = plane().scratch() + "/metrics-ca.crt";
  std::ofstream(authority) << bundles().front();
  const Child served(
      {berth_program(), "certificates", "--kubeconfig=" + kubeconfig,
       "--health-probe-bind-address=0", fmt::format("--metrics-bind-address=127.0.0.1:{}", port),
       "--metrics-authorization", "--metrics-cert-dir=" + folder()},
      plane().scratch() + "/verified.log");
  const auto ask = [&](const std::string& host) {
    return status(
        run({"/usr/bin/curl", "--silent", "--noproxy", "*", "--max-time", "20", "--cacert",
             authority, "--resolve", fmt::format("{}:{}:127.0.0.1", host, port), "--write-out",
             "\n%{http_code}", fmt::format("https://{}:{}/metrics", host, port)})
            .text);
  };
  wait_until("the port to answer", seconds(30), [&]() -> std::string {
    const std::string code = ask("berth-webhook.berth-system.svc");
    return code == "401" ? "" : code;
  });
  EXPECT_EQ(ask("another.berth-system.svc"), "000") << "the certificate has not that name";
}

TEST_F(MetricsRights, ProbesNeedNoToken) {
  Kube probe(Credentials{.server = fmt::format("http://127.0.0.1:{}", berth().health_port())});
  wait_until("berth to be ready", seconds(30), [&]() -> std::string {
    const Reply reply = probe.send("GET", "/readyz");
    return reply.status == 200 ? "" : reply.body.dump() + reply.error;
  });
  EXPECT_EQ(probe.send("GET", "/healthz").status, 200);
  EXPECT_EQ(probe.send("GET", "/metrics").status, 404);
}

}  // namespace
}  // namespace berth::test
