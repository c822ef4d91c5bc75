// SPDX-License-Identifier: Apache-2.0
// Reclaim of idle GPUs on the real API server: a test Prometheus measures the Jobs' GPUs, and a
// pending Job gets exactly the GPUs that it needs.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <regex>
#include <thread>

#include "tests/apiserver/played_exporter.h"
#include "tests/apiserver/queue_fixture.h"
#include "tests/live/tls_server.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Each GPU of node n1, its pod and its utilization, constant for all times in queries.
class PlayedPrometheus {
 public:
  PlayedPrometheus()
      : server_({.plain = true},
                [this](const TlsServer::Request& request, TlsServer::Connection& to) {
                  to.reply(200, answer(request.line), "Content-Type: application/json\r\n");
                  return true;
                }) {}
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }
  // The series of the node's own exporter.
  std::string exposition() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      text += fmt::format(
          "DCGM_FI_DEV_GPU_UTIL{{Hostname=\"n1\",gpu=\"{0}\",UUID=\"GPU-{0}\",modelName=\"NVIDIA "
          "A100-SXM4-80GB\"{1}}} {2}\n",
          i, gpus_[i].forged ? "" : fmt::format(",namespace=\"team-a\",pod=\"{}\"", gpus_[i].pod),
          gpus_[i].percent);
    return text;
  }
  // Another pod claims that they are idle GPUs of the pod; the exporter names no pods.
  void forge(const std::string& pod, int gpus) {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < gpus; ++i) gpus_.push_back({pod, 0, true});
  }
  void hold(const std::string& pod, int gpus, int percent) {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < gpus; ++i) gpus_.push_back({pod, percent});
  }

 private:
  struct Gpu {
    std::string pod;
    int percent = 0;
    bool forged = false;
  };
  std::string answer(const std::string& line) {
    const bool range = line.find("query_range") != std::string::npos;
    std::string series;
    const bool foreign = line.find("count%20by") != std::string::npos;
    if (!foreign && line.find("DCGM_FI_DEV_GPU_UTIL") != std::string::npos) {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < gpus_.size(); ++i)
        series += (series.empty() ? "" : ",") + one(line, range, i);
    }
    return fmt::format(R"({{"status":"success","data":{{"resultType":"{}","result":[{}]}}}})",
                       range ? "matrix" : "vector", series);
  }
  std::string one(const std::string& line, bool range, std::size_t gpu) const {
    std::string points;
    if (range) {
      for (double at = number(line, "start"); at <= number(line, "end"); at += number(line, "step"))
        points +=
            fmt::format("{}[{:.3f},\"{}\"]", points.empty() ? "" : ",", at, gpus_[gpu].percent);
    } else {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      points = fmt::format("{:.3f},\"{}\"", std::chrono::duration<double>(now).count(),
                           gpus_[gpu].percent);
    }
    return fmt::format(R"({{"metric":{{"namespace":"gpu-operator","Hostname":"n1","gpu":"{0}",)"
                       R"("UUID":"GPU-{0}",)"
                       R"("modelName":"NVIDIA A100-SXM4-80GB","exported_namespace":"team-a",)"
                       R"("exported_pod":"{1}"}},"{2}":[{3}]}})",
                       gpu, gpus_[gpu].pod, range ? "values" : "value", points);
  }
  static double number(const std::string& line, const std::string& key) {
    std::smatch found;
    return std::regex_search(line, found, std::regex("[?&]" + key + "=([0-9.]+)"))
               ? std::stod(found[1])
               : 0;
  }

  std::mutex mutex_;
  std::vector<Gpu> gpus_;
  TlsServer server_;
};

class IdleGpus : public QueueTest {
 protected:
  void choose(const std::string& policy) {
    kube().patch({"gpuclusterpolicies", "cluster"}, PatchType::kMerge,
                 fmt::format(R"({{"spec": {{"metrics": {{"interval": "5s", "prometheus":)"
                             R"( {{"url": "{}"}}}}, "idle": {{"gracePeriod": "1m", "warnAfter":)"
                             R"( "1m", "policy": "{}"}}}}}})",
                             prometheus_.url(), policy));
  }
  Object pod_of(const std::string& job) {
    for (const Object& pod : kube().list("pods", "team-a"))
      if (pod.text("/metadata/labels/batch.kubernetes.io~1job-name") == job) return pod;
    return Object::parse("{}");
  }
  // It has run for ten minutes, with this utilization.
  void run(const std::string& name, int gpus, int percent) {
    submit("team-a", name, gpus);
    wait_for(name + " to run", 60, [&]() -> std::string {
      const Object pod = pod_of(name);
      return pod.text("/status/phase") == "Running" ? "" : queue("vision").at("/status").dump();
    });
    const auto then = std::chrono::system_clock::now() - 10min;
    kube().patch({"pods", pod_of(name).name(), "team-a"}, PatchType::kMerge,
                 fmt::format(R"({{"status":{{"startTime":"{:%FT%TZ}"}}}})",
                             fmt::gmtime(std::chrono::system_clock::to_time_t(then))),
                 "status");
    prometheus_.hold(pod_of(name).name(), gpus, percent);
  }
  std::vector<std::string> suspended() {
    std::vector<std::string> names;
    for (const Object& job : kube().list("jobs", "team-a"))
      if (job.truth("/spec/suspend")) names.push_back(job.name());
    return names;
  }
  void wait_reclaimed(const std::string& count) {
    wait_for("the policy to count them", 60, [&]() -> std::string {
      const Object policy = kube().get({"gpuclusterpolicies", "cluster"});
      return policy.text("/status/totals/reclaimed") == count ? "" : policy.at("/status").dump();
    });
  }
  std::string note_on(const std::string& job) {
    for (const Object& event : kube().list("events", "team-a"))
      if (event.text("/reason") == "GPUsReclaimed" && event.text("/involvedObject/name") == job)
        return event.text("/message");
    return "";
  }

