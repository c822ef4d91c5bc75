// SPDX-License-Identifier: Apache-2.0
// AdmittedTest: AdmissionsTest plus workloads that queue "vision" has admitted and pinned: pods,
// gangs and a Job, and what berth plans for them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controller/queue/recall/reconcile.h"
#include "controller/queue/record/admission_record.h"
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {

class AdmittedTest : public AdmissionsTest {
 protected:
  void note(ObjectMeta& meta, const std::string& uid, std::vector<std::string> nodes,
            std::int64_t gpus, std::int64_t pods = 1) {
    const AdmissionFact fact{.uid = uid,
                             .queue = "vision",
                             .cohort = "research",
                             .pool = "training",
                             .pods = pods,
                             .amounts = {{"nvidia.com/gpu", gpus}},
                             .since = now.time_since_epoch().count(),
                             .nodes = std::move(nodes)};
    meta.annotations.set(names::kAdmittedAnnotation, encode_admission(fact));
  }
  // A pod that is admitted now and released.
  berth::Pod released(const std::string& name, const std::string& node,
                      const std::string& owner = "ReplicaSet") {
    berth::Pod pod = gated(name, 4);
    pod.meta.creation_timestamp = now - std::chrono::hours(1);
    pod.shape.edit()->scheduling_gates.clear();
    note(pod.meta, name, node.empty() ? std::vector<std::string>() : std::vector{node}, 4);
    if (!owner.empty())
      pod.meta.owner_references = {
          {.kind = owner, .name = "web", .uid = "web", .controller = true}};
    return pod;
  }
  berth::Pod member_of(const std::string& name, const std::string& node,
                       const std::string& owner = "ReplicaSet") {
    berth::Pod pod = released(name, node, owner);
    note(pod.meta, name, node.empty() ? std::vector<std::string>() : std::vector{node}, 8, 2);
    pod.meta.labels.set(names::kPodGroupLabel, "gang");
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
    return pod;
  }
  // A Job of two pods with four GPUs each, on n1 and n2.
  berth::Job job() {
    berth::Job made = job_of("a", "train", 4);
    made.meta.creation_timestamp = now;
    made.suspended = false;
    made.parallelism = 2, made.completions = 2;
    note(made.meta, "train", {"n1", "n2"}, 8);
    return made;
  }
  berth::Pod pod_of(const berth::Job& job, const std::string& name, const std::string& node = "") {
    berth::Pod pod = gated(name, 4);
    pod.meta.creation_timestamp = now;
    pod.shape.edit()->scheduling_gates.clear();
    pod.node_name = node;
    if (!node.empty()) pod.phase = PodPhase::kRunning;
    pod.meta.annotations = job.meta.annotations;
    pod.meta.owner_references = {
        {.kind = "Job", .name = job.meta.name, .uid = job.meta.uid, .controller = true}};
    return pod;
  }
  void bind(berth::Pod pod, const std::string& node) {
    pod.node_name = node;
    pod.phase = PodPhase::kRunning;
    add(pod);
  }
  void take_out(const std::string& node) {
    Node out = node_of(node, 8);
    out.unschedulable = true;
    add(out);
  }
  Plan plan(const std::string& workload) { return reconcile_requeue(snapshot(), workload); }
  // The planned writes by object: "evict web", "mergepatch train".
  std::vector<std::string> done(const std::string& workload) {
    std::vector<std::string> writes;
    for (const ObjectSteps& object : plan(workload).objects)
      for (const Step& step : object.steps)
        if (const auto* write = std::get_if<Write>(&step)) {
          EXPECT_FALSE(write->object.uid.empty()) << "or another one of the name is meant";
          writes.push_back(std::string(to_string(write->verb)) + " " + write->object.name);
        }
    return writes;
  }
};

}  // namespace berth::queue
