// SPDX-License-Identifier: Apache-2.0
// Whose exporters are asked while a Prometheus measures, and what is kept of what they say.
#include "controller/observe/nodes_to_ask.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "apis/base/names.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string of_gpu(int gpu, const char* counter, double value, const char* labels = "") {
  return fmt::format("{}{{gpu=\"{}\",UUID=\"GPU-{}\",Hostname=\"n1\"{}}} {}\n", counter, gpu, gpu,
                     labels, value);
}
constexpr char kXid[] = "DCGM_FI_DEV_XID_ERRORS";
constexpr char kUtil[] = "DCGM_FI_DEV_GPU_UTIL";
constexpr char kTemp[] = "DCGM_FI_DEV_GPU_TEMP";

// Node n1, told by a Prometheus; its exporter has been asked once.
struct ToldNode : Measured {
  ToldNode() {
    samples.second_hand = true;
    look_at();
    answer();
  }
  explicit ToldNode(const std::string& more) : ToldNode() {
    now += 30s;
    look_at(more);
  }
  void look_at(const std::string& more = "") {
    look(more + of_gpu(0, kXid, 0) + of_gpu(1, kXid, 0));
  }
  // The exporter says so, at the time of the last look.
  void answer(const std::string& text = of_gpu(0, kXid, 0) + of_gpu(1, kXid, 0)) {
    Round round(cluster, "gpu-operator");
    round.be_on("n1");
    const Result<std::size_t> read = read_exposition(
        text, [&](const CounterInfo& counter, const LabelViews& labels, double value) {
          round.add(counter, identify(labels), value, Told::kNow);
        });
    ASSERT_TRUE(read.has_value());
    fold_witnesses(round, {}, cluster, rules, samples);
  }
  void keep_silent() {
    fold_witnesses(Round(cluster, "gpu-operator"), {{"n1", "answers 503"}}, cluster, rules,
                   samples);
  }
  std::vector<std::string> asked() { return nodes_to_ask(cluster, samples, policy().spec); }
  void change(const std::function<void(GPUClusterPolicySpec&)>& how) {
    GPUClusterPolicy next = policy();
    how(next.spec);
    cluster.upsert(std::move(next), now);
  }
};

TEST(NodesToAsk, AreThoseThatWereNeverAskedAndEachNowAndThen) {
  ToldNode told;
  EXPECT_THAT(told.asked(), IsEmpty()) << "it has just been asked";
  told.samples.witnesses.clear();
  EXPECT_THAT(told.asked(), ElementsAre("n1"));
  told.answer();
  told.now += 20min - 1s;
  told.look_at();
  EXPECT_THAT(told.asked(), IsEmpty());
  told.now += 1s;
  told.look_at();
  EXPECT_THAT(told.asked(), ElementsAre("n1"));
}

TEST(NodesToAsk, AreThoseOfWhichAFaultIsTold) {
  EXPECT_THAT(ToldNode("").asked(), IsEmpty());
  EXPECT_THAT(ToldNode(of_gpu(0, kXid, 79)).asked(), ElementsAre("n1"));
  EXPECT_THAT(ToldNode(of_gpu(0, "DCGM_FI_DEV_ROW_REMAP_FAILURE", 1)).asked(), ElementsAre("n1"));
  EXPECT_THAT(ToldNode(of_gpu(0, kTemp, 120)).asked(), ElementsAre("n1"));
  EXPECT_THAT(ToldNode(of_gpu(0, kTemp, 60)).asked(), IsEmpty());
}

TEST(NodesToAsk, AreThoseWhoseGpuIsNotToldAnyMore) {
  ToldNode told;
  told.now += 3min;
  told.look(of_gpu(0, kXid, 0));
  EXPECT_THAT(told.asked(), ElementsAre("n1"));
  told.now += 3min;
  told.look("");
  EXPECT_THAT(told.asked(), IsEmpty()) << "a node of which nothing is told is no suspect";
}

TEST(NodesToAsk, AreThoseWithARecordOfTheirHealth) {
  ToldNode told("");
  Node node = *told.cluster.nodes().find("n1");
  node.meta.annotations.set(names::kHealthAnnotation, "{}");
  told.cluster.upsert(std::move(node), told.now);
  EXPECT_THAT(told.asked(), ElementsAre("n1"));
}

TEST(NodesToAsk, AreThoseWhoseIdleGpusMayBeTakenSoon) {
  const auto asked_after = [](IdlePolicy idle, Duration quiet) {
    ToldNode told;
    told.change([&](GPUClusterPolicySpec& spec) {
      spec.idle.policy = idle;
      spec.idle.grace_period = 10min;
    });
    told.run(pod("web").gpu(1).on("n1"));
    for (const Time end = told.now + quiet; told.now <= end; told.now += 30s)
      told.look_at(of_gpu(0, kUtil, 0, R"(,namespace="team-a",pod="web")"));
    told.now -= 30s;
    return !told.asked().empty();
  };
  EXPECT_FALSE(asked_after(IdlePolicy::kAlways, 8min));
  EXPECT_TRUE(asked_after(IdlePolicy::kAlways, 9min));
  EXPECT_TRUE(asked_after(IdlePolicy::kOnPressure, 9min));
  EXPECT_FALSE(asked_after(IdlePolicy::kNotify, 9min)) << "nothing is taken";
}

// Else an error of long ago would look new, once what hid it is gone.
TEST(NodesToAsk, AreThoseOfWhichAnotherErrorIsToldThanTheirExporterShowed) {
  ToldNode told;
  told.answer(of_gpu(0, kXid, 79));
  EXPECT_THAT(told.asked(), ElementsAre("n1"));
  told.answer();
  EXPECT_THAT(told.asked(), IsEmpty());
}

TEST(NodesToAsk, WhoDoesNotAnswerIsAskedLessOften) {
  ToldNode told(of_gpu(0, kXid, 79));
  told.keep_silent();
  EXPECT_THAT(told.samples.witness_of("n1")->gpus, SizeIs(2)) << "what it said stays";
  for (const Duration step : {30s, 60s, 29s}) {
    told.now += step;
    told.look_at(of_gpu(0, kXid, 79));
    EXPECT_THAT(told.asked(), IsEmpty());
  }
  told.now += 1s;
  told.look_at(of_gpu(0, kXid, 79));
  EXPECT_THAT(told.asked(), ElementsAre("n1"));
}

TEST(NodesToAsk, AreNoMoreThanARoundHasRoomFor) {
  Measured many;
  std::string text;
  for (int n = 0; n < 300; ++n) {
    const std::string name = fmt::format("m{:03}", n);
    many.cluster.upsert<Node>(node(name).a100_80(1), many.now);
    text += fmt::format("{}{{gpu=\"0\",UUID=\"GPU\",Hostname=\"{}\"}} 0\n", kXid, name);
  }
  many.look(text);
  const auto asked = [&] { return nodes_to_ask(many.cluster, many.samples, many.policy().spec); };
  const std::vector<std::string> first = asked();
  EXPECT_THAT(first, SizeIs(256));
  for (const std::string& name : first) many.samples.witnesses[name].asked = many.now;
  EXPECT_THAT(asked(), SizeIs(44)) << "then the others";
}

}  // namespace
}  // namespace berth::test