  void start_measured() {
    exporter_.run_on(kube(), "n1");
    start_berth();
  }
  std::string policy_says() {
    return kube().get({"gpuclusterpolicies", "cluster"}).at("/status/conditions").dump();
  }

  PlayedPrometheus prometheus_;
  PlayedExporter exporter_{[this] { return prometheus_.exposition(); }};
};

TEST_F(IdleGpus, AreTakenBackAsFarAsTheWaitingWorkCanUseThem) {
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  start_measured();
  run("large", 4, 0), run("small", 2, 0), run("works", 2, 90);
  choose("OnPressure");
  wait_for("the idle ones to be told", 60, [&]() -> std::string {
    for (const char* job : {"large", "small"})
      if (pod_of(job).annotation("gpu.berth.dev/reclaim-after").empty())
        return kube().get({"gpuclusterpolicies", "cluster"}).at("/status").dump();
    return "";
  });
  EXPECT_EQ(pod_of("works").annotation("gpu.berth.dev/reclaim-after"), "");
  EXPECT_THAT(suspended(), ::testing::IsEmpty()) << "nobody waits";

  submit("team-a", "waits", 2);
  wait_for("it to run", 150, [&]() -> std::string {
    return pod_of("waits").text("/status/phase") == "Running"
               ? ""
               : queue("vision").at("/status").dump();
  });
  EXPECT_THAT(suspended(), ElementsAre("small"));
  const Object gave = kube().get({"jobs", "small", "team-a"});
  EXPECT_THAT(gave.annotation("gpu.berth.dev/preempted"),
              HasSubstr("for Job/team-a/waits of queue vision, as it was idle"));
  EXPECT_EQ(gave.number("/status/failed"), 0);
  wait_for("the event", 20, [&] { return note_on("small").empty() ? "there is none" : ""; });
  wait_reclaimed("1");

  // It is pending again and older, and would fit in place of the large one, which is still idle:
  // but it must not reclaim.
  wait_reasons("vision", "WaitingForQuota 1");
  wait_nothing_in_flight();
  EXPECT_THAT(suspended(), ElementsAre("small"));
}

TEST_F(IdleGpus, AreTakenBackWhoeverWaitsUnderAlways) {
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  start_measured();
  run("sleeps", 4, 0), run("works", 2, 90);
  choose("Always");
  wait_for("it to be suspended", 150, [&]() -> std::string {
    return suspended() == std::vector<std::string>{"sleeps"}
               ? ""
               : fmt::format("{} are", fmt::join(suspended(), " "));
  });
  EXPECT_THAT(kube().get({"jobs", "sleeps", "team-a"}).annotation("gpu.berth.dev/hold"),
              HasSubstr("its GPUs were idle"));
  wait_used("vision", "2/8");
  wait_reclaimed("1");
}

// A pod that Prometheus scrapes claims, with the exporter's labels, that a Job's GPUs are idle.
TEST_F(IdleGpus, AreNotTakenBackForWhatTheNodesExporterDoesNotShow) {
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  start_measured();
  submit("team-a", "victim", 4);
  wait_for("it to run", 60, [&]() -> std::string {
    return pod_of("victim").text("/status/phase") == "Running"
               ? ""
               : queue("vision").at("/status").dump();
  });
  kube().patch({"pods", pod_of("victim").name(), "team-a"}, PatchType::kMerge,
               R"({"status":{"startTime":"2026-01-01T00:00:00Z"}})", "status");
  prometheus_.forge(pod_of("victim").name(), 4);
  choose("Always");
  wait_for("the policy to say that nothing confirms it", 60, [&]() -> std::string {
    const std::string told = policy_says();
    return told.find("keeps GPUs that look idle") != std::string::npos ? "" : told;
  });
  std::this_thread::sleep_for(90s);  // longer than its window and its warning
  EXPECT_THAT(suspended(), ::testing::IsEmpty());
  EXPECT_EQ(pod_of("victim").annotation("gpu.berth.dev/reclaim-after"), "");
  EXPECT_THAT(policy_says(), HasSubstr("ExporterDisagrees"));
}

}  // namespace
}  // namespace berth::test
