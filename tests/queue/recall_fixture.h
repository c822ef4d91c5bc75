// SPDX-License-Identifier: Apache-2.0
// RecallTest: AdmittedTest plus a gang of two pods without a Job, which runs on n1 and n2, and what
// the API server and the gang's controller do after a requeue.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/queue/record/recall.h"
#include "tests/queue/admitted_fixture.h"

namespace berth::queue {

inline constexpr char kGang[] = "PodGroup/a/gang";
inline constexpr char kGangDue[] = "requeue/PodGroup/a/gang";

class RecallTest : public AdmittedTest {
 protected:
  void start_gang(bool has_been_ready = false) {
    if (ledger() == nullptr) begin();
    admitted_at = now;
    put_member("g0", "n1", has_been_ready), put_member("g1", "n2", has_been_ready);
  }
  // An admitted member, bound if it names a node.
  void put_member(const std::string& name, const std::string& node, bool has_been_ready = false) {
    const Time at = std::exchange(now, admitted_at);
    berth::Pod pod = member_of(name, node);
    now = at;
    pod.meta.creation_timestamp = now;
    pod.has_been_ready = has_been_ready;
    bind(pod, node);
  }
  void give_notice(const std::string& name) {
    Node node = node_of(name, 8);
    node.taints.push_back({"aws-node-termination-handler/spot-itn", "", "NoSchedule"});
    add(node);
  }
  // The gang's pods belong to a TFJob and do not restart.
  void give_to_tf_job() {
    for (const char* name : {"g0", "g1"}) {
      berth::Pod pod = *cluster.pods().find("a", name);
      pod.never_restarts = true;
      pod.meta.labels.set("training.kubeflow.org/replica-type", "worker");
      pod.meta.owner_references = {{.api_version = "kubeflow.org/v1",
                                    .kind = "TFJob",
                                    .name = "tf",
                                    .uid = "tf",
                                    .controller = true}};
      add(pod);
    }
  }
  // Answers the plan's reads of the TFJob. Returns how many there were.
  std::size_t read_tf_job(const std::string& policy) {
    return read_owners(R"({"metadata":{"uid":"tf"},"spec":{"tfReplicaSpecs":{"Worker":{)" +
                       (policy.empty() ? "" : R"("restartPolicy":")" + policy + '"') + "}}}}");
  }
  std::size_t read_owners(const Result<std::string>& object) {
    std::size_t reads = 0;
    for (const ObjectSteps& steps : plan(kGang).objects)
      for (const Step& step : steps.steps) {
        const auto* look = std::get_if<Guard>(&step);
        if (look == nullptr) continue;
        ++reads;
        const auto refusal = look->refuse_object(object);
        answers.put(
            question(step),
            {.yes = !refusal, .error = {ErrorKind::kConflict, refusal.value_or("")}, .at = now});
      }
    return reads;
  }
  std::vector<std::string> asked() {
    std::vector<std::string> pods;
    for (const ObjectSteps& object : plan(kGang).objects)
      for (const Step& step : object.steps)
        if (const auto* ask = std::get_if<Ask>(&step)) pods.push_back(ask->pod.name);
    return pods;
  }
  void answer(bool yes) {
    for (const ObjectSteps& object : plan(kGang).objects)
      for (const Step& step : object.steps)
        if (const auto* ask = std::get_if<Ask>(&step))
          answers.put(question(step),
                      {.yes = yes,
                       .error = {ErrorKind::kThrottled, yes ? "" : "budget keep allows none"},
                       .against = ask->against,
                       .at = now});
  }
  // All evictions are allowed, and the mark is written.
  void take_back() {
    answer(true);
    take_ledger(plan(kGang));
  }
  // The old round is gone, and the controller has created the next one, which is gated.
  void come_back(const std::string& first, const std::string& second) {
    for (const char* name : {"g0", "g1"}) cluster.erase<berth::Pod>("a", name);
    come(first), come(second);
  }
  void come(const std::string& name) {
    berth::Pod pod = member(name, "2");
    pod.meta.creation_timestamp = now;
    pod.meta.owner_references = {
        {.kind = "ReplicaSet", .name = "web", .uid = "web", .controller = true}};
    add(pod);
  }
  std::vector<RecallFact> marks() const {
    std::vector<RecallFact> all;
    for (const auto& [key, recall] : read_admissions(snapshot()).recalls) all.push_back(recall);
    return all;
  }
  // Runs the ledger's review until it writes no more.
  void review() {
    for (int i = 0; i < 3; ++i) {
      const Plan made = reconcile_admissions(snapshot());
      if (made.objects.empty()) return;
      take_ledger(made);
    }
  }

  Time admitted_at{};  // of the whole gang
};

}  // namespace berth::queue
