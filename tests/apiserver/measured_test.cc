// SPDX-License-Identifier: Apache-2.0
// GPU utilization on the real API server: berth's own client queries a test Prometheus, and the
// results appear in the policy's status, on pods and in events.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <regex>
#include <sstream>

#include "tests/apiserver/rollout_fixture.h"
#include "tests/live/tls_server.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Node n1 has two GPUs: pod "sleeper" holds the first one and pod "worker" the second.
class PlayedPrometheus {
 public:
  PlayedPrometheus()
      : server_({.plain = true}, [this](const TlsServer::Request& request,
                                        TlsServer::Connection& to) {
          to.reply(away ? 503 : 200, answer(request.line), "Content-Type: application/json\r\n");
          return true;
        }) {}
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }

  std::atomic<int> sleeper{0};  // percent
  std::atomic<bool> away{false};
  std::atomic<bool> tells_temperature{true};
  std::atomic<int> histories{0};

 private:
  std::string answer(const std::string& line) {
    const bool range = line.find("query_range") != std::string::npos;
    std::string series;
    if (line.find("count%20by") != std::string::npos) {
      // There are no series of other targets.
    } else if (line.find("DCGM_FI_DEV_GPU_UTIL") != std::string::npos) {
      if (range) ++histories;
      series = one(line, range, 0, "sleeper", sleeper) + "," + one(line, range, 1, "worker", 90);
    } else if ((line.find("DCGM_FI_DEV_GPU_TEMP") != std::string::npos && tells_temperature) ||
               line.find("DCGM_FI_DEV_XID_ERRORS") != std::string::npos) {
      series = one(line, range, 0, "sleeper", 0) + "," + one(line, range, 1, "worker", 0);
    }
    return fmt::format(R"({{"status":"success","data":{{"resultType":"{}","result":[{}]}}}})",
                       range ? "matrix" : "vector", series);
  }

  static std::string one(const std::string& line, bool range, int gpu, const char* pod, int value) {
    std::string points;
    if (range) {
      for (double at = number(line, "start"); at <= number(line, "end"); at += number(line, "step"))
        points += fmt::format("{}[{:.3f},\"{}\"]", points.empty() ? "" : ",", at, value);
    } else {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      points = fmt::format("{:.3f},\"{}\"", std::chrono::duration<double>(now).count(), value);
    }
    return fmt::format(R"({{"metric":{{"namespace":"gpu-operator","Hostname":"n1","gpu":"{0}",)"
                       R"("UUID":"GPU-{0}",)"
                       R"("modelName":"NVIDIA A100-SXM4-80GB","exported_namespace":"team-a",)"
                       R"("exported_pod":"{1}"}},"{2}":[{3}]}})",
                       gpu, pod, range ? "values" : "value", points);
  }

  static double number(const std::string& line, const std::string& key) {
    std::smatch found;
    return std::regex_search(line, found, std::regex("[?&]" + key + "=([0-9.]+)"))
               ? std::stod(found[1])
               : 0;
  }

  TlsServer server_;
};

class MeasuredGpus : public RolloutTest {
 protected:
  void SetUp() override {
    invariants_.pool_labels = {"gpu.berth.dev/pool"};
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_node({.name = "n1", .gpus = 2});
    cluster().wait_agents_running();
    for (const char* pod : {"sleeper", "worker"}) cluster().add_bare_pod({.name = pod});
    for (const char* pod : {"sleeper", "worker"}) {
      cluster().wait_pods_running("team-a", pod, 1);
      // It has run long enough to count as idle.
      kube().patch({"pods", pod, "team-a"}, PatchType::kMerge,
                   fmt::format(R"({{"status":{{"startTime":"{}"}}}})", ago(10min)), "status");
    }
    // berth knows this owner only from the pod; it neither creates nor deletes pods.
    kube().apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nights, namespace: team-a}\n");
    const std::string uid = kube().get({"configmaps", "nights", "team-a"}).text("/metadata/uid");
    kube().patch({"pods", "sleeper", "team-a"}, PatchType::kMerge,
                 fmt::format(R"({{"metadata":{{"ownerReferences":[{{"apiVersion":"v1",)"
                             R"("kind":"ConfigMap","name":"nights","uid":"{}",)"
                             R"("controller":true}}]}}}})",
                             uid));
    kube().apply(
        fmt::format("apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\n"
                    "metadata: {{name: cluster}}\nspec:\n"
                    "  pools: [{{name: all, nodeSelector: {{}}}}]\n"
                    "  metrics: {{interval: 5s, prometheus: {{url: \"{}\"}}}}\n"
                    "  idle: {{gracePeriod: 2m, policy: Notify}}\n",
                    prometheus_.url()));
  }

  static std::string ago(std::chrono::minutes span) {
    const auto then = std::chrono::system_clock::now() - span;
    return fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
  }
  Object policy() { return kube().get({"gpuclusterpolicies", "cluster"}); }
  std::string idle_since(const std::string& pod) {
    return kube().get({"pods", pod, "team-a"}).annotation("gpu.berth.dev/idle-since");
  }
  void wait_status(const std::string& pointer, const std::string& value) {
    wait_for(pointer + " to be " + value, 40, [&]() -> std::string {
      const Object now = policy();
      return now.text(pointer) == value ? "" : now.at("/status").dump();
    });
  }
  std::string note_on(const std::string& pod) {
    for (const Object& event : kube().list("events", "team-a"))
      if (event.text("/reason") == "GPUsIdle" && event.text("/involvedObject/name") == pod)
        return event.text("/message");
    return "";
  }

  PlayedPrometheus prometheus_;
};

