// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a node whose GPUs have shown a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/disruption/health_record.h"
#include "controller/dump/clues.h"
#include "controller/explain/explain_node.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string why(HealthPhase phase, bool cordoned, std::int64_t proofs = 0,
                const std::string& keys = "FatalXid/1", const Clues& clues = no_clues()) {
  const Time now = *parse_time("2026-11-21T12:10:00Z");
  Node node = test::node("n1").a100_80(4);
  if (cordoned) node.unschedulable = true;
  node.meta.annotations.set(names::kHealthAnnotation,
                            encode_health({.phase = phase,
                                           .node_uid = node.meta.uid,
                                           .since = *parse_time("2026-11-21T12:00:00Z"),
                                           .last = *parse_time("2026-11-21T12:01:00Z"),
                                           .keys = keys,
                                           .findings = "GPU 1: XID 79, it fell off the bus",
                                           .proofs = proofs,
                                           .proof = "exit code 9: no devices were found"}));
  ClusterState cluster;
  cluster.upsert(std::move(node), now);
  const Answers answers;
  const Settings settings;
  return print_text(
      explain_node(Snapshot{cluster, answers, settings, now}, *cluster.nodes().find("n1"), clues));
}

TEST(NodeHealthWhy, TellsWhatWasFoundAndWhatToDo) {
  EXPECT_THAT(why(HealthPhase::kReported, false),
              AllOf(HasSubstr("GPU 1: XID 79, it fell off the bus; last seen 2026-11-21T12:01:00Z"),
                    HasSubstr("leaves it in service")));
  EXPECT_THAT(why(HealthPhase::kCordoned, true),
              AllOf(HasSubstr("cordoned by berth for its health: GPU 1: XID 79"),
                    HasSubstr("reset or replace the GPU"), Not(HasSubstr("not by berth"))));
  EXPECT_THAT(why(HealthPhase::kCordoned, true), Not(HasSubstr("proof")));
  EXPECT_THAT(why(HealthPhase::kCordoned, true, 1),
              HasSubstr("its last proof failed: exit code 9: no devices were found"));
  EXPECT_THAT(why(HealthPhase::kOverruled, false),
              HasSubstr("a person put it back into service: berth leaves it there while the same "
                        "findings last"));
  EXPECT_THAT(why(HealthPhase::kOverruled, false, 0, ""),
              HasSubstr("a person put it back into service, and this is over"));
  EXPECT_THAT(why(HealthPhase::kRecovered, false),
              HasSubstr("recovered at 2026-11-21T12:00:00Z; it was: GPU 1: XID 79"));
}

TEST(NodeHealthWhy, AdvisesAnUncordonThatHoldsAndNoOther) {
  EXPECT_THAT(why(HealthPhase::kCordoned, true),
              AllOf(HasSubstr("berth leaves it while the same findings last"),
                    HasSubstr("kubectl uncordon n1"), Not(HasSubstr("whoever cordoned it"))));
}

TEST(NodeHealthWhy, PromisesNoReturnWithoutAController) {
  EXPECT_THAT(why(HealthPhase::kCordoned, true), HasSubstr("back when nothing is found any more"));
  Clues gone;
  gone.lease.emplace();
  gone.lease->renew_time = *parse_time("2026-11-21T11:00:00Z");
  gone.lease->lease_duration_seconds = 15;
  EXPECT_THAT(why(HealthPhase::kCordoned, true, 0, "FatalXid/1", gone),
              AllOf(HasSubstr("no berth controller has run since 2026-11-21T11:00:00Z: it stays "
                              "cordoned until one runs or a person uncordons it"),
                    Not(HasSubstr("back when"))));
}

}  // namespace
}  // namespace berth::test
