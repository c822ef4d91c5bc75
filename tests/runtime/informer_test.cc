// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/runtime/node_informer.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(InformerTest, AWatchListIsTakenInAtItsEndAndNotBefore) {
  auto exchange = watch();
  ASSERT_NE(exchange, nullptr);
  EXPECT_THAT(exchange->request.target, HasSubstr("sendInitialEvents=true"));
  EXPECT_THAT(exchange->request.target, HasSubstr("resourceVersionMatch=NotOlderThan"));
  EXPECT_THAT(exchange->request.target, HasSubstr("allowWatchBookmarks=true"));
  open_with(event("ADDED", node_json("n2", "5")) + event("ADDED", node_json("n1", "900")));
  EXPECT_THAT(cached(), IsEmpty());
  EXPECT_FALSE(informer_.synced());

  say(bookmark("1000", true));
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(cached(), ElementsAre("n1@900", "n2@5"));
  // Not 900 nor 5: the version of a synthetic event is not where the list is.
  EXPECT_EQ(informer_.machine().resource_version, "1000");

  say(event("MODIFIED", node_json("n1", "1001", "b")) + event("DELETED", node_json("n2", "1002")));
  EXPECT_THAT(changes(), ElementsAre("+n2", "+n1", "-+n1", "-n2"));
  EXPECT_THAT(cached(), ElementsAre("n1@1001"));
}

TEST_F(InformerTest, EqualFactsAreCachedButTellNothing) {
  open_with(event("ADDED", node_json("n1", "5")) + bookmark("10", true));
  changes();
  say(event("MODIFIED", node_json("n1", "11")));
  EXPECT_THAT(cached(), ElementsAre("n1@11"));
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(InformerTest, TimeoutsAreSpreadAndTheSameForTheSameSeed) {
  const std::string target = watch()->request.target;
  const std::size_t at = target.find("timeoutSeconds=");
  ASSERT_NE(at, std::string::npos);
  const int seconds = std::stoi(target.substr(at + 15));
  EXPECT_GE(seconds, 300);
  EXPECT_LE(seconds, 600);
}

TEST_F(InformerTest, ARefreshTellsOnlyWhatChangedAndRemovesWhatIsGone) {
  open_with(event("ADDED", node_json("n1", "1")) + event("ADDED", node_json("n2", "2")) +
            event("ADDED", node_json("n3", "3")) + bookmark("10", true));
  changes();
  say(event("ERROR", status_json(410, "Expired")));
  open_with(event("ADDED", node_json("n1", "1")) + event("ADDED", node_json("n3", "12", "b")) +
            bookmark("20", true));
  EXPECT_THAT(changes(), ElementsAre("-+n3", "-n2"));
  EXPECT_THAT(cached(), ElementsAre("n1@1", "n3@12"));
  EXPECT_EQ(informer_.machine().resource_version, "20");
}

// What a cache goes by, and up to where it lacks nothing, are two things: a live GET is ahead of
// the watch, a bookmark changes nothing, and what is gone is told by its absence.
TEST_F(InformerTest, TheStoreSaysHowMuchItHasHeard) {
  const auto heard = [&] {
    const HeardVersions& of = cluster_.nodes().heard();
    return of.last + "/" + of.all;
  };
  open_with(event("ADDED", node_json("n1", "5")) + event("ADDED", node_json("n2", "7")));
  EXPECT_EQ(heard(), "/");
  say(bookmark("10", true));
  EXPECT_EQ(heard(), "7/10");
  say(bookmark("30", false));
  EXPECT_EQ(heard(), "7/30");
  say(event("MODIFIED", node_json("n1", "31")) + event("DELETED", node_json("n2", "32")));
  EXPECT_EQ(heard(), "32/32");

  world_.transport.script("GET /api/v1/nodes/n1", {200, node_json("n1", "40", "b")});
  informer_.refetch(ObjectKey{"", "n1"});
  world_.settle();
  EXPECT_EQ(heard(), "40/32");
  say(event("MODIFIED", node_json("n1", "40", "b")));
  EXPECT_EQ(heard(), "40/40");

  say(event("ERROR", status_json(410, "Expired")));
  open_with(bookmark("50", true));
  EXPECT_EQ(heard(), "50/50") << "n1 is gone";
}

// A cache of the server's will do, as long as it is not behind ours; a server that is behind is
// asked by quorum instead, at once and once.
TEST_F(InformerTest, ALostWatchIsRefreshedFromTheLastVersion) {
  open_with(event("ADDED", node_json("n1", "1")) + bookmark("10", true));
  say(event("ERROR", status_json(410, "Expired")));
  auto exchange = watch();
  ASSERT_NE(exchange, nullptr);
  EXPECT_THAT(exchange->request.target, HasSubstr("sendInitialEvents=true"));
  EXPECT_THAT(exchange->request.target,
              HasSubstr("resourceVersionMatch=NotOlderThan&resourceVersion=10"));
  const FakeReply behind = {
      504,
      R"({"kind":"Status","status":"Failure","reason":"Timeout","code":504,"message":"Too large",)"
      R"("details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})",
      {{"Retry-After", "1"}}};
  world_.transport.script(kNodes, behind);
  world_.transport.script(kNodes, {200, list("30", "", {node_json("n1", "30")})});
  exchange->head(422);
  exchange->bytes(status_json(422, "Invalid"));
  exchange->end();
  world_.settle();
  EXPECT_THAT(cached(), ElementsAre("n1@30"));
  const auto targets = world_.transport.targets();
  ASSERT_EQ(targets.size(), 5u);
  EXPECT_THAT(targets[2], HasSubstr("resourceVersion=10"));
  EXPECT_THAT(targets[2], HasSubstr("resourceVersionMatch=NotOlderThan"));
  EXPECT_THAT(targets[3], HasSubstr("limit=500"));
  EXPECT_THAT(targets[3], ::testing::Not(HasSubstr("resourceVersion")));
}

