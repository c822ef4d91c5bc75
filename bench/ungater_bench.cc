// SPDX-License-Identifier: Apache-2.0
// ungater_bench: the least that can let gated pods go, as a measure for berth's queues: a cached
// watch, one JSON patch per pod, 32 in flight, the same client under the same rate limit; no quota,
// no order, no ledger. It begins, as berth does, when GPUQueue `bench` is no longer held, and ends
// with its standard input.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "apis/base/names.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/client/token_bucket.h"
#include "controller/core/json_patch.h"
#include "controller/io/permits.h"
#include "controller/live/curl_transport.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"
#include "controller/runtime/informer.h"
#include "controller/runtime/metrics.h"

namespace berth {
namespace {

constexpr std::size_t kAtOnce = 32;

class ErrorsOnly : public Log {
 public:
  void write(LogLevel level, std::string_view message, std::initializer_list<Field>) override {
    if (level >= LogLevel::kWarn) fmt::print(stderr, "ungater_bench: {}\n", message);
  }
};

class Ungater {
 public:
  Ungater(UvLoop& loop, ApiClient& client, Log& log) : loop_(loop), client_(client) {
    const InformerBase::Callbacks callbacks{
        .on_cached = nullptr,
        .on_synced = [this] { on_synced(); },
        .on_fatal = [](const std::string& why) { fmt::print(stderr, "{}\n", why); }};
    queues_ = std::make_unique<Informer<GPUQueue>>(
        client, cluster_, log, metrics_, "gpuqueues", InformerScope{}, false, callbacks,
        [this](const GPUQueue*, const GPUQueue* now) { on_queue(now); }, 1);
    pods_ = std::make_unique<Informer<Pod>>(
        client, cluster_, log, metrics_, "pods", InformerScope{.unfinished = true}, false,
        callbacks, [this](const Pod*, const Pod* now) { on_pod(now); }, 2);
  }
  void run() {
    queues_->start();
    pods_->start();
    loop_.run();
  }

 private:
  void on_synced() {
    if (!queues_->synced() || !pods_->synced()) return;
    fmt::print("synced\n");
    std::fflush(stdout);
  }
  void on_queue(const GPUQueue* queue) {
    open_ = queue != nullptr && queue->spec.stop_policy == StopPolicy::kNone;
    if (open_)
      for (const auto& pod : cluster_.pods()) on_pod(pod.get());
  }
  void on_pod(const Pod* pod) {
    if (!open_ || pod == nullptr) return;
    const auto& gates = pod->shape->scheduling_gates;
    if (gates.size() != 1 || gates.front() != names::kQueueGate) return;
    if (sent_.insert(pod->meta.uid).second) spawn(loop_, ungate(pod->meta));
  }
  Task<void> ungate(ObjectMeta pod) {
    const Permits::Permit permit = co_await permits_.acquire();
    std::string patch = JsonPatch()
                            .test("/metadata/uid", pod.uid)
                            .test("/spec/schedulingGates/0/name", names::kQueueGate)
                            .remove("/spec/schedulingGates/0")
                            .str();
    const WriteOptions write{.field_manager = "ungater"};
    ApiRequest request =
        json_patch_request(kKind<Pod>, {pod.namespace_.str(), pod.name}, std::move(patch), write);
    const Result<Reply> reply = co_await client_.send(std::move(request), CallOptions());
    if (!reply) fmt::print(stderr, "ungater_bench: {}\n", describe(reply.error()));
  }

  UvLoop& loop_;
  ApiClient& client_;
  ClusterState cluster_;
  Metrics metrics_{"bench"};
  Permits permits_{loop_, kAtOnce};
  std::unique_ptr<Informer<GPUQueue>> queues_;
  std::unique_ptr<Informer<Pod>> pods_;
  std::set<std::string> sent_;  // by uid
  bool open_ = false;
};

int run(const std::string& kubeconfig) {
  UvLoop loop;
  ErrorsOnly log;
  const SystemHost host;
  Result<ClientConfig> config = load_client_config(host, {.kubeconfig = kubeconfig});
  if (!config) {
    fmt::print(stderr, "ungater_bench: {}\n", describe(config.error()));
    return 1;
  }
  CurlTransport transport(loop, host, log, std::move(config).value());
  ApiClient client(loop, transport, log, {"bench", "ungater"});
  client.limit(Traffic::kActing, TokenBucket(300, 500));
  std::thread([] {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
    std::_Exit(0);
  }).detach();
  Ungater(loop, client, log).run();
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  if (argc == 2) return berth::run(argv[1]);
  fmt::print(stderr, "usage: ungater_bench KUBECONFIG\n");
  return 2;
}
