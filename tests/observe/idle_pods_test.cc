// SPDX-License-Identifier: Apache-2.0
// What a pod is told before its idle GPUs may be taken back, and which pods that may happen to.
#include "controller/observe/idle_pods.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "controller/observe/gpu_use.h"
#include "controller/observe/reconcile.h"
#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class IdlePods : public ::testing::Test {
 protected:
  IdlePods() { choose(IdlePolicy::kOnPressure); }
  void choose(IdlePolicy idle) {
    GPUClusterPolicy policy = measured_.policy();
    policy.spec.idle.policy = idle;
    measured_.cluster.upsert(std::move(policy), measured_.now);
  }
  static Pod web() { return pod("web").gpu(1).on("n1"); }
  // As often as rounds come in that time, pod "web" uses so much of its GPU.
  void look_for(Duration span, int percent) {
    for (const Time end = measured_.now + span; measured_.now < end; measured_.now += 30s)
      measured_.look(
          fmt::format("DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\","
                      "namespace=\"{}\",pod=\"web\"}} {}\n",
                      namespace_, percent));
  }
  // What reconcile_idle() writes on the pod is written there.
  Plan apply() {
    Plan plan = reconcile_idle(measured_.snapshot());
    for (const ObjectSteps& object : plan.objects) {
      const json body = json::parse(std::get<Write>(object.steps.at(0)).body);
      Pod pod = *measured_.cluster.pods().find(namespace_, "web");
      for (const auto& [key, value] : body["metadata"]["annotations"].items()) {
        if (value.is_null())
          pod.meta.annotations.erase(key);
        else
          pod.meta.annotations.set(key, value.get<std::string>());
      }
      measured_.cluster.upsert(std::move(pod), measured_.now);
    }
    return plan;
  }
  std::string told() {
    return measured_.cluster.pods()
        .find(namespace_, "web")
        ->meta.annotations.get(names::kReclaimAfterAnnotation)
        .str();
  }
  std::vector<IdlePod> found() { return find_idle_pods(measured_.snapshot(), measured_.policy()); }

  std::string namespace_ = "team-a";
  Measured measured_;
};

TEST_F(IdlePods, AreToldFromWhenOnTheirGpusMayBeTaken) {
  measured_.run(web());
  look_for(31min, 0);
  const Time now = measured_.now;
  const Plan plan = apply();
  EXPECT_EQ(told(), format_time(now + 10min)) << "however long it has been idle";
  ASSERT_THAT(plan.events, SizeIs(2)) << "of the pod and of its owner";
  EXPECT_THAT(plan.events[0].note, HasSubstr("they may be taken back for work that waits"));
  EXPECT_THAT(plan.events[1].note, HasSubstr("they may be taken back for work that waits"));
  EXPECT_EQ(apply(), Plan());
  ASSERT_THAT(found(), SizeIs(1));
  EXPECT_EQ(found()[0].due, now + 10min);
  look_for(5min, 0);
  EXPECT_EQ(apply(), Plan()) << "once";
  look_for(30s, 90);
  EXPECT_THAT(found(), IsEmpty());
  apply();
  EXPECT_EQ(told(), "") << "it works again";
}

TEST_F(IdlePods, OfWhichNothingIsMeasuredAnyMoreAreNotIdle) {
  measured_.run(web());
  look_for(31min, 0);
  apply();
  ASSERT_THAT(found(), SizeIs(1));
  measured_.now += 3min;
  EXPECT_THAT(found(), IsEmpty()) << "the exporter is away";
  const std::string warned = told();
  // A new leader has seen nothing yet, and begins a window of its own.
  measured_.samples = {};
  EXPECT_EQ(apply(), Plan());
  look_for(20min, 0);
  apply();
  EXPECT_EQ(told(), warned) << "what was said stays true";
  EXPECT_THAT(found(), IsEmpty());
  look_for(11min, 0);
  EXPECT_THAT(found(), SizeIs(1));
}

TEST_F(IdlePods, AreToldAnewWhatNoBerthWouldHaveSaid) {
  for (const char* said : {"2099-01-01T00:00:00Z", "never"}) {
    Pod pod = web();
    pod.meta.annotations.set(names::kIdleSinceAnnotation, "2026-01-01T00:00:00Z");
    pod.meta.annotations.set(names::kReclaimAfterAnnotation, said);
    measured_.run(std::move(pod));
    look_for(31min, 0);
    const Time now = measured_.now;
    apply();
    EXPECT_EQ(told(), format_time(now + 10min));
  }
}

TEST_F(IdlePods, AreNotWarnedWhereNothingIsTakenBack) {
  measured_.run(web());
  look_for(31min, 0);
  apply();
  choose(IdlePolicy::kNotify);
  EXPECT_THAT(found(), IsEmpty());
  apply();
  EXPECT_EQ(told(), "");
  EXPECT_TRUE(measured_.cluster.pods()
                  .find(namespace_, "web")
                  ->meta.annotations.contains(names::kIdleSinceAnnotation));
  EXPECT_EQ(apply(), Plan());
  choose(IdlePolicy::kAlways);
  const Plan plan = apply();
  EXPECT_NE(told(), "") << "with the whole time from now on";
  EXPECT_THAT(plan.events.at(0).note, HasSubstr("they are taken back at"));
}

TEST_F(IdlePods, AreToldNothingWhereThePolicyOnlyObserves) {
  choose(IdlePolicy::kObserve);
  measured_.run(web());
  look_for(31min, 0);
  EXPECT_EQ(apply(), Plan());
  EXPECT_THAT(found(), IsEmpty());
  choose(IdlePolicy::kOnPressure);
  apply();
  ASSERT_NE(told(), "");
  choose(IdlePolicy::kObserve);
  const Plan plan = apply();
  EXPECT_THAT(plan.events, IsEmpty());
  EXPECT_TRUE(measured_.cluster.pods().find(namespace_, "web")->meta.annotations.empty())
      << "what was told is taken back";
  EXPECT_EQ(apply(), Plan());
}

