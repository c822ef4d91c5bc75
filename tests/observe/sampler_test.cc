// SPDX-License-Identifier: Apache-2.0
// The sampler and where it gets its samples: exporters' pods, or a Prometheus; what each may say,
// and what berth makes of that.
#include "controller/sampling/sampler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "apis/base/base64.h"
#include "apis/base/reasons.h"
#include "tests/client/fake_transport.h"
#include "tests/io/fake_loop.h"
#include "tests/io/recording_log.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kAgents[] = "gpu-operator";
constexpr char kSecret[] = "GET /api/v1/namespaces/berth-system/secrets/prometheus-token";

// One world out there: what answers under each server's address.
class Network {
 public:
  explicit Network(Loop& loop) : loop_(loop) {}
  FakeTransport& at(const std::string& server) {
    auto& found = servers_[server];
    if (!found) found = std::make_unique<FakeTransport>(loop_);
    return *found;
  }
  Connect connect() {
    return [this](ClientConfig config) -> std::unique_ptr<Transport> {
      configs.push_back(config);
      return std::make_unique<Line>(at(config.server));
    };
  }
  std::vector<ClientConfig> configs;

 private:
  struct Line : Transport {
    explicit Line(FakeTransport& server) : to(server) {}
    void start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
               std::stop_token stop) override {
      to.start(std::move(request), std::move(sink), std::move(stop));
    }
    FakeTransport& to;
  };
  Loop& loop_;
  std::map<std::string, std::unique_ptr<FakeTransport>> servers_;
};

std::string exposition(const std::string& gpu, int percent) {
  return fmt::format(
      "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
      "DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"{}\",Hostname=\"elsewhere\"}} {}\n",
      gpu, percent);
}
std::string xid(int code) {
  return fmt::format("DCGM_FI_DEV_XID_ERRORS{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"}} {}\n",
                     code);
}

std::string vector(const std::string& series) {
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + series + "]}}";
}
std::string matrix() {
  return R"({"status":"success","data":{"resultType":"matrix","result":[]}})";
}

class SamplerTest : public ::testing::Test {
 protected:
  SamplerTest() {
    cluster_.upsert<Node>(node("n1").a100_80(1), loop_.wall_now());
    cluster_.upsert<Node>(node("n2").a100_80(1), loop_.wall_now());
  }
  ~SamplerTest() override {
    stop_.request_stop();
    loop_.run_until_idle();
  }

  void policy(const std::optional<PrometheusSpec>& prometheus = {}) {
    GPUClusterPolicy policy;
    policy.meta.name = limits::kPolicyName;
    policy.spec.metrics.prometheus = prometheus;
    cluster_.upsert(std::move(policy), loop_.wall_now());
  }
  void exporter_on(const std::string& on, const std::string& address) {
    Pod exporter = pod("dcgm-" + on).in(kAgents).on(on).label("app", "nvidia-dcgm-exporter");
    exporter.address = address;
    cluster_.upsert(std::move(exporter), loop_.wall_now());
  }
  // What the Prometheus says to a query whose text has the counter in it.
  void prometheus_says(const std::string& counter, const std::string& series) {
    network_.at(kPrometheus).respond_with([=](const HttpRequest& request) {
      if (request.target.find("count%20by") != std::string::npos) return FakeReply{200, vector("")};
      if (request.target.find("query_range") != std::string::npos) return FakeReply{200, matrix()};
      const bool asked = request.target.find(counter) != std::string::npos;
      return FakeReply{200, vector(asked ? series : "")};
    });
  }
  static PrometheusSpec with_token(const std::string& url) {
    return {.url = url, .bearer_token_secret_ref = SecretKeyRef{"prometheus-token"}};
  }
  static Settings settings() {
    Settings settings;
    settings.prometheus_token_url = kPrometheus;
    return settings;
  }
  void start() { spawn(loop_, sampler_.run(stop_.get_token())); }
  void run(std::chrono::nanoseconds span = 5s) {
    start();
    loop_.run_for(span);
  }
  std::string trouble() const {
    return samples_.trouble ? samples_.trouble->reason + ": " + samples_.trouble->message : "";
  }

