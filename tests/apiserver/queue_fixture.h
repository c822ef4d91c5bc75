// SPDX-License-Identifier: Apache-2.0
// QueueTest: a case with queues over one pool, "training", of the real control plane.
#pragma once

#include <string>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {

class QueueTest : public RolloutTest {
 protected:
  void SetUp() override;

  // So many nodes in the pool, n1, n2, …
  void add_pool(int nodes, int gpus = 8);
  // In cohort "research". The namespace is the queue's: without a label its workloads are in it.
  void apply_queue(const std::string& name, const std::string& namespace_, int nominal);
  // A suspended Job whose pods ask for so many GPUs each.
  void submit(const std::string& namespace_, const std::string& name, int gpus, int pods = 1);
  // A pod behind berth's gate; of a gang of `size` if that is not 0.
  void gate(const std::string& namespace_, const std::string& name, int gpus,
            const std::string& gang = "", int size = 0);

  Object queue(const std::string& name) { return kube().get({"gpuqueues", name}); }
  // "NoQuota 2, WaitingForQuota 1".
  std::string reasons(const std::string& name);
  void wait_reasons(const std::string& name, const std::string& wanted);
  void wait_used(const std::string& name, const std::string& wanted);
  std::string node_of(const std::string& namespace_, const std::string& pod);
  bool gated(const std::string& namespace_, const std::string& pod);
  void wait_bound(const std::string& namespace_, const std::string& pod);
  // What was in flight is forgotten once its objects show it.
  void wait_nothing_in_flight();
};

}  // namespace berth::test
