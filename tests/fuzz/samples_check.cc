// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/observe/exposition.h"
#include "controller/observe/fold.h"
#include "controller/observe/prometheus_answer.h"
#include "controller/observe/round.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/plain_json.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

constexpr Time kNow{std::chrono::seconds(1'790'000'000)};
constexpr std::size_t kMostGpus = 256;  // per node

std::string told(LabelViews labels) {
  std::ranges::sort(labels);
  std::string text;
  for (const auto& [name, value] : labels) text += fmt::format("{}={}\n", name, value);
  return text;
}

struct Heard {
  std::vector<std::string> series, labels;
  Result<std::size_t> count = 0;
};

Heard hear(std::string_view text) {
  Heard heard;
  heard.count = read_exposition(
      text, [&](const CounterInfo& counter, const LabelViews& labels, double value) {
        heard.series.push_back(fmt::format("{} {}\n{}", counter.name, value, told(labels)));
      });
  return heard;
}

// The samples for a cluster with one node and one pod with a GPU.
class Keeper {
 public:
  Keeper() {
    cluster_.upsert<Node>(node("n1").a100_80(2), kNow);
    cluster_.upsert<Pod>(pod("p").gpu(1).on("n1"), kNow);
  }
  void add(const CounterInfo& counter, const LabelViews& labels, double value) {
    round_.add(counter, identify(labels), value, Told::kNow);
  }
  // Empty: at most one node's GPUs are kept, and all numbers are plausible.
  std::string fault() {
    Samples samples;
    fold(round_, cluster_, {.now = kNow, .interval = std::chrono::seconds(30), .threshold = 5},
         samples);
    for (const auto& [name, gpus] : samples.nodes) {
      if (name != "n1") return "keeps GPUs of a node that is not there: " + name;
      if (gpus.size() > kMostGpus) return "keeps more GPUs than a node has";
      for (const GpuSample& gpu : gpus) {
        if (gpu.activity && !(*gpu.activity >= 0 && *gpu.activity <= 1))
          return fmt::format("a GPU is {} at work", *gpu.activity);
        for (const GpuHolder& holder : gpu.holders)
          if (holder.pod != "p") return "is held by a pod that is not there";
      }
    }
    return {};
  }

 private:
  ClusterState cluster_;
  Round round_{cluster_, "gpu-operator"};
};

Heard answered(std::string_view rest, std::size_t piece) {
  Heard heard;
  PrometheusAnswer answer([&](const LabelViews& labels, const Points& points) {
    heard.labels.push_back(told(labels));
    std::string text = heard.labels.back();
    for (const auto& [time, value] : points)
      text += fmt::format("{} {}\n", time.time_since_epoch().count(), value);
    heard.series.push_back(std::move(text));
  });
  for (; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
    answer.take(rest.substr(0, piece));
  heard.count = answer.end();
  return heard;
}

// The labels of each series, by the JSON library. nullopt: it is more than an answer to a query.
std::optional<std::vector<std::string>> expected_labels(const Json& answer) {
  for (const auto& [key, value] : answer.items())
    for (const Json& child : value)
      if (key != "data" && child.is_structured()) return std::nullopt;
  const Json data = answer.value("data", Json());
  if (!data.is_object() || data.size() != 2 || !data.contains("result")) return std::nullopt;
  std::vector<std::string> all;
  for (const Json& series : data["result"]) {
    if (!series.is_object()) return std::nullopt;
    LabelViews labels;
    const Json metric = series.value("metric", Json::object());
    for (const auto& [name, value] : metric.items())
      labels.emplace_back(name, value.get_ref<const std::string&>());
    all.push_back(told(std::move(labels)));
  }
  return all;
}

}  // namespace

Verdict check_exposition(std::string_view text) {
  const Heard whole = hear(text);
  if (!whole.count.has_value()) return {};
  Verdict verdict{.read = !whole.series.empty()};
  Heard lines;
  std::size_t count = 0;
  Keeper keeper;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const Heard line = hear(rest.substr(0, end));
    lines.series.insert(lines.series.end(), line.series.begin(), line.series.end());
    if (line.count.has_value()) count += *line.count;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (lines.series != whole.series || count != *whole.count)
    verdict.wrong = "lines read one by one are not what they are together";
  (void)read_exposition(text, [&](const CounterInfo& counter, const LabelViews& labels,
                                  double value) { keeper.add(counter, labels, value); });
  if (const std::string fault = keeper.fault(); !fault.empty()) verdict.wrong = fault;
  return verdict;
}

Verdict check_prometheus(std::string_view input) {
  if (input.empty()) return {};
  const std::string_view rest = input.substr(1);
  const Heard whole = answered(rest, rest.size() + 1);
  const Heard pieces = answered(rest, 1 + static_cast<unsigned char>(input[0]));
  Verdict verdict{.read = whole.count.has_value()};
  if (whole.series != pieces.series || whole.count.has_value() != pieces.count.has_value())
    verdict.wrong = "the pieces in which it comes matter";
  if (!whole.count.has_value()) {
    if (describe(whole.count.error()).size() > 1000) verdict.wrong = "an error without end";
    return verdict;
  }
  if (*whole.count != whole.series.size()) verdict.wrong = "counts what it has not read";
  if (const std::optional<Json> json = plain_json(rest))
    if (const auto expected = expected_labels(*json); expected && *expected != whole.labels)
      verdict.wrong = "has other series than the JSON";
  return verdict;
}

}  // namespace berth::test
