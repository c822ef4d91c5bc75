// SPDX-License-Identifier: Apache-2.0
// The answer of `berth why` for a Job that its queue will requeue.
#include "controller/explain/job_fate.h"

#include "tests/queue/admitted_fixture.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class JobFate : public queue::AdmittedTest {
 protected:
  JobFate() {
    add(job());
    add(pod_of(job(), "train-0", "n1")), add(pod_of(job(), "train-1", "n2"));
  }
  std::vector<std::string> told() const {
    const auto& facts = cluster.view<queue::ClusterIndex>().facts();
    return job_fate(snapshot(), *facts.find("Job/a/train"));
  }
};

TEST_F(JobFate, IsNoneWhileNothingIsWrong) { EXPECT_THAT(told(), IsEmpty()); }

TEST_F(JobFate, NamesTheNodeThatGoes) {
  Node going = queue::node_of("n1", 8);
  going.taints.push_back({"karpenter.sh/disrupted", "", "NoSchedule"});
  add(going);
  EXPECT_THAT(told(), ElementsAre("node n1 is about to go (taint karpenter.sh/disrupted): it is "
                                  "suspended whole, and queues again"));
}

TEST_F(JobFate, SaysUntilWhenItsPodsHaveTime) {
  GPUQueue queue = queue::queue_of("vision", 16);
  queue.spec.pods_ready_timeout = std::chrono::minutes(10);
  add(queue);
  EXPECT_THAT(told(), ElementsAre("2 pods have not been Ready yet; if that is so at "
                                  "2026-11-21T12:10:00Z, it is suspended whole, and queues again"));
  queue.spec.stop_policy = StopPolicy::kHold;
  add(queue);
  EXPECT_THAT(told(), ElementsAre("2 pods have not been Ready yet; if that is so at "
                                  "2026-11-21T12:10:00Z, berth leaves it so: its queue would not "
                                  "let it go again"));
}

}  // namespace
}  // namespace berth