TEST_F(IdlePods, WithoutAPolicyAreToldNothingAnyMore) {
  measured_.run(web());
  look_for(31min, 0);
  apply();
  ASSERT_NE(told(), "");
  measured_.cluster.erase<GPUClusterPolicy>("", limits::kPolicyName);
  measured_.samples = {};  // of a new leader, who measures nothing without one
  EXPECT_THAT(apply().events, IsEmpty());
  EXPECT_TRUE(measured_.cluster.pods().find(namespace_, "web")->meta.annotations.empty())
      << "what was told is taken back";
  EXPECT_EQ(apply(), Plan());
}

TEST_F(IdlePods, AreNoneThatNobodyMakesAnewOrThatAreTheSystems) {
  const auto warned = [&](Pod pod) {
    namespace_ = pod.meta.namespace_.str();
    measured_.run(std::move(pod));
    look_for(31min, 0);
    apply();
    const bool is_told = told() != "";
    measured_.cluster.erase<Pod>(namespace_, "web");
    return is_told;
  };
  EXPECT_TRUE(warned(web()));
  EXPECT_FALSE(warned(pod("web").gpu(1).on("n1").unmanaged()));
  EXPECT_FALSE(warned(pod("web").gpu(1).on("n1").owner("DaemonSet", "driver")));
  for (const std::string& name : {std::string("kube-system"), measured_.settings.berth_namespace,
                                  measured_.settings.agents_namespace}) {
    Pod own = web();
    own.meta.namespace_ = name;
    EXPECT_FALSE(warned(std::move(own))) << name;
  }
  GPUClusterPolicy policy = measured_.policy();
  policy.spec.idle.exclude_selector.emplace().match_labels["app"] = "web";
  measured_.cluster.upsert(std::move(policy), measured_.now);
  Pod excluded = web();
  excluded.meta.labels.set("app", "web");
  EXPECT_FALSE(warned(std::move(excluded)));
}

// By a Prometheus, which believes whatever it scrapes.
class IdleByHearsay : public IdlePods {
 protected:
  IdleByHearsay() {
    choose(IdlePolicy::kAlways);
    measured_.samples.second_hand = true;
    measured_.run(web());
  }
  // Of one GPU of the node, now.
  void own_exporter_says(const std::string& holder, int percent) {
    Round round(measured_.cluster, "gpu-operator");
    round.be_on("n1");
    const Result<std::size_t> read = read_exposition(
        fmt::format("DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"{}}} {}\n",
                    holder, percent),
        [&](const CounterInfo& counter, const LabelViews& labels, double value) {
          round.add(counter, identify(labels), value, Told::kNow);
        });
    ASSERT_TRUE(read.has_value());
    fold_witnesses(round, {}, measured_.cluster, measured_.rules, measured_.samples);
  }
  std::string kept() {
    const Snapshot snapshot = measured_.snapshot();
    const auto cause =
        idle_not_confirmed(snapshot, measured_.policy(), survey_use(snapshot, measured_.policy()));
    return cause ? cause->reason + ": " + cause->message : "";
  }
  static constexpr char kWeb[] = ",namespace=\"team-a\",pod=\"web\"";
};

TEST_F(IdleByHearsay, AreWarnedAndTakenOnlyIfTheirOwnExporterShowsThemIdle) {
  look_for(31min, 0);
  apply();
  EXPECT_EQ(told(), "") << "nobody has asked it";
  EXPECT_TRUE(measured_.cluster.pods()
                  .find(namespace_, "web")
                  ->meta.annotations.contains(names::kIdleSinceAnnotation))
      << "that they look idle is reported";
  EXPECT_THAT(kept(), HasSubstr("ExporterSilent: 1 pod keeps GPUs that look idle"));
  own_exporter_says("", 0);
  apply();
  EXPECT_EQ(told(), "") << "it does not name the pod";
  EXPECT_THAT(kept(), HasSubstr("ExporterDisagrees"));
  own_exporter_says(kWeb, 90);
  apply();
  EXPECT_EQ(told(), "") << "it shows the pod at work";
  own_exporter_says(kWeb, 0);
  apply();
  EXPECT_NE(told(), "");
  EXPECT_EQ(kept(), "");
  EXPECT_THAT(found(), SizeIs(1));
  look_for(30s, 0);
  own_exporter_says(kWeb, 90);
  EXPECT_THAT(found(), IsEmpty());
  fold_witnesses(Round(measured_.cluster, "gpu-operator"), {{"n1", "answers 503"}},
                 measured_.cluster, measured_.rules, measured_.samples);
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(kept(),
              HasSubstr("team-a/web (exporter of node n1: it can't be asked: answers 503)"));
}

// What the stores tell change by change is what stands.
TEST(WarnedPodsView, FollowsThePods) {
  Measured measured;
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& [key, pod] : measured.cluster.view<WarnedPods>().all()) all.push_back(key);
    return all;
  };
  EXPECT_THAT(names(), IsEmpty());
  Pod warned = pod("web").gpu(1).on("n1");
  warned.meta.annotations.set(names::kReclaimAfterAnnotation, "2026-01-01T00:00:00Z");
  measured.run(warned);
  EXPECT_THAT(names(), ::testing::ElementsAre("team-a/web"));
  measured.cluster.upsert<Pod>(pod("web").gpu(1).on("n1"), measured.now);
  EXPECT_THAT(names(), IsEmpty());
  measured.run(warned);
  measured.cluster.erase<Pod>("team-a", "web");
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace berth::test