  static constexpr char kPrometheus[] = "http://prometheus:9090";
  FakeLoop loop_;
  FakeTransport api_{loop_};
  Network network_{loop_};
  RecordingLog log_;
  ApiClient client_{loop_, api_, log_, {"0.1.0", "controller"}};
  ClusterState cluster_;
  Samples samples_;
  bool acts_ = true;
  int rounds_ = 0;
  std::stop_source stop_;
  Sampler sampler_{{.client = client_,
                    .log = log_,
                    .cluster = cluster_,
                    .samples = samples_,
                    .connect = network_.connect(),
                    .acts = [this] { return acts_; },
                    .on_round = [this] { ++rounds_; }},
                   settings()};
};

TEST_F(SamplerTest, ScrapesEachExporterAndBelievesItOfItsOwnNode) {
  policy();
  exporter_on("n1", "10.0.0.1"), exporter_on("n2", "fd00::7");
  network_.at("http://10.0.0.1:9400").script("GET /metrics", {200, exposition("GPU-a", 40)});
  network_.at("http://[fd00::7]:9400").script("GET /metrics", {200, exposition("GPU-b", 0)});
  run();
  EXPECT_EQ(trouble(), "");
  ASSERT_THAT(samples_.on("n1"), SizeIs(1));
  EXPECT_EQ(samples_.on("n1")[0].uuid, "GPU-a");
  EXPECT_FLOAT_EQ(*samples_.on("n1")[0].activity, 0.4F);
  ASSERT_THAT(samples_.on("n2"), SizeIs(1));
  EXPECT_TRUE(samples_.on("n2")[0].quiet_since);
  EXPECT_EQ(rounds_, 1);
  EXPECT_EQ(network_.at("http://10.0.0.1:9400").exchanges[0]->request.max_body_bytes, 4u << 20);
  // Nothing that the environment says of proxies is about pods.
  EXPECT_TRUE(network_.configs.at(0).without_proxy);
}

TEST_F(SamplerTest, MeasuresOnceAnIntervalWhileItActs) {
  policy();
  run(95s);
  EXPECT_EQ(rounds_, 4) << "at 0, 30, 60 and 90 s";
  acts_ = false;
  loop_.run_for(60s);
  EXPECT_EQ(rounds_, 4);
  EXPECT_FALSE(samples_.tried_at) << "what somebody else measures now is not known here";
}

TEST_F(SamplerTest, SaysThatNoExporterRuns) {
  policy();
  run();
  EXPECT_THAT(trouble(), AllOf(HasSubstr("ExporterMissing"), HasSubstr(kAgents),
                               HasSubstr("spec.metrics.prometheus.url")));
  EXPECT_FALSE(samples_.measured_at);
}

TEST_F(SamplerTest, OneExporterThatFailsHidesNoOther) {
  policy();
  exporter_on("n1", "10.0.0.1"), exporter_on("n2", "10.0.0.2");
  network_.at("http://10.0.0.1:9400")
      .script("GET /metrics", {.outcome = TransportOutcome::kCannotConnect, .detail = "refused"});
  network_.at("http://10.0.0.2:9400").script("GET /metrics", {200, exposition("GPU-b", 40)});
  run();
  EXPECT_THAT(trouble(), AllOf(HasSubstr("MetricsUnreachable: 1 of 2 exporters"),
                               HasSubstr("that of n1: can't be connected to;")));
  EXPECT_THAT(samples_.on("n2"), SizeIs(1));
  EXPECT_THAT(samples_.on("n1"), IsEmpty());
}