TEST_F(InformerTest, ACutWatchIsResumedFromTheLastVersionSeen) {
  open_with(event("ADDED", node_json("n1", "1")) + bookmark("10", true));
  say(bookmark("30", false));
  watch()->end(TransportOutcome::kBroken, "reset");
  world_.settle();
  EXPECT_EQ(world_.transport.open(kNodes), nullptr);  // waits first
  world_.loop.run_for(1s);
  ASSERT_NE(watch(), nullptr);
  EXPECT_THAT(watch()->request.target, HasSubstr("resourceVersion=30"));
  EXPECT_THAT(watch()->request.target, ::testing::Not(HasSubstr("sendInitialEvents")));
}

TEST_F(InformerTest, ATruncatedLineIsNotAnEvent) {
  open_with(bookmark("10", true));
  auto exchange = watch();
  const std::string line = event("ADDED", node_json("n1", "11"));
  exchange->bytes(line.substr(0, line.size() / 2));
  exchange->end();
  world_.loop.run_for(1s);
  EXPECT_THAT(cached(), IsEmpty());
  EXPECT_THAT(watch()->request.target, HasSubstr("resourceVersion=10"));
}

TEST_F(InformerTest, AGarbledLineIsReadAgainOnceAndThenSkipped) {
  open_with(bookmark("10", true));
  say("{\"type\":\"ADDED\",\"object\":garbage\n");
  world_.loop.run_for(1s);
  EXPECT_THAT(watch()->request.target, HasSubstr("resourceVersion=10"));
  open_with("{\"type\":\"ADDED\",\"object\":garbage\n" + event("ADDED", node_json("n1", "12")));
  EXPECT_THAT(cached(), ElementsAre("n1@12"));
}

