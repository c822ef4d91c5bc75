// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/prometheus_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace berth {
namespace {

using Kind = PrometheusQuery::Kind;

// Whether the counter measures a share of time.
bool has_peaks(Counter counter) {
  return counter == Counter::kGpuUtil || counter == Counter::kEngineActive;
}

// The characters that need no escape in a URL's query.
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

std::string label_value(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Writes the queries of one round.
class Questions {
 public:
  Questions(const SamplingWindow& window, const SeriesMatch& match)
      : window_(window), match_(match) {
    std::vector<std::string> labels;
    for (const auto& [name, value] : match) labels.push_back(name + "=" + label_value(value));
    selector_ = fmt::format("{{{}}}", fmt::join(labels, ","));
  }

  PrometheusQuery at_once(const CounterInfo& counter, Kind kind) const {
    std::string query;
    if (kind == Kind::kPeak)
      query = over_time("max_over_time", counter, 2 * window_.interval);
    else if (has_peaks(counter.counter))
      query = over_time("avg_over_time", counter, window_.interval);
    else
      query = most_of(series_of(counter));
    return {&counter, kind, "/api/v1/query?timeout=20s&query=" + escape(query)};
  }

  PrometheusQuery history(const CounterInfo& counter) const {
    const Duration step = window_.step();
    const std::string query =
        most_of(fmt::format("max_over_time({}[{}ms])", series_of(counter), step.count()));
    return {&counter, Kind::kHistory,
            fmt::format("/api/v1/query_range?timeout=20s&start={}&end={}&step={:.3f}&query={}",
                        seconds(window_.now - window_.grace - step), seconds(window_.now),
                        std::chrono::duration<double>(step).count(), escape(query))};
  }

 private:
  std::string series_of(const CounterInfo& counter) const {
    return std::string(counter.name) + selector_;
  }

  // Keeps only the labels that identify() reads and those that must match. So replicas of
  // Prometheus count once, and answers are half as long.
  std::string most_of(const std::string& inner) const {
    std::vector<std::string_view> labels = identifying_labels();
    for (const auto& [name, _] : match_)
      if (std::ranges::find(labels, name) == labels.end()) labels.push_back(name);
    return fmt::format("max by ({}) ({})", fmt::join(labels, ","), inner);
  }

  // If Prometheus scrapes the exporter less often than berth asks, the last value counts.
  std::string over_time(std::string_view function, const CounterInfo& counter,
                        Duration span) const {
    const std::string series = series_of(counter);
    return most_of(fmt::format("{}({}[{}ms])", function, series, span.count())) + " or " +
           most_of(series);
  }

  const SamplingWindow& window_;
  const SeriesMatch& match_;
  std::string selector_;
};

std::string_view value_of(const LabelViews& labels, std::string_view name) {
  for (const auto& [key, value] : labels)
    if (key == name) return value;
  return {};
}

bool has_all(const LabelViews& labels, const SeriesMatch& match) {
  return std::ranges::all_of(
      match, [&](const auto& wanted) { return value_of(labels, wanted.first) == wanted.second; });
}

constexpr std::size_t kMaxForeign = 20;  // pods that are named

}  // namespace

SeriesMatch series_match(const PrometheusSpec& spec, const std::string& agents_namespace) {
  SeriesMatch match;
  for (const auto& [name, value] : spec.match_labels) match.emplace_back(name.str(), value.str());
  if (match.empty()) match.emplace_back("namespace", agents_namespace);
  return match;
}

std::string describe_match(const SeriesMatch& match) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : match) parts.push_back(name + "=" + value);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<PrometheusQuery> prometheus_queries(const SamplingWindow& window, bool with_history,
                                                const SeriesMatch& match) {
  const Questions questions(window, match);
  std::vector<PrometheusQuery> out;
  for (const CounterInfo& counter : counters()) {
    out.push_back(questions.at_once(counter, Kind::kNow));
    const bool draws = counter.counter == Counter::kPower;
    if (has_peaks(counter.counter) || draws) out.push_back(questions.at_once(counter, Kind::kPeak));
    if (has_peaks(counter.counter) && with_history) out.push_back(questions.history(counter));
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
                             const SamplingWindow& window, const SeriesMatch& match) {
  return PrometheusAnswer([&round, counter = query.counter, kind = query.kind, window, match](
                              const LabelViews& labels, const Points& points) {
    const SeriesIdentity series = identify(labels);
    if (!has_all(labels, match))
      return round.ignored().add_foreign(
          round.known_pod(series.exporter_namespace, series.exporter_pod), 1);
    if (kind == Kind::kHistory) {
      // DCGM does not measure it for MIG instances.
      if (counter->counter == Counter::kGpuUtil && !series.instance.empty()) return;
      if (const auto since = quiet_run(*counter, points, window)) round.add_quiet(series, *since);
      return;
    }
    const Told told = kind == Kind::kPeak ? Told::kPeak : Told::kNow;
    for (const auto& [_, number] : points) round.add(*counter, series, number, told);
  });
}

// Selects the series that lack at least one of the labels.
std::string foreign_query(const SeriesMatch& match) {
  std::vector<std::string_view> names;
  for (const CounterInfo& counter : counters()) names.push_back(counter.name);
  std::vector<std::string> parts;
  for (const auto& [name, value] : match)
    parts.push_back(fmt::format("{{__name__=~\"{}\",{}!={}}}", fmt::join(names, "|"), name,
                                label_value(value)));
  return "/api/v1/query?timeout=20s&query=" +
         escape(fmt::format("topk({}, count by (namespace,pod) ({}))", kMaxForeign,
                            fmt::join(parts, " or ")));
}

PrometheusAnswer foreign_into(Round& round) {
  return PrometheusAnswer([&round](const LabelViews& labels, const Points& points) {
    for (const auto& [_, number] : points)
      if (number >= 1 && number < 1e9)
        round.ignored().add_foreign(
            round.known_pod(value_of(labels, "namespace"), value_of(labels, "pod")),
            static_cast<std::size_t>(number));
  });
}

}  // namespace berth