TEST_F(SamplerTest, AnExporterThatNeverAnswersEndsWithItsDeadline) {
  policy();
  exporter_on("n1", "10.0.0.1");
  run(30s);
  EXPECT_THAT(trouble(), HasSubstr("MetricsUnreachable"));
  EXPECT_EQ(rounds_, 1);
}

TEST_F(SamplerTest, AddressesThatAreNoneAreNotAsked) {
  policy();
  exporter_on("n1", "169.254.169.254/latest?");
  run();
  EXPECT_THAT(network_.configs, IsEmpty());
  EXPECT_THAT(trouble(), HasSubstr("that of n1: its pod has no address yet"));
}

// As after a new sandbox, or a reboot: the address of then may be another pod's by now.
TEST_F(SamplerTest, AnExporterIsScrapedWhereItsPodIsNow) {
  policy();
  exporter_on("n1", "10.0.0.1");
  for (const char* at : {"http://10.0.0.1:9400", "http://10.0.0.2:9400"})
    network_.at(at).respond_with([](const HttpRequest&) {
      return FakeReply{200, exposition("GPU-a", 40)};
    });
  run();
  exporter_on("n1", "10.0.0.2");
  loop_.run_for(60s);
  EXPECT_EQ(network_.at("http://10.0.0.1:9400").targets().size(), 1u);
  EXPECT_EQ(network_.at("http://10.0.0.2:9400").targets().size(), 2u);
}

TEST_F(SamplerTest, WhatAnAddressSaysIsNotBelievedOnceItsPodHasMoved) {
  policy();
  exporter_on("n1", "10.0.0.1");
  network_.at("http://10.0.0.1:9400").respond_with([this](const HttpRequest&) {
    exporter_on("n1", "10.0.0.2");  // while it answers
    return FakeReply{200, exposition("GPU-a", 40)};
  });
  run();
  EXPECT_THAT(trouble(), HasSubstr("its pod has moved meanwhile"));
  EXPECT_THAT(samples_.on("n1"), IsEmpty());
}

TEST_F(SamplerTest, ExportersThatGoOrAreElsewhereAreNotScraped) {
  policy();
  Pod going = pod("dcgm-n1").in(kAgents).on("n1").label("app", "nvidia-dcgm-exporter");
  going.address = "10.0.0.1";
  going.meta.deletion_timestamp = loop_.wall_now();
  Pod foreign = pod("dcgm-n2").in("team-a").on("n2").label("app", "nvidia-dcgm-exporter");
  foreign.address = "10.0.0.2";
  cluster_.upsert(std::move(going), loop_.wall_now());
  cluster_.upsert(std::move(foreign), loop_.wall_now());
  run();
  EXPECT_THAT(network_.configs, IsEmpty());
  EXPECT_THAT(trouble(), HasSubstr("ExporterMissing"));
}

// The kubelet says the node's address of a pod on the host's network.
TEST_F(SamplerTest, AnExporterOnTheHostsNetworkIsScrapedAtItsNodesAddress) {
  policy();
  exporter_on("n1", "192.168.0.11");
  network_.at("http://192.168.0.11:9400").script("GET /metrics", {200, exposition("GPU-a", 40)});
  run();
  EXPECT_EQ(trouble(), "");
  EXPECT_THAT(samples_.on("n1"), SizeIs(1));
}

TEST_F(SamplerTest, AsksPrometheusWithTheTokenOfTheSecretAndForHistoryOnce) {
  policy(with_token(std::string(kPrometheus) + "/"));
  api_.respond_with([](const HttpRequest&) {
    return FakeReply{200, R"({"data":{"token":")" + encode_base64("s3cret\n") + R"("}})"};
  });
  prometheus_says(
      "DCGM_FI_DEV_GPU_UTIL",
      R"({"metric":{"namespace":"gpu-operator","UUID":"GPU-a","gpu":"0","Hostname":"n1"},"value":[1,"40"]})");
  run();
  EXPECT_EQ(trouble(), "");
  ASSERT_THAT(samples_.on("n1"), SizeIs(1));
  EXPECT_EQ(network_.configs.at(0).token, "s3cret");
  const auto asked_history = [&] {
    return std::ranges::count_if(network_.at(kPrometheus).targets(), [](const std::string& target) {
      return target.find("query_range") != std::string::npos;
    });
  };
  EXPECT_EQ(asked_history(), 2) << "of both counters of activity";
  loop_.run_for(30s);
  EXPECT_EQ(asked_history(), 2);
  EXPECT_EQ(rounds_, 2);
}