// Good and bad in turn, as when somebody tries out what a layout may say: each is one event.
TEST(InformerOfLayouts, AFieldThatCannotBeReadCostsNoOtherEvent) {
  World world;
  ClusterState cluster;
  Informer<MIGLayout> informer(
      world.client, cluster, world.log, world.metrics, "miglayouts", {}, false, {},
      [](const MIGLayout*, const MIGLayout*) {}, 7);
  informer.start();
  world.settle();
  const auto layout = [](int version, const std::string& name, const std::string& devices) {
    return event(
        "MODIFIED",
        R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"MIGLayout","metadata":{"name":")" + name +
            R"(","uid":")" + name + R"(","resourceVersion":")" + std::to_string(version) +
            R"("},"spec":{"nodeSelector":{},"devices":)" + devices + "}}");
  };
  const auto watch = world.transport.open("GET /apis/gpu.berth.dev/v1alpha1/miglayouts");
  ASSERT_NE(watch, nullptr);
  watch->head(200);
  watch->bytes(bookmark("10", true));
  for (int version = 11; version < 31; version += 2) {
    watch->bytes(layout(version, "good", R"([{"profiles":{"1g.10gb":7}}])"));
    watch->bytes(layout(version + 1, "bad", "7"));
  }
  world.settle();
  EXPECT_FALSE(watch->ended());
  ASSERT_NE(cluster.mig_layouts().find("good"), nullptr);
  EXPECT_EQ(cluster.mig_layouts().find("good")->meta.resource_version, "29");
  informer.stop();
  world.settle();
}

TEST_F(InformerTest, ASilentWatchIsDeadAndResumed) {
  open_with(bookmark("10", true));
  const auto first = watch();
  world_.loop.run_for(700s);
  EXPECT_TRUE(first->ended());
  ASSERT_NE(watch(), nullptr);
  EXPECT_THAT(watch()->request.target, HasSubstr("resourceVersion=10"));
}

TEST_F(InformerTest, AWatchListThatSaysNothingIsGivenUpForAList) {
  watch()->head(200);
  world_.transport.script(kNodes, {200, list("50", "", {node_json("n1", "1")})});
  world_.loop.run_for(31s);
  EXPECT_THAT(cached(), ElementsAre("n1@1"));
}

TEST_F(InformerTest, AWatchListOfBookmarksAloneIsGivenUpForAList) {
  watch()->head(200);
  world_.transport.script(kNodes, {200, list("50", "", {node_json("n1", "1")})});
  for (int second = 0; second < 40 && !informer_.synced(); ++second) {
    if (auto stream = world_.transport.open(kNodes)) stream->bytes(bookmark("5", false));
    world_.loop.run_for(1s);
  }
  EXPECT_THAT(cached(), ElementsAre("n1@1")) << "bookmarks are no sign that it goes on";
}

