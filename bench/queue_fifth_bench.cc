// SPDX-License-Identifier: Apache-2.0
// queue_fifth_bench: teams that submit to 30 queues in five cohorts, as Kueue's own performance
// test has them, at a fifth of its size: 3,000 pods that want 1, 5 or 20 of the 20 GPUs of their
// queue, submitted over 12 s at least; what runs needs 13.2 s at least. Somebody else lets the pods
// go; here each then runs for its time, and finishes. One that is evicted is submitted anew. Prints
// one JSON object.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/client/token_bucket.h"
#include "controller/live/curl_transport.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"
#include "controller/runtime/informer.h"
#include "controller/runtime/metrics.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr int kCohorts = 5, kQueuesOfCohort = 6, kNominal = 20;

struct WorkClass {
  const char* name;  // of its PriorityClass, too
  int count;         // in each queue
  std::chrono::milliseconds gap, runs;
  int gpus;
};
constexpr std::array<WorkClass, 3> kClasses = {{{"small", 70, 100ms, 200ms, 1},
                                                {"medium", 20, 500ms, 500ms, 5},
                                                {"large", 10, 1200ms, 1000ms, 20}}};

class ErrorsOnly : public Log {
 public:
  void write(LogLevel level, std::string_view message, std::initializer_list<Field>) override {
    if (level >= LogLevel::kWarn) fmt::print(stderr, "queue_fifth_bench: {}\n", message);
  }
};

double seconds(MonotonicTime time) { return std::chrono::duration<double>(time).count(); }

class Teams {
 public:
  Teams(UvLoop& loop, ApiClient& client, Log& log) : loop_(loop), client_(client) {
    const InformerBase::Callbacks callbacks{
        .on_cached = nullptr,
        .on_synced = [this] { begin(); },
        .on_fatal = [](const std::string& why) { fmt::print(stderr, "{}\n", why); }};
    pods_ = std::make_unique<Informer<Pod>>(
        client, cluster_, log, metrics_, "pods", InformerScope{.unfinished = true}, false,
        callbacks, [this](const Pod* old, const Pod* now) { on_pod(old, now); }, 1);
  }
  void run() {
    pods_->start();
    loop_.run();
  }

 private:
  struct Submitted {
    const WorkClass* of = nullptr;
    std::string namespace_, name;
    MonotonicTime at{};
    std::optional<MonotonicTime> let_go;  // the last time
  };

  void begin() {
    started_ = loop_.now();
    for (int cohort = 0; cohort < kCohorts; ++cohort)
      for (int queue = 0; queue < kQueuesOfCohort; ++queue)
        for (const WorkClass& of : kClasses)
          spawn(loop_, produce(fmt::format("queue-{}-{}", cohort, queue), &of));
  }
  Task<void> produce(std::string queue, const WorkClass* of) {
    for (int i = 0; i < of->count; ++i) {
      co_await sleep_for(of->gap, {});
      const std::string name = fmt::format("{}-{}", of->name, i);
      Submitted& work = submitted_[queue + "/" + name];
      work = {.of = of, .namespace_ = queue, .name = name, .at = loop_.now()};
      co_await submit(&work);
    }
  }
  Task<void> submit(Submitted* work) {
    std::string json = fmt::format(
        R"({{"metadata":{{"name":"{}","labels":{{"{}":"{}"}}}},"spec":{{"terminationGracePeriodSeconds":0,)"
        R"("priorityClassName":"{}","schedulingGates":[{{"name":"{}"}}],"containers":[{{"name":"main",)"
        R"("image":"example.com/train","resources":{{"limits":{{"nvidia.com/gpu":"{}"}}}}}}]}}}})",
        work->name, names::kQueueLabel, work->namespace_, work->of->name, names::kQueueGate,
        work->of->gpus);
    ApiRequest request = create_request(kKind<Pod>, work->namespace_, std::move(json), kWrite);
    const Result<Reply> reply = co_await client_.send(std::move(request), CallOptions());
    if (!reply) fmt::print(stderr, "queue_fifth_bench: {}\n", describe(reply.error()));
  }

  void on_pod(const Pod*, const Pod* now) {
    if (now == nullptr) return;
    const auto found = submitted_.find(now->meta.namespace_.str() + "/" + now->meta.name);
    if (found == submitted_.end()) return;
    Submitted& work = found->second;
    if (!now->shape->scheduling_gates.empty() || work.let_go || now->terminating()) return;
    work.let_go = loop_.now();
    spawn(loop_, finish(&work));
  }
  // What is evicted while it runs is gone by the time it would finish: it begins anew.
  Task<void> finish(Submitted* work) {
    co_await sleep_for(work->of->runs, {});
    ApiRequest request = status_merge_patch_request(kKind<Pod>, {work->namespace_, work->name},
                                                    R"({"status":{"phase":"Succeeded"}})", kWrite);
    const Result<Reply> reply = co_await client_.send(std::move(request), CallOptions());
    if (!reply) {
      ++evictions_;
      work->let_go.reset();
      co_await submit(work);
      co_return;
    }
    ++finished_;
    if (finished_ == kCohorts * kQueuesOfCohort * of_a_queue()) end();
  }
  static int of_a_queue() {
    int sum = 0;
    for (const WorkClass& of : kClasses) sum += of.count;
    return sum;
  }

  void end() {
    const double wall = seconds(loop_.now()) - seconds(started_);
    double useful = 0;
    std::map<std::string, std::vector<double>> waited;
    for (const auto& [name, work] : submitted_) {
      useful += work.of->gpus * std::chrono::duration<double>(work.of->runs).count();
      waited[work.of->name].push_back(seconds(*work.let_go) - seconds(work.at));
    }
    std::vector<std::string> classes;
    for (auto& [name, times] : waited) {
      std::ranges::sort(times);
      classes.push_back(fmt::format(
          R"("{}":{{"mean_s":{:.2f},"p50_s":{:.2f},"p99_s":{:.2f}}})", name,
          std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()),
          times[times.size() / 2], times[times.size() * 99 / 100]));
    }
    const double nominal = kCohorts * kQueuesOfCohort * kNominal * wall;
    fmt::print(
        R"({{"wall_s":{:.2f},"workloads":{},"usage":{:.3f},"evictions":{},"classes":{{{}}}}})",
        wall, submitted_.size(), useful / nominal, evictions_, fmt::join(classes, ","));
    std::fflush(stdout);
    std::_Exit(0);
  }

  static inline const WriteOptions kWrite{.field_manager = "teams"};
  UvLoop& loop_;
  ApiClient& client_;
  ClusterState cluster_;
  Metrics metrics_{"bench"};
  std::unique_ptr<Informer<Pod>> pods_;
  std::map<std::string, Submitted> submitted_;
  MonotonicTime started_{};
  int finished_ = 0, evictions_ = 0;
};

int run(const std::string& kubeconfig) {
  UvLoop loop;
  ErrorsOnly log;
  const SystemHost host;
  Result<ClientConfig> config = load_client_config(host, {.kubeconfig = kubeconfig});
  if (!config) {
    fmt::print(stderr, "queue_fifth_bench: {}\n", describe(config.error()));
    return 1;
  }
  CurlTransport transport(loop, host, log, std::move(config).value());
  ApiClient client(loop, transport, log, {"bench", "teams"});
  client.limit(Traffic::kActing, TokenBucket(1000, 2000));  // as the runner of Kueue's test
  Teams(loop, client, log).run();
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  if (argc == 2) return berth::run(argv[1]);
  fmt::print(stderr, "usage: queue_fifth_bench KUBECONFIG\n");
  return 2;
}