TEST_F(SamplerTest, ASecretThatCannotBeReadIsNamed) {
  policy(with_token(kPrometheus));
  api_.script(kSecret, {403, R"({"kind":"Status","code":403,"reason":"Forbidden"})"});
  run();
  EXPECT_THAT(trouble(),
              AllOf(HasSubstr("MetricsRefused"), HasSubstr("policy.prometheusTokenSecret")));
  api_.script(kSecret, {200, R"({"data":{"other":"eA=="}})"});
  loop_.run_for(30s);
  EXPECT_THAT(trouble(), HasSubstr("has no text under token"));
  EXPECT_THAT(network_.configs, IsEmpty());
}

// Whoever may write the policy may not read berth's Secrets.
TEST_F(SamplerTest, TheTokenGoesNowhereButToTheAddressThatTheChartNames) {
  api_.respond_with([](const HttpRequest&) {
    return FakeReply{200, R"({"data":{"token":")" + encode_base64("s3cret") + R"("}})"};
  });
  start();
  for (const char* url :
       {"http://evil:9090", "http://prometheus:9090.evil", "http://prometheus:9091",
        "https://prometheus:9090", "http://prometheus:9090/x"}) {
    policy(with_token(url));
    loop_.run_for(30s);
    EXPECT_THAT(trouble(),
                AllOf(HasSubstr("MetricsRefused: berth sends a token to"), HasSubstr(kPrometheus),
                      HasSubstr(url), HasSubstr("policy.prometheusTokenURL")));
  }
  EXPECT_THAT(network_.configs, IsEmpty()) << "not even without it";
  EXPECT_THAT(api_.targets(), IsEmpty()) << "it is not even read";
}

struct BadAnswer {
  const char* name;
  FakeReply reply;
  const char* reason;
};
class PrometheusTrouble : public SamplerTest, public ::testing::WithParamInterface<BadAnswer> {};

TEST_P(PrometheusTrouble, IsTold) {
  policy(PrometheusSpec{.url = kPrometheus});
  network_.at(kPrometheus).respond_with([](const HttpRequest&) { return GetParam().reply; });
  run(90s);
  EXPECT_THAT(trouble(), HasSubstr(GetParam().reason));
  EXPECT_THAT(samples_.nodes, IsEmpty());
  // Whoever reads the status may not be allowed to read what answers at the address.
  EXPECT_THAT(trouble(), Not(HasSubstr("hunter2")));
  EXPECT_THAT(fmt::format("{}", fmt::join(log_.lines, " ")), Not(HasSubstr("hunter2")));
  EXPECT_THAT(fmt::format("{}", fmt::join(log_.lines, " ")),
              HasSubstr("GPUs are not measured as they should be"));
}