TEST_F(InformerTest, AFloodOfBookmarksIsGivenUpForAListAtOnce) {
  world_.transport.script(kNodes, {200, list("50", "", {node_json("n1", "1")})});
  auto stream = watch();
  std::string flood;
  for (int i = 0; i < 2'000; ++i) flood += bookmark("5", false);
  // The script is for the list, not for the stream that is open already.
  stream->head(200);
  stream->bytes(flood);
  world_.settle();
  EXPECT_TRUE(stream->ended());
  EXPECT_THAT(cached(), ElementsAre("n1@1"));
}

// Each stream opens well, brings garbage, and a little later ends well.
TEST_F(InformerTest, GarbageIsToldOncePerStreamAndComesEverMoreSeldom) {
  open_with(bookmark("10", true));
  std::string garbage;
  for (int i = 0; i < 3'000; ++i) garbage += "{\"type\":\"ADDED\",\"object\":garbage\n";
  int streams = 0;
  world_.transport.respond_with([&](const HttpRequest&) -> std::optional<FakeReply> {
    ++streams;
    return FakeReply{200, garbage, {}, TransportOutcome::kComplete, "", 10ms};
  });
  world_.log.lines.clear();
  say(garbage);
  world_.loop.run_for(10min);
  EXPECT_GE(streams, 10);
  EXPECT_LE(streams, 60) << "waits grow to half a minute, though every stream opens";
  EXPECT_LE(world_.log.lines.size(), 4u * static_cast<unsigned>(streams) + 4);
  const auto told = [&](const char* what) {
    return std::ranges::count_if(world_.log.lines,
                                 [&](const auto& line) { return line.find(what) != line.npos; });
  };
  EXPECT_GE(told("objects could not be read and were skipped"), streams - 1);
  EXPECT_THAT(world_.metrics.text(),
              ::testing::ContainsRegex("type=\"undecodable\"} [0-9][0-9][0-9][0-9]"));
}

TEST_F(InformerTest, StreamsThatEndAtOnceAreWaitedForWhateverTheyBrought) {
  open_with(bookmark("10", true));
  int streams = 0;
  world_.transport.respond_with([&](const HttpRequest&) -> std::optional<FakeReply> {
    const std::string version = std::to_string(20 + ++streams);
    return FakeReply{
        200, event("MODIFIED", node_json("n1", version)), {}, TransportOutcome::kComplete, "", 1ms};
  });
  watch()->end();
  world_.loop.run_for(60s);
  EXPECT_GE(streams, 3);
  EXPECT_LE(streams, 40);
}

TEST_F(InformerTest, AnOlderVersionOfAnObjectIsKeptOut) {
  open_with(event("ADDED", node_json("n1", "15")) + bookmark("10", true));
  say(event("MODIFIED", node_json("n1", "14", "old")));
  EXPECT_THAT(cached(), ElementsAre("n1@15"));
  say(event("DELETED",
            R"({"kind":"Node","metadata":{"name":"n1","uid":"other","resourceVersion":"16"}})"));
  EXPECT_THAT(cached(), ElementsAre("n1@15"));
}

// A live GET has brought the node that came after it, and then the watch tells how it went.
TEST_F(InformerTest, TheObjectThatHadTheNameBeforeIsKeptOut) {
  const auto other = [](const std::string& version) {
    return R"({"kind":"Node","metadata":{"name":"n1","uid":"other","resourceVersion":")" + version +
           R"("}})";
  };
  open_with(event("ADDED", node_json("n1", "5")) + bookmark("10", true));
  world_.transport.script("GET /api/v1/nodes/n1", {200, other("20")});
  informer_.refetch({"", "n1"});
  world_.settle();
  EXPECT_THAT(cached(), ElementsAre("n1@20"));
  changes();
  say(event("MODIFIED", node_json("n1", "12", "b")));
  say(event("DELETED", node_json("n1", "14", "b")));
  say(event("ADDED", other("15")));
  EXPECT_THAT(cached(), ElementsAre("n1@20"));
  EXPECT_THAT(changes(), IsEmpty());
  say(event("DELETED", other("21")) + event("ADDED", node_json("n1", "22")));
  EXPECT_THAT(cached(), ElementsAre("n1@22")) << "and whoever comes after it is taken in";
}

TEST_F(InformerTest, AHistoryThatWentBackEndsTheProcess) {
  open_with(bookmark("100", true));
  say(event("ERROR", status_json(410, "Expired")));
  for (int i = 0; i < 3; ++i) {
    open_with(event("ADDED", node_json("old", "3")) + bookmark("50", true));
    world_.loop.run_for(31s);
  }
  EXPECT_EQ(fatal_.size(), 1u);
  EXPECT_THAT(cached(), IsEmpty());
}

TEST_F(InformerTest, ARefetchOvertakesTheWatch) {
  open_with(event("ADDED", node_json("n1", "15")) + bookmark("10", true));
  world_.transport.script("GET /api/v1/nodes/n1", {200, node_json("n1", "20", "b")});
  informer_.refetch({"", "n1"});
  world_.settle();
  EXPECT_THAT(cached(), ElementsAre("n1@20"));
  world_.transport.script("GET /api/v1/nodes/n1", {404, status_json(404, "NotFound")});
  informer_.refetch({"", "n1"});
  world_.settle();
  EXPECT_THAT(cached(), IsEmpty());
}

