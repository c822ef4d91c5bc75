// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/prometheus_answer.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

const std::string kVector =
    R"({"status":"success","data":{"resultType":"vector","result":[)"
    R"({"metric":{"UUID":"GPU-a","pod":"p\"},{"},"value":[1790000000.5,"42"]},)"
    R"({"metric":{"UUID":"GPU-b","path":"C:\\"},"value":[1790000000.5,"NaN"]}]},)"
    R"("warnings":["a","b"]})";

struct Read {
  std::vector<std::string> series;
  Result<std::size_t> end = 0;
};
Read read(const std::string& body, std::size_t piece) {
  Read out;
  PrometheusAnswer answer([&](const LabelViews& labels, const Points& points) {
    std::string text;
    for (const auto& [name, value] : labels)
      text += std::string(name) + "=" + std::string(value) + " ";
    out.series.push_back(text + std::to_string(points.size()));
  });
  for (std::size_t at = 0; at < body.size(); at += piece)
    answer.take(std::string_view(body).substr(at, piece));
  out.end = answer.end();
  return out;
}

TEST(PrometheusAnswer, IsTheSameHoweverItIsSplit) {
  for (std::size_t piece = 1; piece <= kVector.size(); ++piece) {
    const Read got = read(kVector, piece);
    ASSERT_TRUE(got.end.has_value()) << describe(got.end.error());
    ASSERT_EQ(*got.end, 2u);
    ASSERT_EQ(got.series,
              (std::vector<std::string>{"UUID=GPU-a pod=p\"},{ 1", "UUID=GPU-b path=C:\\ 1"}));
  }
}

TEST(PrometheusAnswer, EveryCutIsAnErrorAndNotASurprise) {
  for (std::size_t length = 0; length < kVector.size(); ++length)
    EXPECT_FALSE(read(kVector.substr(0, length), 7).end.has_value()) << length;
}

TEST(PrometheusAnswer, TellsPrometheusOwnWords) {
  const Read got =
      read(R"({"status":"error","errorType":"bad_data","error":"too many samples"})", 9);
  ASSERT_FALSE(got.end.has_value());
  EXPECT_EQ(got.end.error().message, "Prometheus says: too many samples");
  EXPECT_FALSE(read("<html>gateway</html>", 4).end.has_value());
  EXPECT_FALSE(read(std::string(100'000, '['), 4096).end.has_value());
  EXPECT_FALSE(read(R"({"status":"success","data":{"resultType":"scalar","result":[1,"2"]}})", 5)
                   .end.has_value());
}

// One series that never ends is given up; a million short ones are counted and given up.
TEST(PrometheusAnswer, GigantsAreBounded) {
  const std::string begin = R"({"status":"success","data":{"resultType":"vector","result":[)";
  EXPECT_FALSE(
      read(begin + R"({"metric":{"a":")" + std::string(2u << 20, 'x'), 1u << 16).end.has_value());
  std::string many = begin;
  for (int i = 0; i < 500'000; ++i) many += "{},";
  EXPECT_FALSE(read(many, 1u << 16).end.has_value());
}

}  // namespace
}  // namespace berth
