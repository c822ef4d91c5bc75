// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/prometheus.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

#include "controller/sim/nvidia/gpu_series.h"

namespace berth::sim {
namespace {

constexpr std::chrono::milliseconds kAnswersIn{5};

std::string answer(std::string_view type, std::string_view series) {
  return fmt::format(R"({{"status":"success","data":{{"resultType":"{}","result":[{}]}}}})", type,
                     series);
}

// The labels that Prometheus takes from the scrape, not from the exporter.
std::string labels_of(const GpuHolder* holder) {
  if (holder == nullptr) return "";
  return fmt::format(R"(,"exported_namespace":"{}","exported_pod":"{}","exported_container":"{}")",
                     holder->namespace_, holder->pod, holder->container);
}

std::string one(const std::string& node, const GaugedNode& machine, std::size_t gpu,
                const GpuHolder* holder, double value) {
  return fmt::format(
      R"({{"metric":{{"namespace":"gpu-operator","Hostname":"{}","gpu":"{}","UUID":"GPU-{}-{}","modelName":"{}"{}}},"value":[0,"{}"]}})",
      node, gpu, machine.made, gpu, machine.product, labels_of(holder), value);
}

std::string now_of(const GpuSeries& asked, const GpuGauges& gauges, const GpuHolders& holders) {
  std::string out;
  const auto add = [&](const std::string& series) { out += (out.empty() ? "" : ",") + series; };
  for (const auto& [name, node] : gauges.nodes()) {
    for (std::size_t i = 0; node.told && i < node.gpus.size(); ++i) {
      if (node.gpus[i].lost) continue;
      const GpuHolder* holder = holders.of(name, i);
      add(one(name, node, i, holder, asked.value(node.gpus[i], gauges.use_of(holder))));
    }
    for (const auto& [i, gauge] : node.forged)
      add(one(name, node, i, nullptr, asked.value(gauge, 0)));
  }
  return answer("vector", out);
}

class Connection : public Transport {
 public:
  Connection(Loop& process, Prometheus& prometheus) : process_(process), prometheus_(prometheus) {}
  void start(HttpRequest request, std::shared_ptr<ResponseSink> sink, std::stop_token) override {
    process_.call_after(kAnswersIn,
                        [&prometheus = prometheus_, target = std::move(request.target), sink] {
                          sink->on_head(200, {});
                          sink->on_bytes(prometheus.answer_to(target));
                          sink->on_end(TransportOutcome::kComplete, "");
                        });
  }

 private:
  Loop& process_;
  Prometheus& prometheus_;
};

}  // namespace

std::unique_ptr<Transport> Prometheus::connect(Loop& process) {
  return std::make_unique<Connection>(process, *this);
}

std::string Prometheus::answer_to(std::string_view target) {
  if (target.starts_with("/api/v1/query_range?")) return answer("matrix", "");
  if (gauges_.names_pods()) holders_.look(store_);
  // For the query after other targets' series: all series here come from the exporter.
  if (target.find("count%20by") != target.npos) return answer("vector", "");
  for (const GpuSeries& series : gpu_series())
    if (target.find(series.counter) != target.npos) return now_of(series, gauges_, holders_);
  return answer("vector", "");
}

}  // namespace berth::sim
