// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNodes[] = "GET /api/v1/nodes";

std::string node_json(const std::string& name, const std::string& version,
                      const std::string& label = "a") {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"uid-)" +
         name + R"(","resourceVersion":")" + version + R"(","labels":{"l":")" + label + R"("}}})";
}
std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
std::string bookmark(const std::string& version, bool end) {
  return event("BOOKMARK",
               R"({"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
                   R"(")" + (end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") +
                   "}}");
}
std::string list(const std::string& version, const std::string& next,
                 const std::vector<std::string>& items) {
  std::string text = R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     version + R"(","continue":")" + next + R"("},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? "," : "") + items[i];
  return text + "]}";
}

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() { informer_.start(); }
  ~InformerTest() override {
    informer_.stop();
    world_.settle();
  }

  std::shared_ptr<FakeExchange> watch() {
    world_.settle();
    return world_.transport.open(kNodes);
  }
  void say(const std::string& bytes) {
    auto exchange = watch();
    ASSERT_NE(exchange, nullptr);
    exchange->bytes(bytes);
    world_.settle();
  }
  void open_with(const std::string& bytes) {
    auto exchange = watch();
    ASSERT_NE(exchange, nullptr);
    exchange->head(200);
    exchange->bytes(bytes);
    world_.settle();
  }
  std::vector<std::string> cached() {
    std::vector<std::string> names;
    for (const auto& node : cluster_.nodes())
      names.push_back(node->meta.name + "@" + node->meta.resource_version);
    return names;
  }
  std::vector<std::string> changes() { return std::exchange(changes_, {}); }

  World world_;
  ClusterState cluster_;
  std::vector<std::string> changes_;
  std::vector<std::string> fatal_;
  Informer<Node> informer_{world_.client,
                           cluster_,
                           world_.log,
                           world_.metrics,
                           "nodes",
                           {},
                           false,
                           {.on_fatal = [this](std::string why) { fatal_.push_back(why); }},
                           [this](const Node* old, const Node* now) {
                             changes_.push_back(std::string(old ? "-" : "") + (now ? "+" : "") +
                                                (now ? now : old)->meta.name);
                           },
                           7};
};

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

