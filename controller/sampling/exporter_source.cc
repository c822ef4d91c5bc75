// SPDX-License-Identifier: Apache-2.0
// Outline: who is to be scraped; one after the other, on several tracks; what came of it.
#include "controller/sampling/exporter_source.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/parse_json.h"
#include "apis/reasons.h"
#include "controller/core/plural.h"
#include "controller/io/task_group.h"
#include "controller/observe/exposition.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

// Of one exporter: sixteen GPUs, each cut in seven, with all counters that DCGM has.
constexpr std::size_t kMaxBytes = 4u << 20;
constexpr std::chrono::milliseconds kScrape = 10s;
constexpr std::chrono::milliseconds kScrapeRound = 60s;
constexpr int kTracks = 16;
constexpr int kPage = 100;  // pods are large
constexpr int kMaxPages = 1'000;

}  // namespace

struct ExporterSource::Tally {
  Round& round;
  MonotonicTime end{};
  std::size_t next = 0;
  std::size_t failed = 0;
  std::string first;  // what was wrong with the first one
};

Task<std::optional<Cause>> ExporterSource::fetch(Round& round, std::stop_token stop) {
  const std::vector<std::string> known = known_exporters(cluster_, namespace_);
  if (known.empty())
    co_return Cause{reasons::kExporterMissing,
                    fmt::format("no pod of dcgm-exporter runs in {}; name a Prometheus in "
                                "spec.metrics.prometheus.url if it runs elsewhere",
                                namespace_)};
  if (known != known_ || pods_.empty()) {
    const Result<void> found = co_await look_for_exporters(stop);
    if (!found.has_value())
      co_return Cause{reasons::kMetricsUnreachable,
                      fmt::format("dcgm-exporter's pods in {} can't be listed: {}", namespace_,
                                  describe(found.error()))};
    known_ = known;
  }
  Loop& loop = client_.loop();
  Tally tally{.round = round, .end = loop.now() + kScrapeRound, .first = {}};
  TaskGroup tracks(loop);
  for (int i = 0; i < kTracks; ++i) tracks.spawn(scrape_each(tally, stop));
  while (tracks.running() > 0) co_await sleep_for(20ms, std::stop_token());
  if (tally.failed == 0) co_return std::nullopt;
  // Their pods may have moved.
  known_.clear();
  co_return Cause{
      reasons::kMetricsUnreachable,
      fmt::format(
          "{} of {} can't be scraped, as {}; the chart's networkPolicy and those of {} must "
          "let berth reach port 9400",
          tally.failed, plural(static_cast<std::int64_t>(pods_.size()), "exporter"), tally.first,
          namespace_)};
}

Task<Result<void>> ExporterSource::look_for_exporters(std::stop_token stop) {
  std::vector<ExporterPod> found;
  for (const std::string_view selector : kExporterSelectors) {
    ListOptions list;
    list.namespace_ = namespace_;
    list.limit = kPage;
    list.label_selector = selector;
    for (int page = 0; page < kMaxPages; ++page) {
      const Result<Reply> reply = co_await client_.send(list_request(kKind<Pod>, list),
                                                        CallOptions(Lane::kBulk, stop, 30s));
      if (!reply.has_value()) co_return reply.error();
      const nlohmann::json json = parse_foreign_json(reply->body);
      if (!json.is_object()) co_return decode_error("", "is not a list of pods");
      for (ExporterPod& pod : read_exporter_pods(json)) found.push_back(std::move(pod));
      list.continue_token =
          json.value(nlohmann::json::json_pointer("/metadata/continue"), std::string());
      if (list.continue_token.empty()) break;
    }
  }
  pods_ = std::move(found);
  co_return Result<void>();
}

Task<void> ExporterSource::scrape_each(Tally& tally, std::stop_token stop) {
  while (tally.next < pods_.size() && !stop.stop_requested()) {
    const ExporterPod pod = pods_[tally.next++];
    Result<void> done =
        Error{.kind = ErrorKind::kTimeout,
              .message = fmt::format("a round takes longer than {} s", kScrapeRound / 1s)};
    if (client_.loop().now() < tally.end) done = co_await scrape(pod, tally.round, stop);
    if (done.has_value() || stop.stop_requested()) continue;
    if (tally.failed++ == 0)
      tally.first = fmt::format("that of {}: {}", pod.node, describe(done.error()));
  }
}

Task<Result<void>> ExporterSource::scrape(ExporterPod pod, Round& round, std::stop_token stop) {
  ClientConfig config;
  config.server = "http://" + pod.address;
  config.without_proxy = true;  // no proxy leads to a pod
  const std::unique_ptr<Transport> transport = connect_(std::move(config));
  std::string text;
  GetRequest request{.target = "/metrics",
                     .headers = {{"Accept", "text/plain;version=0.0.4"}},
                     .deadline = kScrape,
                     .max_bytes = kMaxBytes};
  const Result<void> done = co_await http_get(
      client_.loop(), *transport, std::move(request),
      [&text](std::string_view bytes) { text += bytes; }, stop);
  if (!done.has_value()) co_return done.error();
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
