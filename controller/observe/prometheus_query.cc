// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/prometheus_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace berth {
namespace {

using Kind = PrometheusQuery::Kind;

// Of what is measured as a share of time.
bool has_peaks(Counter counter) {
  return counter == Counter::kGpuUtil || counter == Counter::kEngineActive;
}

// What a URL's query holds as it is.
constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += kPlain.find(c) != std::string_view::npos
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

std::string seconds(Time time) {
  return fmt::format("{:.3f}", std::chrono::duration<double>(time.time_since_epoch()).count());
}

// Only the labels that tell whose it is: replicas of Prometheus become one, and answers half as
// long.
std::string most_of(const std::string& inner) {
  return fmt::format("max by ({}) ({})", fmt::join(identifying_labels(), ","), inner);
}

// Where the exporter is scraped less often than berth asks, the last value that there is.
std::string over_time(std::string_view function, std::string_view name, Duration span) {
  return most_of(fmt::format("{}({}[{}ms])", function, name, span.count())) + " or " +
         most_of(std::string(name));
}

PrometheusQuery at_once(const CounterInfo& counter, Kind kind, const SamplingWindow& window) {
  std::string query;
  if (kind == Kind::kPeak)
    query = over_time("max_over_time", counter.name, 2 * window.interval);
  else if (has_peaks(counter.counter))
    query = over_time("avg_over_time", counter.name, window.interval);
  else
    query = most_of(std::string(counter.name));
  return {&counter, kind, "/api/v1/query?timeout=20s&query=" + escape(query)};
}

PrometheusQuery history(const CounterInfo& counter, const SamplingWindow& window) {
  const Duration step = window.step();
  const std::string query =
      most_of(fmt::format("max_over_time({}[{}ms])", counter.name, step.count()));
  return {&counter, Kind::kHistory,
          fmt::format("/api/v1/query_range?timeout=20s&start={}&end={}&step={:.3f}&query={}",
                      seconds(window.now - window.grace - step), seconds(window.now),
                      std::chrono::duration<double>(step).count(), escape(query))};
}

}  // namespace

std::vector<PrometheusQuery> prometheus_queries(const SamplingWindow& window, bool with_history) {
  std::vector<PrometheusQuery> out;
  for (const CounterInfo& counter : counters()) {
    out.push_back(at_once(counter, Kind::kNow, window));
    const bool draws = counter.counter == Counter::kPower;
    if (has_peaks(counter.counter) || draws) out.push_back(at_once(counter, Kind::kPeak, window));
    if (has_peaks(counter.counter) && with_history) out.push_back(history(counter, window));
  }
  return out;
}

std::optional<Time> quiet_run(const CounterInfo& counter, const Points& points,
                              const SamplingWindow& window) {
  const Duration gap = window.step() * 5 / 2;
  std::optional<Time> since, last;
  for (const auto& [at, number] : points) {
    const Reading read = read_counter(counter, number);
    if (read.verdict != Truth::kGood) continue;
    const bool busy = read.value * 100 >= window.threshold;
    if (!last || at - *last > gap || busy) since = at;
    last = at;
  }
  if (!last || window.now - *last > gap) return std::nullopt;
  return since;
}

PrometheusAnswer answer_into(Round& round, const PrometheusQuery& query,
                             const SamplingWindow& window) {
  return PrometheusAnswer([&round, counter = query.counter, kind = query.kind, window](
                              const LabelViews& labels, const Points& points) {
    const SeriesIdentity series = identify(labels);
    if (kind == Kind::kHistory) {
      // Of instances it says nothing.
      if (counter->counter == Counter::kGpuUtil && !series.instance.empty()) return;
      if (const auto since = quiet_run(*counter, points, window)) round.add_quiet(series, *since);
      return;
    }
    const Told told = kind == Kind::kPeak ? Told::kPeak : Told::kNow;
    for (const auto& [_, number] : points) round.add(*counter, series, number, told);
  });
}

}  // namespace berth