TEST_F(InformerTest, WithoutWatchListItListsInPagesAndWatchesFromThere) {
  auto exchange = watch();
  world_.transport.script(kNodes, {200, list("50", "more", {node_json("n1", "1")})});
  world_.transport.script(kNodes, {200, list("50", "", {node_json("n2", "2")})});
  exchange->head(422);
  exchange->bytes(status_json(422, "Invalid", "sendInitialEvents is forbidden"));
  exchange->end();
  world_.settle();
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(cached(), ElementsAre("n1@1", "n2@2"));
  const auto targets = world_.transport.targets();
  ASSERT_EQ(targets.size(), 4u);
  EXPECT_THAT(targets[1], HasSubstr("limit=500"));
  EXPECT_THAT(targets[1], ::testing::Not(HasSubstr("resourceVersion")));
  EXPECT_THAT(targets[2], HasSubstr("continue=more"));
  EXPECT_THAT(targets[3], HasSubstr("watch=true"));
  EXPECT_THAT(targets[3], HasSubstr("resourceVersion=50"));

  // Remembered: the next refresh does not try WatchList again.
  world_.transport.script(kNodes, {410, status_json(410, "Expired")});
  open_with(event("ERROR", status_json(410, "Expired")));
  EXPECT_THAT(world_.transport.targets().back(), ::testing::Not(HasSubstr("sendInitialEvents")));
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

TEST_F(InformerTest, AContinueTokenThatExpiredBeginsTheListAnew) {
  auto exchange = watch();
  world_.transport.script(kNodes, {200, list("50", "more", {node_json("n1", "1")})});
  world_.transport.script(kNodes, {410, status_json(410, "Expired")});
  world_.transport.script(kNodes, {200, list("60", "", {node_json("n2", "2")})});
  exchange->head(400);
  exchange->bytes(status_json(400, "BadRequest"));
  exchange->end();
  world_.settle();
  EXPECT_THAT(cached(), ElementsAre("n2@2"));
  EXPECT_THAT(world_.transport.targets().at(3), HasSubstr("limit=500"));
  EXPECT_THAT(world_.transport.targets().at(3), ::testing::Not(HasSubstr("continue=")));
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

class ListedInformerTest : public InformerTest {
 protected:
  // From now on lists are all there is, and `page` answers them.
  void lists(std::function<FakeReply(int request, const HttpRequest&)> page) {
    auto exchange = watch();
    world_.transport.respond_with(
        [this, page = std::move(page)](const HttpRequest& request) -> std::optional<FakeReply> {
          if (request.target.find("watch=true") != std::string::npos) return std::nullopt;
          return page(++pages_, request);
        });
    exchange->head(422);
    exchange->bytes(status_json(422, "Invalid"));
    exchange->end();
  }
  bool told(const std::string& what) const {
    return std::ranges::any_of(world_.log.lines,
                               [&](const auto& line) { return line.find(what) != line.npos; });
  }
  int pages_ = 0;
};

TEST_F(ListedInformerTest, ATokenThatComesAgainEndsTheList) {
  lists([](int request, const HttpRequest&) {
    const std::string next = request % 2 == 0 ? "even" : "odd";
    return FakeReply{
        200, list("50", next, {node_json("n1", "1")}), {}, TransportOutcome::kComplete, "", 1ms};
  });
  world_.loop.run_for(10min);
  EXPECT_FALSE(informer_.synced());
  EXPECT_LE(pages_, 3 * 60) << "three pages for each try";
  EXPECT_TRUE(
      told("error=nodes: berth rejects the API server's answer: the same continue token "
           "again after 3 pages"))
      << ::testing::PrintToString(world_.log.lines);
  EXPECT_THAT(world_.metrics.text(), HasSubstr("type=\"out-of-bounds\"} "));
}

TEST_F(ListedInformerTest, EverNewTokensEndTheListToo) {
  lists([](int request, const HttpRequest&) {
    return FakeReply{200, list("50", "t" + std::to_string(request), {}),
                     {},  TransportOutcome::kComplete,
                     "",  1ms};
  });
  world_.loop.run_for(25s);
  EXPECT_GE(pages_, 20'000);
  EXPECT_LE(pages_, 20'001 + 5'000);
  EXPECT_TRUE(told("more than 20000 pages"));
}

// A server that has 600 nodes, one of them of a megabyte and more.
TEST_F(ListedInformerTest, PagesThatAreTooLargeAreAskedForInPieces) {
  std::vector<std::string> limits;
  lists([&](int, const HttpRequest& request) {
    const std::size_t at = request.target.find("limit=");
    const int limit = std::stoi(request.target.substr(at + 6));
    limits.push_back(std::to_string(limit));
    EXPECT_LE(request.max_body_bytes, 8u << 20);
    if (limit > 20) return FakeReply{.outcome = TransportOutcome::kTooLarge, .detail = "too large"};
    return FakeReply{200, list("50", "", {node_json("n1", "1")})};
  });
  world_.settle();
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(limits, ElementsAre("500", "100", "20"));
}

TEST_F(InformerTest, AnOlderVersionOfAnObjectIsKeptOut) {
  open_with(event("ADDED", node_json("n1", "15")) + bookmark("10", true));
  say(event("MODIFIED", node_json("n1", "14", "old")));
  EXPECT_THAT(cached(), ElementsAre("n1@15"));
  say(event("DELETED",
            R"({"kind":"Node","metadata":{"name":"n1","uid":"other","resourceVersion":"16"}})"));
  EXPECT_THAT(cached(), ElementsAre("n1@15"));
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

TEST(Informer, OfUnfinishedPodsOneThatHasEndedIsGone) {
  World world;
  ClusterState cluster;
  Informer<Pod> pods(world.client, cluster, world.log, world.metrics, "pods", {.unfinished = true},
                     false, {}, nullptr, 1);
  const auto pod = [](const std::string& version, const std::string& phase) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"u","resourceVersion":")" +
           version + R"("},"status":{"phase":")" + phase + R"("}})";
  };
  pods.start();
  world.settle();
  const auto open = world.transport.open("GET /api/v1/pods");
  ASSERT_NE(open, nullptr);
  EXPECT_THAT(open->request.target,
              HasSubstr("fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"));
  open->head(200);
  open->bytes(event("ADDED", pod("5", "Running")) + bookmark("9", true));
  world.settle();
  ASSERT_NE(cluster.pods().find("ns", "p"), nullptr);
  open->bytes(event("DELETED", pod("10", "Running")));
  world.settle();
  EXPECT_EQ(cluster.pods().find("ns", "p"), nullptr);
  // Asked for past the watch, which will not say again that it has ended.
  world.transport.script("GET /api/v1/namespaces/ns/pods/p", {200, pod("10", "Succeeded")});
  pods.refetch({"ns", "p"});
  world.settle();
  EXPECT_EQ(cluster.pods().find("ns", "p"), nullptr);
  pods.stop();
  world.settle();
}

}  // namespace
}  // namespace berth
