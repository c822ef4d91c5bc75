// SPDX-License-Identifier: Apache-2.0
// Which series are of one GPU, and what an answer of Prometheus puts down under it.
#include "controller/observe/round.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "controller/fleet/node_facts.h"
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

// Node n1 has four GPUs.
TEST(Rounds, GpusThatTheNodeDoesNotHaveCrowdOutNoneThatItHas) {
  Measured measured;
  std::string text;
  for (int gpu = 4; gpu < 400; ++gpu)
    text += fmt::format(
        "DCGM_FI_DEV_GPU_TEMP{{gpu=\"{0}\",UUID=\"GPU-x{0}\",Hostname=\"n1\"}} 40\n", gpu);
  for (const char* none : {"-1", "00", "1e0", "0x1", "", "99999999999999999999"})
    text += fmt::format(
        "DCGM_FI_DEV_GPU_TEMP{{gpu=\"{0}\",UUID=\"GPU-y{0}\",Hostname=\"n1\"}} 40\n", none);
  text += "DCGM_FI_DEV_GPU_TEMP{UUID=\"GPU-z\",Hostname=\"n1\"} 40\n";
  for (int i = 0; i < 300; ++i)
    text += fmt::format(
        "DCGM_FI_DEV_GPU_TEMP{{gpu=\"0\",UUID=\"GPU-a\",GPU_I_ID=\"{}\",Hostname=\"n1\"}} 40\n", i);
  for (int gpu = 0; gpu < 4; ++gpu)
    text += fmt::format("DCGM_FI_DEV_GPU_TEMP{{gpu=\"{0}\",UUID=\"GPU-{0}\",Hostname=\"n1\"}} 40\n",
                        gpu);
  measured.look(text);
  std::vector<std::string> whole;
  for (const GpuSample& gpu : measured.samples.on("n1"))
    if (gpu.instance.empty()) whole.push_back(gpu.index.str());
  EXPECT_THAT(whole, ::testing::UnorderedElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(measured.samples.on("n1"), SizeIs(20)) << "and sixteen instances of GPU 0";
}

TEST(Rounds, ANodeHasAsManyGpusAsItsLabelsSayOrElseAsItOffers) {
  const auto most = [](Node node) { return gpus_at_most(node); };
  EXPECT_EQ(most(node("n1").a100_80(4)), 4);
  Node bare = NodeBuilder("n1");
  EXPECT_EQ(most(bare), kMaxGpusOfNode);
  bare.capacity.set("nvidia.com/gpu", Quantity::whole(2));
  EXPECT_EQ(most(bare), 2);
  bare.capacity.set("nvidia.com/gpu", Quantity::whole(1'000'000));
  EXPECT_EQ(most(bare), kMaxGpusOfNode);
}

class Ignored : public ::testing::Test {
 protected:
  Ignored() {
    measured_.cluster.upsert<Node>(node("n2").a100_80(4), measured_.now);
    measured_.run(pod("dcgm").in("gpu-operator").on("n1").label("app", "nvidia-dcgm-exporter"));
  }
  void add(const std::string& text) {
    const Result<std::size_t> read = read_exposition(
        text, [&](const CounterInfo& counter, const LabelViews& labels, double value) {
          round_.add(counter, identify(labels), value, Told::kNow);
        });
    ASSERT_TRUE(read.has_value());
  }
  std::string told() {
    const std::optional<Cause> cause = round_.ignored().told("namespace=gpu-operator");
    return cause ? cause->reason + ": " + cause->message : "";
  }

  Measured measured_;
  Round round_{measured_.cluster, "gpu-operator"};
};

// As behind an address that is another exporter's by now.
TEST_F(Ignored, IsWhatAScrapedExporterSaysOfOtherNodes) {
  round_.be_on("n1");
  add("DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n2\"} 79\n"
      "DCGM_FI_DEV_XID_ERRORS{gpu=\"1\",UUID=\"GPU-b\",Hostname=\"n2.example.com\"} 79\n");
  EXPECT_THAT(round_.nodes(), IsEmpty());
  EXPECT_EQ(told(),
            "ForeignSeries: 2 series of the exporter of node n1 are about other nodes, and berth "
            "ignores them");
  add("DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"dcgm\"} 79\n");
  EXPECT_THAT(round_.nodes(), SizeIs(1)) << "its pod's name is no other node's";
}

TEST_F(Ignored, IsWhatAnExportersPodSaysOfAnotherNodeThanItsOwn) {
  const char* target =
      R"(exported_namespace="a",exported_pod="b",namespace="gpu-operator",pod="dcgm")";
  add(fmt::format("DCGM_FI_DEV_XID_ERRORS{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n2\",{}}} 79\n",
                  target));
  EXPECT_THAT(round_.nodes(), IsEmpty());
  add(fmt::format("DCGM_FI_DEV_XID_ERRORS{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\",{}}} 79\n",
                  target));
  EXPECT_TRUE(round_.nodes().contains("n1"));
  EXPECT_FALSE(round_.nodes().contains("n2"));
}

TEST_F(Ignored, AreGpusBeyondTheNodesCountWhichAreReported) {
  add("DCGM_FI_DEV_GPU_TEMP{gpu=\"7\",UUID=\"GPU-<b>\",Hostname=\"n1\"} 40\n");
  EXPECT_EQ(told(),
            "ForeignSeries: 1 series are about GPUs that node n1 does not have, by its labels or "
            "its capacity, and berth ignores them");
}

// Of what a label says nothing is kept but letters, digits and a few signs.
TEST_F(Ignored, IsTextThatNoExporterWrites) {
  add("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-<b>\",modelName=\"<script>\",Hostname=\"n1\"} 40\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"hunter2\",Hostname=\"n1\"} 0.42\n");
  ASSERT_TRUE(round_.nodes().contains("n1"));
  const GpuSample& gpu = round_.nodes().at("n1").front().gpu;
  EXPECT_EQ(gpu.uuid.view(), "");
  EXPECT_EQ(gpu.model.view(), "");
  EXPECT_EQ(round_.lie(),
            "DCGM_FI_DEV_GPU_UTIL of GPU 1 of node n1 says 0.42, which is not in the exporter's "
            "unit");
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
                    {.now = measured_.now, .interval = 30s, .grace = 1h, .threshold = 5},
                    {{"namespace", "gpu-operator"}});
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
  Round round_{measured_.cluster, "gpu-operator"};
};

