// SPDX-License-Identifier: Apache-2.0
// Which series are of one GPU, and what an answer of Prometheus puts down under it.
#include "controller/observe/round.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "controller/observe/prometheus_query.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using Kind = PrometheusQuery::Kind;
using ::testing::DoubleEq;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr char kByIndex[] = "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",Hostname=\"n1\"} 40\n";
constexpr char kByBoth[] = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 42\n";

// As where an exporter's custom counter has fewer labels than the others.
TEST(Rounds, WhereOneSeriesTellsNoUuidTheIndexTellsTheGpu) {
  for (const std::string& text :
       {std::string(kByIndex) + kByBoth, std::string(kByBoth) + kByIndex}) {
    Measured measured;
    measured.look(text);
    ASSERT_THAT(measured.samples.on("n1"), SizeIs(1)) << text;
    EXPECT_TRUE(measured.samples.on("n1")[0].activity) << text;
    EXPECT_TRUE(measured.samples.on("n1")[0].temperature_c) << text;
  }
}

TEST(Rounds, ByUuidsOtherwiseAndEachInstanceApart) {
  const auto gpus = [](const char* one, const char* other) {
    Measured measured;
    measured.look(
        fmt::format("DCGM_FI_DEV_GPU_TEMP{{{},Hostname=\"n1\"}} 40\n"
                    "DCGM_FI_DEV_POWER_USAGE{{{},Hostname=\"n1\"}} 90\n",
                    one, other));
    return measured.samples.on("n1").size();
  };
  EXPECT_EQ(gpus(R"(gpu="0",UUID="GPU-a")", R"(gpu="1",UUID="GPU-a")"), 1u);
  EXPECT_EQ(gpus(R"(gpu="0",UUID="GPU-a")", R"(gpu="0",UUID="GPU-b")"), 2u);
  EXPECT_EQ(gpus(R"(gpu="0")", R"(gpu="1")"), 2u);
  EXPECT_EQ(gpus(R"(gpu="0",UUID="GPU-a",GPU_I_ID="7")", R"(gpu="0",UUID="GPU-a",GPU_I_ID="7")"),
            1u);
  EXPECT_EQ(gpus(R"(gpu="0",UUID="GPU-a",GPU_I_ID="7")", R"(gpu="0",UUID="GPU-a",GPU_I_ID="8")"),
            2u);
}

class Answered : public ::testing::Test {
 protected:
  // A series of an answer: its labels behind the host's, and its points, so long ago each.
  void answer(Counter counter, Kind kind, const std::string& labels,
              const std::vector<std::pair<Duration, double>>& told) {
    std::string points;
    for (const auto& [ago, number] : told)
      points += fmt::format(
          "{}[{:.3f},\"{}\"]", points.empty() ? "" : ",",
          std::chrono::duration<double>((measured_.now - ago).time_since_epoch()).count(), number);
    const bool history = kind == Kind::kHistory;
    PrometheusAnswer answer =
        answer_into(round_, {&info_of(counter), kind, ""},
                    {.now = measured_.now, .interval = 30s, .grace = 1h, .threshold = 5});
    answer.take(fmt::format(
        R"({{"status":"success","data":{{"resultType":"{}","result":[{{"metric":{{{}}},"{}":{}}}]}}}})",
        history ? "matrix" : "vector", labels, history ? "values" : "value",
        history ? "[" + points + "]" : points));
    const Result<std::size_t> end = answer.end();
    ASSERT_TRUE(end.has_value()) << describe(end.error());
    ASSERT_EQ(*end, 1u);
  }
  // What is known of the node's only GPU.
  const GpuReading& reading() {
    static const GpuReading kNothing;
    const auto found = round_.nodes().find("n1");
    if (found == round_.nodes().end()) return kNothing;
    EXPECT_THAT(found->second, SizeIs(1));
    return found->second.front();
  }

  Measured measured_;
  Round round_{measured_.cluster};
};

