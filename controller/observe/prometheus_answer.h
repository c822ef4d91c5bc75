// SPDX-License-Identifier: Apache-2.0
// PrometheusAnswer: what Prometheus' HTTP API says to a query, or to one over a range of time, read
// as its bytes come. It holds one series at a time: an answer may be as large as it likes.
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

// Points in the order of time; a query at one time has one of them. All of it lives until it
// returns.
using Points = std::vector<std::pair<Time, double>>;
using OnPoints = std::function<void(const LabelViews& labels, const Points& points)>;

class PrometheusAnswer {
 public:
  explicit PrometheusAnswer(OnPoints on_points);
  ~PrometheusAnswer();

  // Split anywhere. What comes after a fault is passed over.
  void take(std::string_view bytes);
  // How many series there were. An error says what is wrong in berth's words alone: whoever names
  // the address may not be allowed to read what answers there.
  Result<std::size_t> end();
  // Of those that berth has passed over: too long, or too many.
  std::size_t unread() const { return unread_; }

 private:
  void take_structure(char c);
  void keep(char c);
  void read_series();
  void fail(std::string where, std::string message);

  // The answer is {"status": …, "data": {"resultType": …, "result": [series, …]}}: the objects in
  // the third level are the series, each read by itself, and the rest is the frame.
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
