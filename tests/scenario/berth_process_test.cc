// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/berth_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "controller/sim/kube/actor_client.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

struct BerthProcessTest : testing::Test {
  BerthProcessTest() {
    for (const char* name : {"berth-system", "gpu-operator"})
      person.create("namespaces", {{"metadata", {{"name", name}}}});
    berth.on_log = [this](LogLevel, const std::string& line) { log.push_back(line); };
  }
  std::string holder() {
    const sim::ObjectPtr lease = person.get("leases", "berth-system", "berth-controller");
    return lease == nullptr ? "" : (*lease)["spec"].value("holderIdentity", "");
  }
  std::int64_t epoch() {
    const sim::ObjectPtr ledger = person.get("configmaps", "berth-system", "berth-node-slots");
    return ledger == nullptr ? 0
                             : std::stoll((*ledger)["metadata"]["annotations"].value(
                                   names::kEpochAnnotation, "0"));
  }
  bool leads() { return holder().starts_with("berth-0_") && epoch() > 0; }

  sim::Simulation world{11};
  sim::ActorClient person{world.server(), "person"};
  BerthProcess berth{world, "berth-0", {}};
  std::vector<std::string> log;
};

TEST_F(BerthProcessTest, ItTakesTheLeaseAndAnEpochThenWritesNothingButTheLease) {
  berth.start();
  ASSERT_TRUE(world.run_until([this] { return leads(); }, 1min)) << testing::PrintToString(log);
  world.run_for(10s);
  std::set<std::string> written;
  world.store().observe([&](const sim::Change& change) { written.insert(change.key.str()); });
  world.run_for(1h);
  EXPECT_THAT(written, testing::ElementsAre("Lease/berth-system/berth-controller"));
}

TEST_F(BerthProcessTest, KilledItComesBackAndLeadsUnderANewEpoch) {
  berth.start();
  ASSERT_TRUE(world.run_until([this] { return leads(); }, 1min));
  const std::string before = holder();
  const std::int64_t first = epoch();
  berth.kill();
  EXPECT_FALSE(berth.running());
  EXPECT_TRUE(world.run_until([&] { return epoch() > first; }, 1min));
  EXPECT_NE(holder(), before);
  EXPECT_EQ(berth.starts(), 2);
}

TEST_F(BerthProcessTest, AskedToEndItGivesTheLeaseUp) {
  berth.start();
  ASSERT_TRUE(world.run_until([this] { return leads(); }, 1min));
  berth.terminate();
  EXPECT_TRUE(world.run_until([this] { return !berth.running(); }, 25s));
  EXPECT_EQ(holder(), "");
  world.run_for(1min);
  EXPECT_FALSE(berth.running());
}

TEST_F(BerthProcessTest, FrozenPastItsLeaseItEndsWhenItThaws) {
  berth.start();
  ASSERT_TRUE(world.run_until([this] { return leads(); }, 1min));
  berth.freeze();
  world.run_for(1min);
  berth.thaw();
  EXPECT_TRUE(world.run_until([this] { return berth.starts() == 2; }, 30s));
  EXPECT_THAT(log, Contains(HasSubstr("lease lost")));
}

TEST_F(BerthProcessTest, ItDiesAtAnyOfItsRequests) {
  for (int fatal = 1; fatal <= 25; ++fatal) {
    sim::Simulation other(static_cast<std::uint64_t>(fatal));
    BerthProcess replica(other, "berth-0", {});
    int sent = 0;
    replica.faults.on_request = [&](const HttpRequest&) {
      if (++sent == fatal) replica.kill();
      return sim::ExchangeFault{};
    };
    replica.start();
    other.run_for(30s);
    EXPECT_EQ(replica.starts(), 2) << "request " << fatal;
  }
}

}  // namespace
}  // namespace berth