constexpr char kGpu[] = R"("namespace":"gpu-operator","Hostname":"n1","gpu":"0","UUID":"GPU-a")";
constexpr char kInstance[] =
    R"("namespace":"gpu-operator","Hostname":"n1","gpu":"0","UUID":"GPU-a","GPU_I_ID":"7")";

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

// A Prometheus that answers more than it was asked for.
TEST_F(Answered, SeriesWithoutTheLabelsThatCountAreForeign) {
  measured_.run(pod("fake").in("team-b").on("n1"));
  answer(Counter::kXid, Kind::kNow,
         R"("namespace":"team-b","pod":"fake","exported_pod":"x","Hostname":"n1","gpu":"0")",
         {{0min, 79}});
  answer(Counter::kXid, Kind::kNow, R"("Hostname":"n1","gpu":"0","pod":"hunter2")", {{0min, 79}});
  answer(Counter::kGpuUtil, Kind::kHistory, R"("namespace":"team-b","Hostname":"n1","gpu":"0")",
         {{0min, 0}});
  EXPECT_THAT(round_.nodes(), IsEmpty());
  EXPECT_EQ(
      round_.ignored().told("namespace=gpu-operator")->message,
      "Prometheus has 3 series of DCGM's without namespace=gpu-operator, which berth ignores: "
      "2 from targets that are no pods of this cluster, 1 from team-b/fake; if they are of "
      "dcgm-exporter, write its labels into spec.metrics.prometheus.matchLabels");
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
  answer(Counter::kGpuUtil, Kind::kHistory,
         R"("namespace":"gpu-operator","Hostname":"n9","gpu":"0")", {{0min, 0}});
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
