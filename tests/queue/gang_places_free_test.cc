// SPDX-License-Identifier: Apache-2.0
// The place of a member in a running gang is free once that member is gone; no other event shows
// it.
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::Not;

using GangPlaces = AdmissionsTest;

TEST_F(GangPlaces, OneThatWaitsForItIsDueWithTheDeletionOfTheOther) {
  constexpr char kDue[] = "release/PodGroup/a/gang";
  for (const char* name : {"stays", "leaves"}) {
    berth::Pod runs = member(name, "2");
    runs.shape.edit()->scheduling_gates.clear();
    runs.node_name = "n1";
    if (name == std::string("leaves")) runs.meta.deletion_timestamp = now;
    note_admission(runs.meta, "vision", {{"nvidia.com/gpu", 8}}, 2);
    add(std::move(runs));
  }
  add(member("waits", "2"));
  EXPECT_THAT(due(), Not(Contains(kDue))) << "two of two live";
  const auto gone = cluster.erase<berth::Pod>("a", "leaves");
  EXPECT_THAT(
      queue_keys_for(cluster, settings, gone.get(), static_cast<const berth::Pod*>(nullptr)),
      Contains(kDue));
}

}  // namespace
}  // namespace berth::queue
