// SPDX-License-Identifier: Apache-2.0
// PrometheusAnswer: the answer of Prometheus' HTTP API to an instant query or a range query. It
// reads the bytes as they arrive and holds one series at a time, so an answer may be of any size.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/result.h"
#include "apis/base/time.h"
#include "controller/observe/identity.h"

namespace berth {

// The points are in the order of time. An instant query has one. Labels and points are valid until
// the callback returns.
using Points = std::vector<std::pair<Time, double>>;
using OnPoints = std::function<void(const LabelViews& labels, const Points& points)>;

class PrometheusAnswer {
 public:
  explicit PrometheusAnswer(OnPoints on_points);
  ~PrometheusAnswer();

  // Reads the next bytes, split anywhere. After an error it ignores the rest.
  void take(std::string_view bytes);
  // Returns the number of series. An error holds only berth's own words: the user who sets the
  // address may have no right to read what answers there.
  Result<std::size_t> end();
  // Series that berth skipped: too long, or too many.
  std::size_t unread() const { return unread_; }

 private:
  void take_structure(char c);
  void keep(char c);
  void read_series();
  void fail(std::string where, std::string message);

  // The answer is {"status": …, "data": {"resultType": …, "result": [series, …]}}. Each object in
  // the third level is a series, parsed by itself. The rest is the frame.
  struct Parser;
  std::unique_ptr<Parser> parser_;
  OnPoints on_points_;
  std::string frame_;
  std::string series_;
  std::size_t count_ = 0;
  std::size_t unread_ = 0;
  int depth_ = 0;
  bool in_series_ = false;
  bool in_text_ = false;
  bool escaped_ = false;
  std::optional<Error> error_;
  LabelViews labels_;
  Points points_;
};

}  // namespace berth
