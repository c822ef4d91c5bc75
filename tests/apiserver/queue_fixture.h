// SPDX-License-Identifier: Apache-2.0
// QueueTest: a case with queues over one pool, "training", on the real control plane.
#pragma once

#include <string>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {

class QueueTest : public RolloutTest {
 protected:
  void SetUp() override;

  // Adds nodes n1, n2, … to the pool.
  void add_pool(int nodes, int gpus = 8);
  // A queue in cohort "research". It is the default of the namespace.
  void apply_queue(const std::string& name, const std::string& namespace_, int nominal);
  // A suspended Job with so many GPUs per pod.
  void submit(const std::string& namespace_, const std::string& name, int gpus, int pods = 1);
  // A pod with berth's gate; a member of a gang if `size` is not 0.
  void gate(const std::string& namespace_, const std::string& name, int gpus,
            const std::string& gang = "", int size = 0);

  Object queue(const std::string& name) { return kube().get({"gpuqueues", name}); }
  // For example "NoQuota 2, WaitingForQuota 1".
  std::string reasons(const std::string& name);
  void wait_reasons(const std::string& name, const std::string& wanted);
  void wait_used(const std::string& name, const std::string& wanted);
  std::string node_of(const std::string& namespace_, const std::string& pod);
  bool gated(const std::string& namespace_, const std::string& pod);
  void wait_bound(const std::string& namespace_, const std::string& pod);
  // The ledger drops an entry once its objects show the admission.
  void wait_nothing_in_flight();
};

}  // namespace berth::test
