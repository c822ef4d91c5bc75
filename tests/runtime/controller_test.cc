// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kLease[] =
    "GET /apis/coordination.k8s.io/v1/namespaces/berth-system/leases/berth-controller";
constexpr char kLeasePatch[] =
    "PATCH /apis/coordination.k8s.io/v1/namespaces/berth-system/leases/berth-controller";
constexpr char kLeasePost[] = "POST /apis/coordination.k8s.io/v1/namespaces/berth-system/leases";
constexpr char kLedger[] = "GET /api/v1/namespaces/berth-system/configmaps/berth-node-slots";
constexpr char kLedgerPost[] = "POST /api/v1/namespaces/berth-system/configmaps";
constexpr char kLedgerWatch[] = "GET /api/v1/namespaces/berth-system/configmaps";
constexpr char kNodesPath[] = "GET /api/v1/nodes";
constexpr char kPatchN1[] = "PATCH /api/v1/nodes/n1";

std::string lease(const std::string& holder, int version) {
  return R"({"metadata":{"name":"berth-controller","namespace":"berth-system","resourceVersion":")" +
         std::to_string(version) + R"("},"spec":{"holderIdentity":")" + holder +
         R"(","leaseDurationSeconds":15,"renewTime":"2026-11-21T00:00:0)" +
         std::to_string(version % 10) + R"(Z"}})";
}
std::string n1_json(const std::string& version, const std::string& label = "a") {
  return R"({"kind":"Node","metadata":{"name":"n1","uid":"u1","resourceVersion":")" + version +
         R"(","labels":{"l":")" + label + R"("}}})";
}
std::string event_json(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
const std::string kSynced = event_json(
    "BOOKMARK",
    R"({"metadata":{"resourceVersion":"100","annotations":{"k8s.io/initial-events-end":"true"}}})");

constexpr Measure::Label kFailed[] = {{"result", "failed"}};
const Measure kTestTotal = {.type = Measure::Type::kCounter,
                            .name = "berth_test_total",
                            .help = "Tests.",
                            .zeroes = kFailed};

class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    options_.lease.identity = "me";
    options_.lease.namespace_ = "berth-system";
    reconcilers_.reconcile = [this](const Snapshot& snapshot, std::string_view key) {
      reconciled_.push_back(std::string(key) + "@" + std::to_string(snapshot.epoch));
      return plans_ ? plans_(snapshot, key) : Plan{};
    };
    static constexpr KeyFamily kNodeKeys{.prefix = "node/", .reconcile = nullptr, .urgent = true};
    reconcilers_.families = {&kNodeKeys, 1};
    reconcilers_.all_keys = [](const ClusterState& cluster) {
      std::vector<std::string> keys;
      for (const auto& n : cluster.nodes()) keys.push_back("node/" + n->meta.name);
      return keys;
    };
    std::get<KeysFor<Node>>(reconcilers_.keys_for) = [](const ClusterState&, const Node* old,
                                                        const Node* now) {
      return std::vector<std::string>{"node/" + (now ? now : old)->meta.name};
    };
    reconcilers_.keys_of_refusal = [](const ClusterState&) { return std::vector<std::string>(); };
    // Epoch 8, and one more for each entry of the ledger.
    reconcilers_.claim_epoch = [](const ConfigMap* ledger, std::int64_t) {
      Write write{.verb = Verb::kCreate,
                  .object = {"ConfigMap", "berth-system", "berth-node-slots", ""},
                  .body = "{}"};
      const std::size_t entries = ledger == nullptr ? 0 : ledger->data.size();
      return std::pair<Write, std::int64_t>(std::move(write), 8 + entries);
    };
  }

  void start() {
    controller_.emplace(
        Controller::World{world_.client, world_.client, world_.log, world_.metrics, nullptr},
        reconcilers_, options_);
    auto task = [](ControllerTest& test) -> Task<void> {
      test.code_ = co_await test.controller_->run(test.stop_.get_token());
    };
    spawn(world_.loop, task(*this));
    world_.settle();
  }
  // Every watch that is open says what there is: one node, nothing else.
  void sync() {
    const auto open = world_.transport.exchanges;
    for (const auto& exchange : open) {
      if (exchange->ended()) continue;
      exchange->head(200);
      if (exchange->name() == kNodesPath) exchange->bytes(event_json("ADDED", n1_json("50")));
      exchange->bytes(kSynced);
    }
    world_.settle();
  }
  void become_leader() {
    world_.transport.script(kLease, {404, status_json(404, "NotFound")});
    world_.transport.script(kLeasePost, {201, lease("me", 1)});
    world_.transport.script(kLedger, {404, status_json(404, "NotFound")});
    world_.transport.script(kLedgerPost, {201, R"({"metadata":{"resourceVersion":"7"}})"});
    start();
    sync();
  }
  void say(const std::string& line) {
    world_.transport.open(kNodesPath)->bytes(line);
    world_.settle();
  }
  // Ends what is still under way, so that nothing outlives the controller.
  void TearDown() override {
    if (!controller_) return;
    stop_.request_stop();
    world_.loop.run_for(1min);
    EXPECT_TRUE(code_.has_value());
  }
  std::vector<std::string> reconciled() { return std::exchange(reconciled_, {}); }
  // Cordons n1 for as long as its label is "a".
  void plan_a_patch_while_label_is_a() {
    plans_ = [](const Snapshot& snapshot, std::string_view) {
      Plan plan;
      const Node* n = snapshot.cluster.nodes().find("n1");
      if (*n->meta.labels.find("l") == "a")
        plan.add(ref_of(*n), Write{.verb = Verb::kJsonPatch, .object = ref_of(*n), .body = "[]"});
      return plan;
    };
  }

  World world_;
  ControllerOptions options_;
  Reconcilers reconcilers_;
  std::function<Plan(const Snapshot&, std::string_view)> plans_;
  std::vector<std::string> reconciled_;
  std::stop_source stop_;
  std::optional<Controller> controller_;
  std::optional<int> code_;
};