TEST_F(MeasuredGpus, AreToldOnThePolicyAndOnWhoeverLeavesThemIdle) {
  start_berth();
  wait_status("/status/totals/idleGPUs", "1");
  const Object told = policy();
  EXPECT_EQ(told.text("/status/pools/0/utilization"), "45");
  EXPECT_EQ(told.text("/status/pools/0/idleGPUs"), "1");
  EXPECT_EQ(told.condition("MetricsMissing"), "");
  wait_for("the sleeper to be told", 20,
           [&] { return idle_since("sleeper").empty() ? "it has no annotation" : ""; });
  EXPECT_LE(idle_since("sleeper"), ago(2min));
  EXPECT_EQ(idle_since("worker"), "");
  wait_for("the event", 20, [&] { return note_on("sleeper").empty() ? "there is none" : ""; });
  EXPECT_THAT(note_on("sleeper"), HasSubstr("its GPU has been used less than 5% since "));
  EXPECT_EQ(note_on("worker"), "");

  wait_for("its owner to be told", 20,
           [&] { return note_on("nights").empty() ? "it is not" : ""; });
  EXPECT_THAT(note_on("nights"), HasSubstr("1 of its pods holds 1 GPU that is idle: sleeper"));

  // The next process reads the history, and keeps the present values.
  const std::string since = idle_since("sleeper");
  kill_berth();
  const int asked = prometheus_.histories;
  start_berth();
  wait_for("history to be asked for", 40,
           [&] { return prometheus_.histories > asked ? "" : "it was not"; });
  prometheus_.tells_temperature = false;
  wait_for("the temperature to be missed", 40, [&]() -> std::string {
    const Object now = policy();
    return now.condition("MetricsMissing") == "True" ? "" : now.at("/status").dump();
  });
  EXPECT_THAT(policy().at("/status/conditions").dump(),
              HasSubstr("DCGM_FI_DEV_GPU_TEMP (health.maxTemperature)"));
  EXPECT_EQ(idle_since("sleeper"), since);

  prometheus_.sleeper = 80;
  wait_for("it to be taken back", 40,
           [&] { return idle_since("sleeper").empty() ? "" : "it is still told"; });
  wait_status("/status/totals/idleGPUs", "0");
}

TEST_F(MeasuredGpus, ThatCannotBeMeasuredAreNotIdleAndHoldNothingUp) {
  prometheus_.away = true;
  start_berth();
  wait_for("the policy to say so", 40, [&]() -> std::string {
    const Object now = policy();
    return now.condition("MetricsMissing") == "True" && now.condition("Ready") == "True"
               ? ""
               : now.at("/status").dump();
  });
  EXPECT_EQ(policy().text("/status/totals/idleGPUs"), "");
  EXPECT_EQ(idle_since("sleeper"), "");
  prometheus_.away = false;
  wait_status("/status/totals/idleGPUs", "1");
  EXPECT_EQ(policy().condition("MetricsMissing"), "");
}

// A real Prometheus scrapes an exporter in all the ways that change its labels.
class LabelWorlds : public RolloutTest {
 protected:
  void SetUp() override {
    invariants_.pool_labels = {"gpu.berth.dev/pool"};
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    const std::string script = source_dir() + "/tests/prometheus/worlds.py";
    prometheus_ =
        std::make_unique<Child>(std::vector<std::string>{script}, plane().scratch() + "/worlds.log",
                                std::vector<std::string>{"PYTHONDONTWRITEBYTECODE=1"});
    wait_for("Prometheus to have scraped", 60, [&]() -> std::string {
      return prometheus_->running() && said("url").empty() ? "it has not" : "";
    });
    if (prometheus_->wait(0ms) == 77) GTEST_SKIP() << prometheus_->log_tail();
    ASSERT_FALSE(said("url").empty()) << prometheus_->log_tail();
  }
  void TearDown() override {
    if (prometheus_) prometheus_->stop(20s);
    RolloutTest::TearDown();
  }
  // The words after the first word of a line.
  std::vector<std::string> said(const std::string& word) {
    std::istringstream lines(prometheus_->log_text());
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string first;
      if (words >> first && first == word)
        return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
    }
    return {};
  }

  std::unique_ptr<Child> prometheus_;
};

TEST_F(LabelWorlds, OfARealPrometheusAreOneAndTheSame) {
  std::string pools;
  for (const std::string& world : said("worlds")) {
    cluster().add_gpu_node({.name = world, .labels = {{"example.com/world", world}}});
    pools += fmt::format(
        "  - {{name: {0}, nodeSelector: {{matchLabels: {{example.com/world: {0}}}}}}}\n", world);
  }
  cluster().wait_agents_running();
  start_berth();
  kube().apply(
      fmt::format("apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUClusterPolicy\n"
                  "metadata: {{name: cluster}}\nspec:\n  pools:\n{}"
                  "  metrics: {{interval: 5s, prometheus: {{url: \"{}\", matchLabels: "
                  "{{service: nvidia-dcgm-exporter}}}}}}\n",
                  pools, said("url").at(0)));
  // GPUs at 42, 0 and 70 %, and one with an instance of a seventh at a quarter, which only the
  // profiling module reports.
  wait_for("all worlds to be measured", 60, [&]() -> std::string {
    const Object now = kube().get({"gpuclusterpolicies", "cluster"});
    std::string told;
    for (const Object& pool : now.items("/status/pools")) {
      const bool profiled = pool.text("/name").ends_with("-prof");
      if (pool.text("/utilization") != (profiled ? "29" : "37"))
        told += pool.text("/name") + ": " + pool.text("/utilization") + "\n";
    }
    return now.items("/status/pools").size() == 12 ? told : now.at("/status").dump();
  });
}

}  // namespace
}  // namespace berth::test