INSTANTIATE_TEST_SUITE_P(
    Of, PrometheusTrouble,
    ::testing::Values(
        BadAnswer{"unauthorized", {401, "hunter2"}, "MetricsRefused"},
        BadAnswer{"forbidden", {403, "hunter2"}, "bearerTokenSecretRef"},
        BadAnswer{"broken", {500, "<b>hunter2</b>"}, "answers 500"},
        BadAnswer{"of_another_service", {404, R"({"secret":"hunter2"})"}, "answers 404"},
        BadAnswer{"away",
                  {.outcome = TransportOutcome::kCannotConnect, .detail = "hunter2"},
                  "MetricsUnreachable"},
        BadAnswer{"of_another_name",
                  {.outcome = TransportOutcome::kTlsFailed, .detail = "subject name 'hunter2'"},
                  "shows no certificate that is trusted"},
        BadAnswer{"failed",
                  {200, R"({"status":"error","errorType":"internal","error":"hunter2"})"},
                  "the query failed, errorType internal"},
        BadAnswer{
            "json_of_another_service", {200, R"({"hunter2":"hunter2"})"}, "MetricsUnreadable"},
        BadAnswer{"slow", {.delay = 40s}, "MetricsUnreachable"},
        BadAnswer{"too_large", {.outcome = TransportOutcome::kTooLarge}, "MetricsUnreadable"},
        BadAnswer{
            "cut", {200, R"({"status":"success","data":{"resultType":"vec)"}, "MetricsUnreadable"},
        BadAnswer{"another_page", {200, "<html>hunter2</html>"}, "MetricsUnreadable"}),
    [](const auto& each) { return each.param.name; });

// A Prometheus of many clusters, and one whose numbers are a ratio.
TEST_F(SamplerTest, WhatIsOfNoNodeHereIsLeftOutAndALieIsTold) {
  policy(PrometheusSpec{.url = kPrometheus});
  prometheus_says(
      "DCGM_FI_DEV_GPU_UTIL",
      R"({"metric":{"namespace":"gpu-operator","UUID":"GPU-x","Hostname":"other"},"value":[1,"90"]},)"
      R"({"metric":{"namespace":"gpu-operator","UUID":"GPU-a","gpu":"0","Hostname":"n1"},"value":[1,"0.42"]})");
  run();
  EXPECT_THAT(trouble(), HasSubstr("SeriesImplausible"));
  EXPECT_THAT(samples_.on("other"), IsEmpty());
  for (const GpuSample& gpu : samples_.on("n1")) EXPECT_FALSE(gpu.activity);
}

// Prometheus is asked for the exporter's series alone, and what it has of others is told.
TEST_F(SamplerTest, SeriesOfOtherPodsCountForNothingAndAreReported) {
  policy(PrometheusSpec{.url = kPrometheus});
  cluster_.upsert<Pod>(pod("fake").in("team-b").on("n1"), loop_.wall_now());
  network_.at(kPrometheus).respond_with([](const HttpRequest& request) {
    if (request.target.find("query_range") != std::string::npos) return FakeReply{200, matrix()};
    if (request.target.find("count%20by") != std::string::npos)
      return FakeReply{
          200, vector(R"({"metric":{"namespace":"team-b","pod":"fake"},"value":[1,"399996"]},)"
                      R"({"metric":{"namespace":"hunter2"},"value":[1,"4"]})")};
    EXPECT_THAT(request.target, HasSubstr("namespace%3D%22gpu-operator%22"));
    const bool asked = request.target.find("XID") != std::string::npos;
    return FakeReply{
        200, vector(asked ? R"({"metric":{"namespace":"team-b","pod":"fake","Hostname":"n1",)"
                            R"("gpu":"0","UUID":"GPU-a"},"value":[1,"79"]},)"
                            R"({"metric":{"namespace":"gpu-operator","Hostname":"n1",)"
                            R"("gpu":"0","UUID":"GPU-a"},"value":[1,"0"]})"
                          : "")};
  });
  run();
  ASSERT_THAT(samples_.on("n1"), SizeIs(1));
  EXPECT_EQ(samples_.on("n1")[0].xid->value, 0);
  ASSERT_TRUE(samples_.ignored);
  EXPECT_THAT(samples_.ignored->message,
              AllOf(HasSubstr("400001 series"), HasSubstr("without namespace=gpu-operator"),
                    HasSubstr("399997 from team-b/fake"), Not(HasSubstr("hunter2"))));
  EXPECT_EQ(trouble(), "");
}

// A node is asked itself at first, and when something might follow from what is told of it.
TEST_F(SamplerTest, TheExporterOfASuspectNodeIsAskedInTheSameRound) {
  policy(PrometheusSpec{.url = kPrometheus});
  exporter_on("n1", "10.0.0.1");
  const std::string series =
      R"({"metric":{"namespace":"gpu-operator","UUID":"GPU-a","gpu":"0","Hostname":"n1"},"value":[1,"$"]})";
  const auto says = [&](const char* code) {
    std::string one = series;
    prometheus_says("XID", one.replace(one.find('$'), 1, code));
  };
  FakeTransport& exporter = network_.at("http://10.0.0.1:9400");
  exporter.respond_with([](const HttpRequest&) { return FakeReply{200, xid(0)}; });
  says("0");
  run();
  EXPECT_TRUE(samples_.second_hand);
  ASSERT_NE(samples_.witness_of("n1"), nullptr);
  EXPECT_EQ(samples_.witness_of("n1")->gpus.at(0).xid->value, 0);
  EXPECT_EQ(samples_.witness_of("n2"), nullptr) << "nothing is told of it";
  loop_.run_for(60s);
  EXPECT_EQ(exporter.targets().size(), 1u) << "nothing new";
  says("79");
  loop_.run_for(30s);
  EXPECT_EQ(exporter.targets().size(), 2u);
  EXPECT_TRUE(samples_.on("n1")[0].xid->at);
  EXPECT_FALSE(samples_.witness_of("n1")->gpus.at(0).xid->at) << "it does not show it";
  exporter.respond_with([](const HttpRequest&) { return FakeReply{200, xid(79)}; });
  loop_.run_for(30s);
  EXPECT_TRUE(samples_.witness_of("n1")->gpus.at(0).xid->at);
  exporter.respond_with([](const HttpRequest&) { return FakeReply{503, "hunter2"}; });
  loop_.run_for(30s);
  EXPECT_EQ(samples_.witness_of("n1")->silence, "answers 503");
}

TEST_F(SamplerTest, ANodeWithoutAnExporterIsToldToBeSilent) {
  policy(PrometheusSpec{.url = kPrometheus});
  prometheus_says(
      "XID",
      R"({"metric":{"namespace":"gpu-operator","UUID":"GPU-a","gpu":"0","Hostname":"n1"},"value":[1,"0"]})");
  run();
  ASSERT_NE(samples_.witness_of("n1"), nullptr);
  EXPECT_EQ(samples_.witness_of("n1")->silence,
            "no pod of dcgm-exporter runs there in gpu-operator");
  EXPECT_EQ(trouble(), "");
}

// What was measured stays, with its age, through a failure, and no quiet time goes on by itself.
TEST_F(SamplerTest, AFailedRoundLeavesWhatWasSeen) {
  policy(PrometheusSpec{.url = kPrometheus});
  prometheus_says(
      "DCGM_FI_DEV_GPU_UTIL",
      R"({"metric":{"namespace":"gpu-operator","UUID":"GPU-a","gpu":"0","Hostname":"n1"},"value":[1,"0"]})");
  run();
  ASSERT_THAT(samples_.on("n1"), SizeIs(1));
  network_.at(kPrometheus).respond_with([](const HttpRequest&) { return FakeReply{503, ""}; });
  loop_.run_for(30s);
  EXPECT_THAT(trouble(), HasSubstr("MetricsUnreachable"));
  ASSERT_THAT(samples_.on("n1"), SizeIs(1));
  EXPECT_TRUE(samples_.is_fresh(samples_.on("n1")[0], loop_.wall_now()));
  loop_.run_for(3min);
  EXPECT_TRUE(samples_.on("n1").empty() ||
              !samples_.is_fresh(samples_.on("n1")[0], loop_.wall_now()));
}

}  // namespace
}  // namespace berth::test