TEST_F(ControllerTest, ItSyncsThenLeadsThenClaimsItsEpochThenWorks) {
  start();
  EXPECT_EQ(world_.count(kLease), 0u);
  EXPECT_TRUE(controller_->readiness()[0].problem.has_value());
  world_.transport.script(kLease, {404, status_json(404, "NotFound")});
  world_.transport.script(kLeasePost, {201, lease("me", 1)});
  world_.transport.script(kLedger, {404, status_json(404, "NotFound")});
  sync();
  EXPECT_EQ(world_.count(kLedgerPost), 1u);
  EXPECT_THAT(reconciled(), IsEmpty());
  const auto claim = world_.transport.open(kLedgerPost);
  claim->head(201);
  claim->bytes(R"({"metadata":{"resourceVersion":"7"}})");
  claim->end();
  world_.settle();
  EXPECT_THAT(reconciled(), ElementsAre("node/n1@8"));
  for (const ReadinessCheck& check : controller_->readiness())
    EXPECT_FALSE(check.problem.has_value()) << check.name;
}

TEST_F(ControllerTest, CachesThatDoNotFillEndTheProcessWithTheirNames) {
  start();
  const auto open = world_.transport.exchanges;
  for (const auto& exchange : open) {
    if (exchange->name() == "GET /api/v1/pods") continue;
    exchange->head(200);
    exchange->bytes(kSynced);
  }
  world_.loop.run_for(2min + 1s);
  EXPECT_EQ(code_, 1);
  EXPECT_THAT(world_.log.lines, Contains(HasSubstr("did not sync in time: pods (")));
}

TEST_F(ControllerTest, AChangeMakesItsKeysDueAndAHeartbeatDoesNot) {
  become_leader();
  reconciled();
  say(event_json("MODIFIED", n1_json("101", "b")));
  EXPECT_THAT(reconciled(), ElementsAre("node/n1@8"));
  say(event_json("MODIFIED", n1_json("102", "b")));
  EXPECT_THAT(reconciled(), IsEmpty());
}

TEST_F(ControllerTest, AKeyWaitsForItsOwnWriteWhenTheReplyComesFirst) {
  plan_a_patch_while_label_is_a();
  world_.transport.script(kPatchN1, {200, n1_json("105", "b")});
  become_leader();
  EXPECT_EQ(world_.count(kPatchN1), 1u);
  reconciled();
  say(event_json("MODIFIED", n1_json("103", "a")));  // old news: no second patch
  world_.loop.run_for(1s);
  EXPECT_THAT(reconciled(), IsEmpty());
  say(event_json("MODIFIED", n1_json("105", "b")));
  EXPECT_THAT(reconciled(), ElementsAre("node/n1@8"));
  EXPECT_EQ(world_.count(kPatchN1), 1u);
}

TEST_F(ControllerTest, AKeyWaitsForItsReplyWhenTheEventComesFirst) {
  plan_a_patch_while_label_is_a();
  become_leader();
  reconciled();
  say(event_json("MODIFIED", n1_json("105", "b")));
  EXPECT_THAT(reconciled(), IsEmpty());  // still in work
  const auto patch = world_.transport.open(kPatchN1);
  patch->head(200);
  patch->bytes(n1_json("105", "b"));
  patch->end();
  world_.settle();
  EXPECT_THAT(reconciled(), ElementsAre("node/n1@8"));
  EXPECT_EQ(world_.count(kPatchN1), 1u);
}

