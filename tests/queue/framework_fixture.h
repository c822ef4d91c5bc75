// SPDX-License-Identifier: Apache-2.0
// FrameworkGangsTest: AdmissionsTest with gangs of other projects' controllers, released step by
// step.
#pragma once

#include <string>
#include <vector>

#include "tests/queue/admissions_fixture.h"
#include "tests/queue/framework_pods.h"

namespace berth::queue {

class FrameworkGangsTest : public AdmissionsTest {
 protected:
  static berth::Pod gated(berth::Pod pod, int gpus) {
    pod.meta.namespace_ = "a";
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    pod.shape.edit()->scheduling_gates = {names::kQueueGate};
    return pod;
  }
  static berth::Pod sized(berth::Pod pod, const std::string& size) {
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, Text(size));
    return pod;
  }
  static berth::Pod fast(berth::Pod pod) {
    pod.meta.annotations.set(names::kFastAdmissionAnnotation, "true");
    return pod;
  }
  // The pod after its release by the plan and its binding by the scheduler.
  berth::Pod let_go(berth::Pod pod, const Plan& plan, const std::string& node) {
    for (std::size_t i = 0; i < plan.objects.size(); ++i) {
      if (plan.objects[i].object.uid != pod.meta.uid) continue;
      const std::string record =
          body_of(plan, i)["metadata"]["annotations"][names::kAdmittedAnnotation];
      pod.meta.annotations.set(names::kAdmittedAnnotation, Text(record));
      pod.shape.edit()->scheduling_gates.clear();
      pod.node_name = Text(node);
    }
    return pod;
  }
  static std::vector<std::string> objects_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& each : plan.objects) names.push_back(each.object.name);
    return names;
  }
  // Decides, releases the whole gang and binds its pods in turn to n1 and n2.
  void start(const std::string& gang, const std::vector<berth::Pod>& pods) {
    for (const berth::Pod& pod : pods) add(pod);
    decide();
    const Plan plan = reconcile_release(snapshot(), gang);
    ASSERT_EQ(plan.objects.size(), pods.size());
    for (std::size_t i = 0; i < pods.size(); ++i) run(let_go(pods[i], plan, i % 2 ? "n2" : "n1"));
    now += std::chrono::minutes(5);
    settle();
  }
  void run(berth::Pod pod) {
    pod.phase = PodPhase::kRunning;
    add(pod);
  }
  berth::Pod pod_named(const std::string& name) const { return *cluster.pods().find("a", name); }
  void end(const std::string& name, PodPhase phase = PodPhase::kSucceeded) {
    berth::Pod pod = pod_named(name);
    pod.phase = phase;
    add(pod);
  }
  void lose(const std::string& name) { cluster.erase<berth::Pod>("a", name); }
  // Marks the pod as deleted but not yet ended.
  void remove(const std::string& name) {
    berth::Pod pod = pod_named(name);
    pod.meta.deletion_timestamp = now;
    add(pod);
  }
  // Runs the ledger's review until it writes no more.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      const Plan plan = reconcile_admissions(snapshot());
      if (plan.objects.empty()) return;
      take_ledger(plan);
    }
  }
  // The pods that a release would ungate now.
  std::vector<std::string> follow(const std::string& gang) {
    return objects_of(reconcile_release(snapshot(), gang));
  }
  std::int64_t used() const {
    const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
    std::int64_t used = 0;
    for (const auto& [holder, by_key] : facts.usage().by_holder())
      for (const auto& [key, of] : by_key) used += of.total;
    return used;
  }
  AdmissionFact entry() const {
    return read_admissions(snapshot()).entries.begin()->second.admission;
  }
};

}  // namespace berth::queue