TEST(Informer, AScopeIsAllItOwnsAndAnAbsentKindIsEmpty) {
  World world;
  ClusterState cluster;
  cluster.upsert(ConfigMap{.meta = {.name = "other", .namespace_ = "elsewhere"}}, {});
  Informer<ConfigMap> ledger(world.client, cluster, world.log, world.metrics, "ledger",
                             {.namespace_ = "berth", .name = "slots"}, false, {}, nullptr, 1);
  Informer<ClusterPolicy> policies(world.client, cluster, world.log, world.metrics, "policies", {},
                                   true, {}, nullptr, 2);
  ledger.start();
  policies.start();
  world.settle();
  const auto open = world.transport.open("GET /api/v1/namespaces/berth/configmaps");
  ASSERT_NE(open, nullptr);
  EXPECT_THAT(open->request.target, HasSubstr("fieldSelector=metadata.name%3Dslots"));
  open->head(200);
  open->bytes(
      R"({"type":"BOOKMARK","object":{"kind":"ConfigMap","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}})"
      "\n");
  const auto absent = world.transport.open("GET /apis/nvidia.com/v1/clusterpolicies");
  ASSERT_NE(absent, nullptr);
  absent->head(404);
  absent->bytes("404 page not found");
  absent->end();
  world.settle();
  EXPECT_TRUE(ledger.synced());
  EXPECT_TRUE(policies.synced());
  EXPECT_NE(cluster.config_maps().find("elsewhere", "other"), nullptr);
  const auto told = [&] {
    return std::count_if(world.log.lines.begin(), world.log.lines.end(), [](const auto& line) {
      return line.starts_with("info the API server does not serve an optional kind") &&
             line.ends_with("crd=clusterpolicies.nvidia.com again_in=10m");
    });
  };
  EXPECT_EQ(told(), 1);
  world.loop.run_for(9min);
  EXPECT_EQ(world.count("GET /apis/nvidia.com/v1/clusterpolicies"), 1u);
  world.transport.script("GET /apis/nvidia.com/v1/clusterpolicies", {404, "404 page not found"});
  world.loop.run_for(2min);
  EXPECT_EQ(world.count("GET /apis/nvidia.com/v1/clusterpolicies"), 2u);
  EXPECT_EQ(told(), 1) << "once is enough";
  ledger.stop();
  policies.stop();
  world.settle();
}

TEST(Informer, OfPodsThatHaveEndedKeepsTheMembersOfGangs) {
  World world;
  ClusterState cluster;
  Informer<Pod> pods(world.client, cluster, world.log, world.metrics, "pods", {.unfinished = true},
                     false, {}, nullptr, 1);
  const auto pod = [](const std::string& version, const std::string& phase, bool gang = false) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" +
           std::string(gang ? "g" : "p") + R"(","namespace":"ns","uid":"u","resourceVersion":")" +
           version +
           (gang ? R"(","annotations":{"gpu.berth.dev/pod-group-size":"2"}},)" : R"("},)") +
           R"("status":{"phase":")" + phase + R"("}})";
  };
  pods.start();
  world.settle();
  const auto open = world.transport.open("GET /api/v1/pods");
  ASSERT_NE(open, nullptr);
  EXPECT_THAT(open->request.target, Not(HasSubstr("fieldSelector")));
  open->head(200);
  open->bytes(event("ADDED", pod("5", "Running")) + event("ADDED", pod("6", "Failed", true)) +
              bookmark("9", true));
  world.settle();
  ASSERT_NE(cluster.pods().find("ns", "p"), nullptr);
  EXPECT_NE(cluster.pods().find("ns", "g"), nullptr) << "from the first list on";
  open->bytes(event("MODIFIED", pod("10", "Succeeded")));
  world.settle();
  EXPECT_EQ(cluster.pods().find("ns", "p"), nullptr);
  EXPECT_EQ(cluster.pods().heard().last, "10");
  open->bytes(event("DELETED", pod("11", "Failed", true)));
  world.settle();
  EXPECT_EQ(cluster.pods().find("ns", "g"), nullptr);
  // Asked for past the watch, which may not say again that it has ended.
  world.transport.script("GET /api/v1/namespaces/ns/pods/p", {200, pod("10", "Succeeded")});
  pods.refetch({"ns", "p"});
  world.settle();
  EXPECT_EQ(cluster.pods().find("ns", "p"), nullptr);
  pods.stop();
  world.settle();
}

}  // namespace
}  // namespace berth
