// SPDX-License-Identifier: Apache-2.0
// Idle GPUs taken back on the real API server: a played Prometheus measures what Jobs do with
// theirs, and a Job that waits begins with exactly what it needs of them.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <regex>

#include "tests/apiserver/queue_fixture.h"
#include "tests/live/tls_server.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Of node n1 each GPU, whose pod it is and how busy. It has been so for as long as anybody asks.
class PlayedPrometheus {
 public:
  PlayedPrometheus()
      : server_({.plain = true},
                [this](const TlsServer::Request& request, TlsServer::Connection& to) {
                  to.reply(200, answer(request.line), "Content-Type: application/json\r\n");
                  return true;
                }) {}
  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_.port()); }
  void hold(const std::string& pod, int gpus, int percent) {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < gpus; ++i) gpus_.push_back({pod, percent});
  }

 private:
  struct Gpu {
    std::string pod;
    int percent = 0;
  };
  std::string answer(const std::string& line) {
    const bool range = line.find("query_range") != std::string::npos;
    std::string series;
    if (line.find("DCGM_FI_DEV_GPU_UTIL") != std::string::npos) {
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
    return fmt::format(R"({{"metric":{{"Hostname":"n1","gpu":"{0}","UUID":"GPU-{0}",)"
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
  // It runs, has done so for ten minutes, and is as busy as that.
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

  PlayedPrometheus prometheus_;
};

TEST_F(IdleGpus, AreTakenBackAsFarAsTheWaitingWorkCanUseThem) {
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  start_berth();
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

  // It waits again, is the older one, and would have room in the place of the large one, which is
  // idle still: it takes nobody's.
  wait_reasons("vision", "WaitingForQuota 1");
  wait_nothing_in_flight();
  EXPECT_THAT(suspended(), ElementsAre("small"));
}

TEST_F(IdleGpus, AreTakenBackWhoeverWaitsUnderAlways) {
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  start_berth();
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

}  // namespace
}  // namespace berth::test
