// SPDX-License-Identifier: Apache-2.0
// If a leader waits for events that the previous leader had seen, it reports so in each queue, once
// that takes longer than a takeover.
#include "controller/queue/status/late_news.h"

#include "controller/queue/status/reconcile.h"
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class LateNewsTest : public AdmissionsTest {
 protected:
  // The third leader has seen a Job that the fourth does not know yet.
  LateNewsTest() {
    cluster.hear_all<berth::Job>(std::to_string(version));
    add(job_of("a", "train", 8));
    heard = std::to_string(version);
    cluster.hear<berth::Job>(heard);
    begin(), decide();
    cluster.erase<berth::Job>("a", "train");
    epoch = 4;
  }
  std::string told() {
    const Plan plan = reconcile_queues(snapshot());
    again = plan.requeue_after;
    return plan.statuses.at(0).body;
  }
  std::string heard;
  std::optional<Duration> again;
};

TEST_F(LateNewsTest, IsToldOnceItLastsAndNoLongerThanItDoes) {
  EXPECT_THAT(told(), Not(HasSubstr("AdmissionsPaused"))) << "its epoch has not begun";
  EXPECT_EQ(again, 10s);
  begin();
  now += 4s;
  EXPECT_THAT(told(), Not(HasSubstr("AdmissionsPaused"))) << "a takeover may take so long";
  EXPECT_EQ(again, 6s);
  now += 6s;
  EXPECT_THAT(told(), HasSubstr(R"("type":"AdmissionsPaused","status":"True")"));
  EXPECT_THAT(told(), HasSubstr("began to lead at 2026-11-21T12:00:00Z"));
  EXPECT_THAT(told(), HasSubstr(R"("type":"Ready","status":"True")"));
  EXPECT_EQ(again, 5s);
  cluster.hear_all<berth::Job>(heard);
  EXPECT_THAT(told(), Not(HasSubstr("AdmissionsPaused")));
  EXPECT_EQ(again, std::nullopt);
}

TEST_F(LateNewsTest, IsNobodysOfWhoWroteTheLedgerOrLooksAtItOffline) {
  begin();
  now += 1h;
  Snapshot offline = snapshot();
  offline.offline = true;
  EXPECT_FALSE(find_late_news(offline).cause.has_value());
  EXPECT_TRUE(find_late_news(snapshot()).cause.has_value());
  epoch = 3;
  EXPECT_FALSE(find_late_news(snapshot()).cause.has_value());
}

}  // namespace
}  // namespace berth::queue