TEST_F(ControllerTest, AConflictIsTriedAgainWithBackoffAndFetchedPastADeadWatch) {
  plan_a_patch_while_label_is_a();
  world_.transport.respond_with([](const HttpRequest& request) -> std::optional<FakeReply> {
    if (request.method == "PATCH" && request.target.starts_with("/api/v1/nodes/n1"))
      return FakeReply{409, status_json(409, "Conflict")};
    if (request.method == "GET" && request.target == "/api/v1/nodes/n1")
      return FakeReply{200, n1_json("200", "b")};
    return std::nullopt;
  });
  become_leader();
  world_.loop.run_for(1s);
  EXPECT_EQ(world_.count(kPatchN1), 4u);
  EXPECT_EQ(world_.count("GET /api/v1/nodes/n1"), 1u);
  EXPECT_EQ(controller_->cluster().nodes().find("n1")->meta.resource_version, "200");
}

// What tells of a conflict that repeats: the events' bodies.
std::vector<std::string> events_sent(const World& world) {
  std::vector<std::string> bodies;
  for (const auto& exchange : world.transport.exchanges)
    if (exchange->name() == "POST /apis/events.k8s.io/v1/namespaces/default/events")
      bodies.push_back(exchange->request.body);
  return bodies;
}

// The API server refuses every patch of n1, which is at the version that `version` tells.
FakeTransport::Responder refuse_patches(std::function<int()> version) {
  return [version = std::move(version)](const HttpRequest& request) -> std::optional<FakeReply> {
    if (request.method == "PATCH" && request.target.starts_with("/api/v1/nodes/n1"))
      return FakeReply{409, status_json(409, "Conflict", "out of date")};
    if (request.method == "GET" && request.target == "/api/v1/nodes/n1")
      return FakeReply{.status = 200, .body = n1_json(std::to_string(version())), .delay = 100ms};
    if (request.method == "POST") return FakeReply{201, request.body};
    if (std::string(kLeasePatch).ends_with(request.target.substr(0, request.target.find('?'))))
      return FakeReply{200, lease("me", 1)};
    return std::nullopt;
  };
}

TEST_F(ControllerTest, AConflictThatRepeatsThoughNobodyChangesTheObjectIsAnErrorWithAnEvent) {
  plan_a_patch_while_label_is_a();
  world_.transport.respond_with(refuse_patches([] { return 200; }));
  become_leader();
  world_.loop.run_for(1min);
  EXPECT_THAT(events_sent(world_), ElementsAre(AllOf(HasSubstr("WriteRefused"), HasSubstr("n1"),
                                                     HasSubstr("out of date"))));
  EXPECT_LT(world_.count(kPatchN1), 40u) << "with backoff";
  EXPECT_THAT(world_.log.lines, Contains(StartsWith("error a write conflicts")));
}

TEST_F(ControllerTest, AConflictWithSomebodyWhoChangesTheObjectAllTheTimeIsNone) {
  plan_a_patch_while_label_is_a();
  world_.transport.respond_with(refuse_patches([version = 200]() mutable { return ++version; }));
  become_leader();
  world_.loop.run_for(1min);
  EXPECT_GT(world_.count(kPatchN1), 20u);
  EXPECT_THAT(events_sent(world_), IsEmpty());
}

TEST_F(ControllerTest, APlanThatReachesNothingIsNotRepeatedInAHotLoop) {
  plan_a_patch_while_label_is_a();
  world_.transport.respond_with([](const HttpRequest& request) -> std::optional<FakeReply> {
    if (request.method == "PATCH" && request.target.starts_with("/api/v1/nodes/n1"))
      return FakeReply{200, n1_json("50")};  // changes nothing
    return std::nullopt;
  });
  become_leader();
  world_.loop.run_for(5s);
  EXPECT_LT(world_.count(kPatchN1), 15u);
}

TEST_F(ControllerTest, APlansTimerBringsItsKeyBack) {
  plans_ = [](const Snapshot&, std::string_view) {
    Plan plan;
    plan.requeue_in(3s);
    return plan;
  };
  world_.transport.respond_with([](const HttpRequest& request) -> std::optional<FakeReply> {
    if (request.method == "PATCH") return FakeReply{200, lease("me", 2)};
    return std::nullopt;
  });
  become_leader();
  reconciled();
  world_.loop.run_for(2900ms);
  EXPECT_THAT(reconciled(), IsEmpty());
  world_.loop.run_for(200ms);
  EXPECT_THAT(reconciled(), ElementsAre("node/n1@8"));
}

