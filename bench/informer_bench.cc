// SPDX-License-Identifier: Apache-2.0
// informer_bench: what berth's own caches of pods and nodes cost, over its real transport and loop:
// until they are full, and then for a number of pod events. Counterpart of peers/informer; prints
// the same JSON object.
#include <fmt/format.h>
#include <malloc.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "bench/usage.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/live/curl_transport.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"
#include "controller/runtime/informer.h"
#include "controller/runtime/metrics.h"

namespace berth {
namespace {

class ErrorsOnly : public Log {
 public:
  void write(LogLevel level, std::string_view message,
             std::initializer_list<Field> fields) override {
    if (level < LogLevel::kWarn) return;
    fmt::print(stderr, "informer_bench: {}\n", message);
    for (const auto& [key, value] : fields) fmt::print(stderr, "  {}: {}\n", key, value.text);
  }
};

struct Report {
  double sync_cpu_s = 0, sync_wall_s = 0, sync_rss_mib = 0, settled_rss_mib = 0;
  double events_cpu_s = 0, events_wall_s = 0;
};

class Bench {
 public:
  Bench(UvLoop& loop, ApiClient& client, Log& log, std::uint64_t events)
      : loop_(loop), client_(client), wanted_(events) {
    const InformerBase::Callbacks callbacks{
        .on_cached = [this](std::string_view, const ObjectMeta&) { on_cached(); },
        .on_synced = [this] { on_synced(); },
        .on_fatal = [](const std::string& why) { fmt::print(stderr, "{}\n", why); }};
    nodes_ = std::make_unique<Informer<Node>>(client, cluster_, log, metrics_, "nodes",
                                              InformerScope{}, false, callbacks, nullptr, 1);
    pods_ = std::make_unique<Informer<Pod>>(client, cluster_, log, metrics_, "pods",
                                            InformerScope{}, false, callbacks, nullptr, 2);
  }

  void run() {
    start_ = usage_now();
    nodes_->start();
    pods_->start();
    loop_.run();
    const double per_100k =
        wanted_ == 0 ? 0 : report_.events_cpu_s * 1e5 / static_cast<double>(wanted_);
    const double rate = wanted_ == 0 ? 0 : static_cast<double>(wanted_) / report_.events_wall_s;
    fmt::print(
        "{{\"pods\": {}, \"nodes\": {}, \"sync_cpu_s\": {:.3f}, \"sync_wall_s\": {:.3f}, "
        "\"sync_rss_mib\": {:.1f}, \"settled_rss_mib\": {:.1f}, \"events\": {}, "
        "\"events_cpu_s_per_100k\": {:.3f}, \"events_per_s\": {:.0f}}}\n",
        cluster_.pods().size(), cluster_.nodes().size(), report_.sync_cpu_s, report_.sync_wall_s,
        report_.sync_rss_mib, report_.settled_rss_mib, wanted_, per_100k, rate);
  }

 private:
  void on_synced() {
    if (!nodes_->synced() || !pods_->synced()) return;
    const Usage now = usage_now();
    report_.sync_cpu_s = now.cpu_s - start_.cpu_s;
    report_.sync_wall_s = wall_s(start_, now);
    report_.sync_rss_mib = memory_now().resident_mib;
    // Once the objects' last buffers are gone.
    loop_.post([this] {
      malloc_trim(0);
      report_.settled_rss_mib = memory_now().resident_mib;
      if (wanted_ == 0) return loop_.stop();
      start_ = usage_now();
      counting_ = true;
      spawn(loop_, open_gate());
    });
  }

  Task<void> open_gate() {
    ApiRequest request = get_request("/go");
    CallOptions options;
    const Result<Reply> reply = co_await client_.send(std::move(request), options);
    if (!reply.has_value()) {
      fmt::print(stderr, "informer_bench: /go: {}\n", describe(reply.error()));
      loop_.stop();
    }
  }

  void on_cached() {
    if (!counting_ || ++seen_ < wanted_) return;
    const Usage now = usage_now();
    report_.events_cpu_s = now.cpu_s - start_.cpu_s;
    report_.events_wall_s = wall_s(start_, now);
    loop_.stop();
  }

  UvLoop& loop_;
  ApiClient& client_;
  ClusterState cluster_;
  Metrics metrics_{"bench"};
  std::unique_ptr<Informer<Node>> nodes_;
  std::unique_ptr<Informer<Pod>> pods_;
  const std::uint64_t wanted_;
  std::uint64_t seen_ = 0;
  bool counting_ = false;
  Usage start_;
  Report report_;
};

int run(const std::string& kubeconfig, std::uint64_t events) {
  UvLoop loop;
  ErrorsOnly log;
  const SystemHost host;
  Result<ClientConfig> config = load_client_config(host, {.kubeconfig = kubeconfig});
  if (!config.has_value()) {
    fmt::print(stderr, "informer_bench: {}\n", describe(config.error()));
    return 1;
  }
  CurlTransport transport(loop, host, log, std::move(config).value());
  ApiClient client(loop, transport, log, {"bench", "informer"});
  Bench(loop, client, log, events).run();
  // The watches are open still: what they hold goes with the process.
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: informer_bench KUBECONFIG [EVENTS]\n");
    return 2;
  }
  return berth::run(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0);
}