constexpr char kGpu[] = R"("Hostname":"n1","gpu":"0","UUID":"GPU-a")";
constexpr char kInstance[] = R"("Hostname":"n1","gpu":"0","UUID":"GPU-a","GPU_I_ID":"7")";

TEST_F(Answered, AHistoryTellsSinceWhenAGpuHasBeenQuiet) {
  answer(Counter::kGpuUtil, Kind::kHistory, kGpu, {{6min, 0}, {4min, 1}, {2min, 0}, {0min, 0}});
  EXPECT_THAT(reading().quiet_from, Optional(measured_.now - 6min));
  EXPECT_EQ(reading().util.count, 0) << "it is no reading of now";
  answer(Counter::kGpuUtil, Kind::kNow, kGpu, {{0min, 0}});
  measured_.rules.now = measured_.now;
  fold(round_, measured_.cluster, measured_.rules, measured_.samples);
  ASSERT_THAT(measured_.samples.on("n1"), SizeIs(1));
  EXPECT_THAT(measured_.samples.on("n1")[0].quiet_since, Optional(measured_.now - 6min));
}

TEST_F(Answered, OfSeveralHistoriesTheLastBurstCounts) {
  const auto engine = [&] {
    answer(Counter::kEngineActive, Kind::kHistory, kGpu, {{6min, 0}, {4min, 0.9}, {2min, 0}});
  };
  const auto util = [&] {
    answer(Counter::kGpuUtil, Kind::kHistory, kGpu, {{6min, 0}, {4min, 0}, {2min, 0}});
  };
  engine(), util();
  EXPECT_THAT(reading().quiet_from, Optional(measured_.now - 4min));
  engine();
  EXPECT_THAT(reading().quiet_from, Optional(measured_.now - 4min)) << "in whichever order";
}

TEST_F(Answered, AHistoryThatSaysNothingPutsNothingDown) {
  answer(Counter::kGpuUtil, Kind::kHistory, kGpu, {{20min, 0}, {10min, 0}});
  EXPECT_THAT(round_.nodes(), IsEmpty()) << "its last point is too old";
  answer(Counter::kGpuUtil, Kind::kHistory, kInstance, {{2min, 0}, {0min, 0}});
  EXPECT_THAT(round_.nodes(), IsEmpty()) << "utilization is not measured of instances";
  answer(Counter::kGpuUtil, Kind::kHistory, R"("Hostname":"n9","gpu":"0")", {{0min, 0}});
  EXPECT_THAT(round_.nodes(), IsEmpty());
  EXPECT_EQ(round_.strangers(), 1u);
  answer(Counter::kEngineActive, Kind::kHistory, kInstance, {{2min, 0}, {0min, 0}});
  EXPECT_THAT(reading().quiet_from, Optional(measured_.now - 2min));
  EXPECT_EQ(reading().gpu.instance, "7");
}

TEST_F(Answered, PeaksArePutDownApartFromWhatIsNow) {
  answer(Counter::kGpuUtil, Kind::kNow, kGpu, {{0min, 10}});
  answer(Counter::kGpuUtil, Kind::kPeak, kGpu, {{0min, 90}});
  answer(Counter::kEngineActive, Kind::kNow, kGpu, {{0min, 0.2}});
  answer(Counter::kEngineActive, Kind::kPeak, kGpu, {{0min, 0.8}});
  answer(Counter::kPower, Kind::kNow, kGpu, {{0min, 120}});
  answer(Counter::kPower, Kind::kPeak, kGpu, {{0min, 350}});
  EXPECT_THAT(reading().util.total(), Optional(DoubleEq(0.1)));
  EXPECT_THAT(reading().util_peak.total(), Optional(DoubleEq(0.9)));
  EXPECT_THAT(reading().engine, Optional(0.2));
  EXPECT_THAT(reading().engine_peak, Optional(0.8));
  EXPECT_FLOAT_EQ(reading().gpu.power_w.value_or(0), 120);
  EXPECT_THAT(reading().power_peak, Optional(350.0));
}

}  // namespace
}  // namespace berth::test
