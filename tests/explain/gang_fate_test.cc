// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a gang without a Job that its queue requeues.
#include "controller/explain/job_fate.h"
#include "tests/queue/recall_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GangFate : public RecallTest {
 protected:
  std::vector<std::string> told() const {
    return job_fate(snapshot(), *cluster.view<ClusterIndex>().facts().find(kGang));
  }
};

TEST_F(GangFate, IsToldBeforeAndAsLongAsItsMarkStands) {
  start_gang();
  EXPECT_THAT(told(), IsEmpty());
  give_notice("n1");
  EXPECT_THAT(told(),
              ElementsAre("node n1 is about to go (taint aws-node-termination-handler/spot-itn): "
                          "it is evicted whole, and queues again"));
  take_back();
  EXPECT_THAT(told(),
              ElementsAre("taken back whole at 2026-11-21T12:00:00Z: node n1 is about to go (taint "
                          "aws-node-termination-handler/spot-itn); 2 pods are yet to be evicted; "
                          "none that is made anew is let go before they are gone"));
  come_back("h0", "h1");
  EXPECT_THAT(told(),
              ElementsAre("taken back whole at 2026-11-21T12:00:00Z: node n1 is about to go (taint "
                          "aws-node-termination-handler/spot-itn)"));
}

TEST_F(GangFate, SaysWhyItStays) {
  begin();
  bind(member_of("g0", "n1"), "n1"), bind(member_of("g1", "n2", ""), "n2");
  give_notice("n1");
  EXPECT_THAT(told(),
              ElementsAre("node n1 is about to go (taint aws-node-termination-handler/spot-itn): "
                          "berth leaves it so: nobody would make pod g1 anew"));
}

TEST_F(GangFate, OfADrainedQueueIsTold) {
  start_gang();
  GPUQueue queue = queue_of("vision", 16);
  queue.spec.stop_policy = StopPolicy::kHoldAndDrain;
  add(queue), give_notice("n1");
  EXPECT_THAT(told(),
              ElementsAre("queue vision is drained: it is evicted whole, and queues again"));
  bind(member_of("g1", "n2", ""), "n2");
  EXPECT_THAT(told(), ElementsAre("queue vision is drained: berth leaves it so: nobody would make "
                                  "pod g1 anew"));
}

}  // namespace
}  // namespace berth::queue
