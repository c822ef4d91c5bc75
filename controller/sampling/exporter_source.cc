// SPDX-License-Identifier: Apache-2.0
// Outline: which pods to scrape; several tracks that each scrape one pod after the other; the
// results.
#include "controller/sampling/exporter_source.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/io/task_group.h"
#include "controller/observe/exposition.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

// For one exporter: sixteen GPUs in seven MIG instances each, with all counters of DCGM.
constexpr std::size_t kMaxBytes = 4u << 20;
constexpr int kTracks = 16;

}  // namespace

struct ExporterSource::Scraping {
  std::vector<ExporterPod> pods;
  Round& round;
  std::chrono::milliseconds deadline;  // per exporter
  std::chrono::milliseconds span;      // for all
  MonotonicTime end{};
  std::size_t next = 0;
  Silences silences{};
};

Task<std::optional<Cause>> ExporterSource::fetch(Round& round, std::stop_token stop) {
  Scraping all{.pods = running_exporters(cluster_, namespace_),
               .round = round,
               .deadline = 10s,
               .span = 60s};
  if (all.pods.empty())
    co_return Cause{reasons::kExporterMissing,
                    fmt::format("no pod of dcgm-exporter runs in {}; name a Prometheus in "
                                "spec.metrics.prometheus.url if it runs elsewhere",
                                namespace_)};
  co_await scrape_all(all, stop);
  if (all.silences.empty()) co_return std::nullopt;
  const auto& [node, why] = *all.silences.begin();
  co_return Cause{
      reasons::kMetricsUnreachable,
      fmt::format(
          "{} of {} can't be scraped, as that of {}: {}; the chart's networkPolicy and those of {} "
          "must let berth reach port 9400",
          all.silences.size(), plural(static_cast<std::int64_t>(all.pods.size()), "exporter"), node,
          why, namespace_)};
}

Task<ExporterSource::Silences> ExporterSource::ask(std::vector<std::string> nodes, Round& round,
                                                   std::stop_token stop) {
  Scraping all{.pods = {}, .round = round, .deadline = 5s, .span = 20s};
  std::map<std::string, ExporterPod> by_node;
  for (ExporterPod& pod : running_exporters(cluster_, namespace_))
    by_node.emplace(pod.node, std::move(pod));
  for (const std::string& node : nodes) {
    const auto pod = by_node.find(node);
    if (pod != by_node.end())
      all.pods.push_back(pod->second);
    else
      all.silences[node] = fmt::format("no pod of dcgm-exporter runs there in {}", namespace_);
  }
  co_await scrape_all(all, stop);
  for (const std::string& node : nodes)
    if (!round.nodes().contains(node)) all.silences.try_emplace(node, "shows no GPU of its node");
  co_return std::move(all.silences);
}

Task<void> ExporterSource::scrape_all(Scraping& all, std::stop_token stop) {
  if (all.pods.empty()) co_return;
  all.end = loop_.now() + all.span;
  TaskGroup tracks(loop_);
  for (int i = 0; i < kTracks; ++i) tracks.spawn(scrape_each(all, stop));
  while (tracks.running() > 0) co_await sleep_for(20ms, std::stop_token());
}

Task<void> ExporterSource::scrape_each(Scraping& all, std::stop_token stop) {
  while (all.next < all.pods.size() && !stop.stop_requested()) {
    const ExporterPod pod = all.pods[all.next++];
    Result<void> done =
        Error{.kind = ErrorKind::kTimeout,
              .message = fmt::format("a round takes longer than {} s", all.span / 1s)};
    if (loop_.now() < all.end) done = co_await scrape(pod, all.deadline, all.round, stop);
    if (!done.has_value() && !stop.stop_requested())
      all.silences.try_emplace(pod.node, describe(done.error()));
  }
}

Task<Result<void>> ExporterSource::scrape(ExporterPod pod, std::chrono::milliseconds deadline,
                                          Round& round, std::stop_token stop) {
  if (pod.address.empty()) co_return invalid_spec("", "its pod has no address yet");
  ClientConfig config;
  config.server = "http://" + pod.address;
  config.without_proxy = true;  // pods are never behind a proxy
  const std::unique_ptr<Transport> transport = connect_(std::move(config));
  std::string text;
  GetRequest request{.target = "/metrics",
                     .headers = {{"Accept", "text/plain;version=0.0.4"}},
                     .deadline = deadline,
                     .max_bytes = kMaxBytes};
  const Result<void> done = co_await http_get(
      loop_, *transport, std::move(request), [&text](std::string_view bytes) { text += bytes; },
      stop);
  if (!done.has_value()) co_return done.error();
  if (!is_still_there(cluster_, namespace_, pod))
    co_return Error{.kind = ErrorKind::kUnavailable, .message = "its pod has moved meanwhile"};
  round.be_on(pod.node);
  const Result<std::size_t> read = read_exposition(
      text, [&](const CounterInfo& counter, const LabelViews& labels, double value) {
        round.add(counter, identify(labels), value, Told::kNow);
      });
  round.be_on("");
  if (!read.has_value()) co_return read.error();
  co_return Result<void>();
}

}  // namespace berth
