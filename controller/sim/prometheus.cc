// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/prometheus.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>

namespace berth::sim {
namespace {

constexpr std::chrono::milliseconds kAnswersIn{5};

struct Series {
  std::string_view counter;
  double (*value)(const GpuGauge& gpu);
};

// A GPU at work, whatever else is wrong with it.
constexpr Series kSeries[] = {
    {"DCGM_FI_DEV_GPU_UTIL", [](const GpuGauge&) { return 50.0; }},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", [](const GpuGauge&) { return 0.5; }},
    {"DCGM_FI_DEV_POWER_USAGE", [](const GpuGauge&) { return 300.0; }},
    {"DCGM_FI_DEV_FB_USED", [](const GpuGauge&) { return 20'000.0; }},
    {"DCGM_FI_DEV_GPU_TEMP", [](const GpuGauge& gpu) { return 1.0 * gpu.temperature; }},
    {"DCGM_FI_DEV_XID_ERRORS", [](const GpuGauge& gpu) { return 1.0 * gpu.xid; }},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
     [](const GpuGauge& gpu) { return 1.0 * gpu.double_bit_errors; }},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE",
     [](const GpuGauge& gpu) { return gpu.remap_failed ? 1.0 : 0.0; }},
};

std::string answer(std::string_view type, std::string_view series) {
  return fmt::format(R"({{"status":"success","data":{{"resultType":"{}","result":[{}]}}}})", type,
                     series);
}

std::string now_of(const Series& asked, const GpuGauges& gauges) {
  std::string out;
  for (const auto& [name, node] : gauges.nodes()) {
    for (std::size_t i = 0; node.told && i < node.gpus.size(); ++i) {
      if (node.gpus[i].lost) continue;
      out += fmt::format(
          R"({}{{"metric":{{"Hostname":"{}","gpu":"{}","UUID":"GPU-{}-{}","modelName":"{}"}},"value":[0,"{}"]}})",
          out.empty() ? "" : ",", name, i, node.made, i, node.product, asked.value(node.gpus[i]));
    }
  }
  return answer("vector", out);
}

std::string answer_to(std::string_view target, const GpuGauges& gauges) {
  if (target.starts_with("/api/v1/query_range?")) return answer("matrix", "");
  for (const Series& series : kSeries)
    if (target.find(series.counter) != target.npos) return now_of(series, gauges);
  return answer("vector", "");
}

class Connection : public Transport {
 public:
  Connection(Loop& process, const GpuGauges& gauges) : process_(process), gauges_(gauges) {}
  void start(HttpRequest request, std::shared_ptr<ResponseSink> sink, std::stop_token) override {
    process_.call_after(kAnswersIn, [&gauges = gauges_, target = std::move(request.target), sink] {
      sink->on_head(200, {});
      sink->on_bytes(answer_to(target, gauges));
      sink->on_end(TransportOutcome::kComplete, "");
    });
  }

 private:
  Loop& process_;
  const GpuGauges& gauges_;
};

}  // namespace

std::unique_ptr<Transport> connect_to_prometheus(Loop& process, const GpuGauges& gauges) {
  return std::make_unique<Connection>(process, gauges);
}

}  // namespace berth::sim
