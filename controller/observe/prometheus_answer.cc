// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/prometheus_answer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apis/codec/fault.h"
#include "apis/codec/json_cursor.h"
#include "apis/codec/json_reader.h"
#include "apis/codec/parse_json.h"

namespace berth {
namespace {

// Enough for MIG instances on every GPU of the largest cluster that Kubernetes supports. berth
// skips the series after these.
constexpr std::size_t kMaxSeries = 400'000;
constexpr std::size_t kMaxPoints = 11'000;  // Prometheus' own limit for one series
constexpr std::size_t kMaxSeriesBytes = 1u << 20;
constexpr std::size_t kMaxFrameBytes = 64u << 10;  // warnings, statistics, an error's text
constexpr int kSeriesDepth = 3;
constexpr int kMaxDepth = 32;

bool read_number(std::string_view text, double& out) {
  out = std::numeric_limits<double>::quiet_NaN();
  if (text == "NaN" || text.ends_with("Inf")) return true;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && stop == text.data() + text.size();
}

// [1790000000.781, "42"]
bool read_point(od::value value, Points& out, Fault& fault) {
  if (out.size() == kMaxPoints) return fault.too_many();
  double seconds = std::numeric_limits<double>::quiet_NaN(), number = 0;
  int place = 0;
  const bool good = each_item(value, fault, [&](od::value item) {
    if (place++ == 0) {
      const auto code = item.get_double().get(seconds);
      return code == simdjson::SUCCESS || fault.wrong(item, "a time", code);
    }
    std::string_view text;
    if (place > 2 || !read(item, text, fault)) return false;
    return read_number(text, number) || fault.bad("is not a number");
  });
  if (!good) return false;
  if (place != 2 || !(std::abs(seconds) < 1e11)) return fault.bad("is not a point in time");
  const std::chrono::duration<double> since_epoch(seconds);
  out.emplace_back(Time(std::chrono::duration_cast<Time::duration>(since_epoch)), number);
  return true;
}

bool read_labels(od::value value, LabelViews& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value part) {
    if (out.size() == kMaxLabels) return fault.too_many();
    std::string_view text;
    if (!read(part, text, fault)) return false;
    out.emplace_back(key, text);
    return true;
  });
}

bool read_one(od::value value, LabelViews& labels, Points& points, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value part) {
    if (key == "metric") return read_labels(part, labels, fault);
    if (key == "value") return read_point(part, points, fault);
    if (key != "values") return true;
    return each_item(part, fault, [&](od::value item) { return read_point(item, points, fault); });
  });
}

// The error types of Prometheus' API. berth repeats no other word.
std::string known_kind(std::string_view kind) {
  for (const std::string_view known : {"timeout", "canceled", "execution", "bad_data", "internal",
                                       "unavailable", "not_found", "not_acceptable"})
    if (kind == known) return fmt::format(", errorType {}", known);
  return "";
}

}  // namespace

struct PrometheusAnswer::Parser {
  od::parser parser;
};

PrometheusAnswer::PrometheusAnswer(OnPoints on_points)
    : parser_(std::make_unique<Parser>()), on_points_(std::move(on_points)) {}
PrometheusAnswer::~PrometheusAnswer() = default;

void PrometheusAnswer::fail(std::string where, std::string message) {
  if (!error_) error_ = decode_error(std::move(where), std::move(message));
}

void PrometheusAnswer::take(std::string_view bytes) {
  for (const char c : bytes) {
    if (error_) return;
    if (!in_text_) {
      take_structure(c);
      continue;
    }
    keep(c);
    in_text_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
  }
}

void PrometheusAnswer::take_structure(char c) {
  const bool opens = c == '{' || c == '[';
  const bool closes = c == '}' || c == ']';
  in_text_ = c == '"';
  if (c == '{' && depth_ == kSeriesDepth) in_series_ = true;
  if (opens && ++depth_ > kMaxDepth) return fail("", "is deeper than any answer of Prometheus'");
  // The frame is parsed without its series, so it must not keep the commas between them.
  if (in_series_ || depth_ != kSeriesDepth || c != ',') keep(c);
  if (!closes) return;
  if (--depth_ < 0) return fail("", "is not JSON");
  if (!in_series_ || depth_ != kSeriesDepth) return;
  in_series_ = false;
  read_series();
  series_.clear();
}

void PrometheusAnswer::keep(char c) {
  if (in_series_) {
    if (series_.size() < kMaxSeriesBytes) series_ += c;
    return;
  }
  if (frame_.size() == kMaxFrameBytes) return fail("", "is no answer of Prometheus'");
  frame_ += c;
}

void PrometheusAnswer::read_series() {
  if (count_++ >= kMaxSeries || series_.size() == kMaxSeriesBytes) {
    ++unread_;
    return;
  }
  series_.reserve(series_.size() + simdjson::SIMDJSON_PADDING);
  const simdjson::padded_string_view padded(series_.data(), series_.size(), series_.capacity());
  Fault fault;
  od::document document;
  od::value root;
  auto code = parser_->parser.iterate(padded).get(document);
  if (code == simdjson::SUCCESS) code = document.get_value().get(root);
  labels_.clear();
  points_.clear();
  if (code != simdjson::SUCCESS) fault.broken(code);
  if (code == simdjson::SUCCESS && read_one(root, labels_, points_, fault))
    return on_points_(labels_, points_);
  fail(fmt::format("data.result[{}]", count_ - 1), "is no series of Prometheus'");
}

Result<std::size_t> PrometheusAnswer::end() {
  if (error_) return *error_;
  const nlohmann::json frame = parse_foreign_json(frame_);
  if (frame.is_discarded() || !frame.is_object()) return decode_error("", "is not a JSON object");
  std::optional<Error> wrong;
  const JsonCursor root(&frame, wrong);
  std::string status, kind, type;
  root["status"].read(status);
  root["errorType"].read(kind);
  root["data"]["resultType"].read(type);
  if (wrong) return decode_error("", "is no answer of Prometheus'");
  if (status == "error") return decode_error("", "the query failed" + known_kind(kind));
  if (status != "success") return decode_error("status", "is not that of Prometheus' API");
  if (type != "vector" && type != "matrix")
    return decode_error("data.resultType", "is neither vector nor matrix");
  return count_;
}

}  // namespace berth
