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

// What answers there may be no Prometheus, and whoever reads the error not its friend.
TEST(PrometheusAnswer, RepeatsNoWordOfTheReply) {
  const auto error_of = [](const std::string& body) {
    const Read got = read(body, 9);
    EXPECT_FALSE(got.end.has_value()) << body;
    return got.end.has_value() ? "" : describe(got.end.error());
  };
  EXPECT_EQ(error_of(R"({"status":"error","errorType":"bad_data","error":"hunter2"})"),
            "the query failed, errorType bad_data");
  EXPECT_EQ(error_of(R"({"status":"error","errorType":"hunter2","error":"hunter2"})"),
            "the query failed");
  const std::string begin = R"({"status":"success","data":{"resultType":"vector","result":[)";
  for (const std::string& body :
       {std::string(R"({"status":"hunter2"})"), std::string(R"({"hunter2":1})"),
        std::string(R"({"status":{"hunter2":1}})"),
        std::string(R"({"status":"success","data":{"hunter2":1}})"),
        std::string(R"({"status":"success","data":{"resultType":"hunter2","result":[]}})"),
        begin + R"({"metric":{"hunter2":{"hunter2":1}},"value":[1,"2"]}]}})",
        begin + R"({"metric":{"a":"b"},"value":[1,"hunter2"]}]}})", std::string("hunter2")})
    EXPECT_EQ(error_of(body).find("hunter2"), std::string::npos) << error_of(body);
}

TEST(PrometheusAnswer, OfWhatIsNoneIsAnError) {
  EXPECT_FALSE(read("<html>gateway</html>", 4).end.has_value());
  EXPECT_FALSE(read(std::string(100'000, '['), 4096).end.has_value());
  EXPECT_FALSE(read(R"({"status":"success","data":{"resultType":"scalar","result":[1,"2"]}})", 5)
                   .end.has_value());
}

// One exporter's series, however many and however long, hide no other's.
TEST(PrometheusAnswer, PassesOverWhatIsTooMuchAndReadsTheRest) {
  const std::string good = R"({"metric":{"gpu":"0"},"value":[1,"2"]})";
  std::string body = R"({"status":"success","data":{"resultType":"vector","result":[)";
  body += R"({"metric":{"a":")" + std::string(2u << 20, 'x') + R"("},"value":[1,"2"]},)" + good;
  for (int i = 0; i < 450'000; ++i) body += ",{}";
  std::size_t series = 0;
  PrometheusAnswer answer(
      [&](const LabelViews& labels, const Points&) { series += labels.size(); });
  answer.take(body + "]}}");
  const Result<std::size_t> end = answer.end();
  ASSERT_TRUE(end.has_value()) << describe(end.error());
  EXPECT_EQ(*end, 450'002u);
  EXPECT_EQ(series, 1u);
  EXPECT_EQ(answer.unread(), 450'002u - 400'000u + 1);
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
