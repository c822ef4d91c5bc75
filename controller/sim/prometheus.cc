// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/prometheus.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

namespace berth::sim {
namespace {

constexpr std::chrono::milliseconds kAnswersIn{5};

// What a GPU draws that somebody uses, and one that nobody does.
constexpr double kWattsAtWork = 300, kWattsIdle = 60;

struct Series {
  std::string_view counter;
  double (*value)(const GpuGauge& gpu, int use);  // of its use in percent
};

constexpr Series kSeries[] = {
    {"DCGM_FI_DEV_GPU_UTIL", [](const GpuGauge&, int use) { return 1.0 * use; }},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", [](const GpuGauge&, int use) { return use / 100.0; }},
    {"DCGM_FI_DEV_POWER_USAGE",
     [](const GpuGauge&, int use) { return use > 0 ? kWattsAtWork : kWattsIdle; }},
    {"DCGM_FI_DEV_FB_USED", [](const GpuGauge&, int) { return 20'000.0; }},
    {"DCGM_FI_DEV_GPU_TEMP", [](const GpuGauge& gpu, int) { return 1.0 * gpu.temperature; }},
    {"DCGM_FI_DEV_XID_ERRORS", [](const GpuGauge& gpu, int) { return 1.0 * gpu.xid; }},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
     [](const GpuGauge& gpu, int) { return 1.0 * gpu.double_bit_errors; }},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE",
     [](const GpuGauge& gpu, int) { return gpu.remap_failed ? 1.0 : 0.0; }},
};

std::string answer(std::string_view type, std::string_view series) {
  return fmt::format(R"({{"status":"success","data":{{"resultType":"{}","result":[{}]}}}})", type,
                     series);
}

// As Prometheus has the labels that it does not take from the exporter but from the scrape.
std::string labels_of(const GpuHolder* holder) {
  if (holder == nullptr) return "";
  return fmt::format(R"(,"exported_namespace":"{}","exported_pod":"{}","exported_container":"{}")",
                     holder->namespace_, holder->pod, holder->container);
}

std::string now_of(const Series& asked, const GpuGauges& gauges, const GpuHolders& holders) {
  std::string out;
  for (const auto& [name, node] : gauges.nodes()) {
    for (std::size_t i = 0; node.told && i < node.gpus.size(); ++i) {
      if (node.gpus[i].lost) continue;
      const GpuHolder* holder = holders.of(name, i);
      out += fmt::format(
          R"({}{{"metric":{{"Hostname":"{}","gpu":"{}","UUID":"GPU-{}-{}","modelName":"{}"{}}},"value":[0,"{}"]}})",
          out.empty() ? "" : ",", name, i, node.made, i, node.product, labels_of(holder),
          asked.value(node.gpus[i], gauges.use_of(holder)));
    }
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
  for (const Series& series : kSeries)
    if (target.find(series.counter) != target.npos) return now_of(series, gauges_, holders_);
  return answer("vector", "");
}

}  // namespace berth::sim
