// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/exporters.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "controller/sim/kube/pod_address.h"
#include "controller/sim/nvidia/gpu_series.h"

namespace berth::sim {
namespace {

constexpr std::chrono::milliseconds kAnswersIn{5};
constexpr std::string_view kScheme = "http://";
constexpr std::string_view kPort = ":9400";

std::string labels_of(const GpuHolder* holder) {
  if (holder == nullptr) return "";
  return fmt::format(R"(,namespace="{}",pod="{}",container="{}")", holder->namespace_, holder->pod,
                     holder->container);
}

class Connection : public Transport {
 public:
  Connection(Loop& process, Exporters& exporters, std::string node)
      : process_(process), exporters_(exporters), node_(std::move(node)) {}
  void start(HttpRequest, std::shared_ptr<ResponseSink> sink, std::stop_token) override {
    process_.call_after(kAnswersIn, [&exporters = exporters_, node = node_, sink] {
      const std::string text = exporters.exposition(node);
      if (text.empty()) return sink->on_end(TransportOutcome::kCannotConnect, "refused");
      sink->on_head(200, {});
      sink->on_bytes(text);
      sink->on_end(TransportOutcome::kComplete, "");
    });
  }

 private:
  Loop& process_;
  Exporters& exporters_;
  const std::string node_;
};

}  // namespace

std::unique_ptr<Transport> Exporters::connect(Loop& process, const std::string& server) {
  if (!server.starts_with(kScheme) || !server.ends_with(kPort)) return nullptr;
  const std::string address =
      server.substr(kScheme.size(), server.size() - kScheme.size() - kPort.size());
  for (const auto& [node, _] : gauges_.nodes())
    if (pod_address(node) == address) return std::make_unique<Connection>(process, *this, node);
  return nullptr;
}

std::string Exporters::exposition(const std::string& node) {
  const auto found = gauges_.nodes().find(node);
  if (found == gauges_.nodes().end() || !found->second.told) return "";
  if (gauges_.names_pods()) holders_.look(store_);
  std::string out = "# of " + node + "\n";
  for (std::size_t i = 0; i < found->second.gpus.size(); ++i) {
    const GpuGauge& gpu = found->second.gpus[i];
    if (gpu.lost) continue;
    const GpuHolder* holder = holders_.of(node, i);
    for (const GpuSeries& series : gpu_series())
      out += fmt::format(R"({}{{Hostname="{}",gpu="{}",UUID="GPU-{}-{}",modelName="{}"{}}} {})"
                         "\n",
                         series.counter, node, i, found->second.made, i, found->second.product,
                         labels_of(holder), series.value(gpu, gauges_.use_of(holder)));
  }
  return out;
}

}  // namespace berth::sim