TEST_F(ControllerTest, AStopWaitsForWhatIsInFlightAndThenGivesTheLeaseUp) {
  plan_a_patch_while_label_is_a();
  become_leader();
  stop_.request_stop();
  world_.loop.run_for(1s);
  EXPECT_FALSE(code_.has_value());
  world_.transport.script(kLeasePatch, {200, lease("", 3)});
  const auto patch = world_.transport.open(kPatchN1);
  patch->head(200);
  patch->bytes(n1_json("105", "b"));
  patch->end();
  world_.loop.run_for(100ms);
  EXPECT_EQ(code_, 0);
  EXPECT_EQ(world_.count(kPatchN1), 1u);
  bool released = false;
  for (const auto& exchange : world_.transport.exchanges)
    if (exchange->name() == kLeasePatch)
      released |= exchange->request.body.find(R"("holderIdentity":"")") != std::string::npos;
  EXPECT_TRUE(released);
}

TEST_F(ControllerTest, ALostLeaseCutsWhatIsInFlightAndEndsTheProcess) {
  plan_a_patch_while_label_is_a();
  become_leader();
  const auto patch = world_.transport.open(kPatchN1);
  world_.loop.run_for(10500ms);  // no renewal is answered
  EXPECT_TRUE(patch->ended());
  EXPECT_EQ(code_, 1);
  EXPECT_THAT(world_.log.lines, Contains(HasSubstr("lease lost")));
}

TEST_F(ControllerTest, AnEpochAboveItsOwnEndsTheProcess) {
  become_leader();
  const auto say_ledger = [&](const std::string& data) {
    world_.transport.open(kLedgerWatch)
        ->bytes(R"({"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":)"
                R"({"name":"berth-node-slots","namespace":"berth-system","uid":"u",)"
                R"("resourceVersion":"60"},"data":)" +
                data + "}}\n");
    world_.loop.run_for(1s);
  };
  say_ledger(R"({"n1":""})");  // its own: 8
  EXPECT_FALSE(code_.has_value());
  say_ledger(R"({"n1":"","n2":""})");
  world_.loop.run_for(1min);
  EXPECT_EQ(code_, 1);
}

TEST_F(ControllerTest, ADryRunShowsThePlanAndWritesNothing) {
  options_.dry_run = true;
  plan_a_patch_while_label_is_a();
  start();
  sync();
  world_.loop.run_for(1min);
  for (const std::string& name : world_.sent()) EXPECT_EQ(name.substr(0, 4), "GET ");
  EXPECT_THAT(world_.log.lines, Contains(HasSubstr("would do key=node/n1 plan=jsonpatch Node/n1")));
}

TEST_F(ControllerTest, OnlyTheLeaderTellsOfTheCluster) {
  reconcilers_.figures = [](const ClusterState& cluster) {
    return Figures{{"berth_test_nodes", "Nodes.", {{{}, double(cluster.nodes().size())}}}};
  };
  reconcilers_.measures = {&kTestTotal};
  world_.transport.script(kLease, {200, lease("another", 1)});
  start();
  sync();
  say(event_json("MODIFIED", n1_json("51", "b")));
  controller_->refresh_metrics();
  EXPECT_THAT(world_.metrics.text(), Not(HasSubstr("berth_test_nodes")));
  EXPECT_THAT(world_.metrics.text(), Not(HasSubstr("berth_test_total")));
}

TEST_F(ControllerTest, TheLeaderTellsOfTheClusterUntilItsEnd) {
  reconcilers_.figures = [](const ClusterState& cluster) {
    return Figures{{"berth_test_nodes", "Nodes.", {{{}, double(cluster.nodes().size())}}}};
  };
  reconcilers_.measures = {&kTestTotal};
  become_leader();
  controller_->refresh_metrics();
  EXPECT_THAT(world_.metrics.text(), HasSubstr("berth_test_nodes 1"));
  EXPECT_THAT(world_.metrics.text(), HasSubstr("berth_newest_resource_version "));
  EXPECT_THAT(world_.metrics.text(), HasSubstr("berth_test_total{result=\"failed\"} 0"));

  stop_.request_stop();
  world_.settle();
  controller_->refresh_metrics();
  EXPECT_THAT(world_.metrics.text(), Not(HasSubstr("berth_test_nodes")));
}

}  // namespace
}  // namespace berth
