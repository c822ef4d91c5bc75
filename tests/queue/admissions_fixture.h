// SPDX-License-Identifier: Apache-2.0
// AdmissionsTest: a queue "vision" with sixteen GPUs in pool "training". The stores take each write
// of the ledger as the API server would.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/queue/admit/queue_keys.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {

class AdmissionsTest : public ::testing::Test {
 protected:
  AdmissionsTest() {
    add(policy_with("training")), add(node_of("n1", 8)), add(node_of("n2", 8));
    add(namespace_of("a", "vision")), add(queue_of("vision", 16));
  }
  template <class T>
  void add(T object) {
    object.meta.resource_version = std::to_string(++version);
    cluster.upsert(std::move(object), now);
  }
  Snapshot snapshot() const {
    return {.cluster = cluster,
            .answers = answers,
            .settings = settings,
            .now = now,
            .epoch = epoch,
            .samples = samples,
            .attention = attention};
  }
  static berth::Pod gated(const std::string& name, int gpus) {
    berth::Pod pod;
    pod.meta.namespace_ = "a";
    pod.meta.name = pod.meta.uid = name;
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    pod.shape.edit()->scheduling_gates = {"example.com/other", names::kQueueGate};
    return pod;
  }
  static berth::Pod member(const std::string& name, const std::string& size) {
    berth::Pod pod = gated(name, 4);
    pod.meta.labels.set(names::kPodGroupLabel, "gang");
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, size);
    return pod;
  }

  // The ledger as it is after the plan's write.
  void take_ledger(const Plan& plan) {
    ASSERT_THAT(plan.objects, ::testing::SizeIs(1));
    const Write& write = std::get<Write>(plan.objects[0].steps.back());  // guards may come first
    ASSERT_EQ(write.object.name, names::kAdmissionsConfigMap);
    nlohmann::json object = {{"metadata", {{"uid", "ledger"}}}};
    if (const ConfigMap* standing = ledger()) {
      for (const auto& [key, value] : standing->meta.annotations)
        object["metadata"]["annotations"][key.str()] = value.str();
      object["data"] = standing->data;
    }
    object.merge_patch(nlohmann::json::parse(write.body));
    object["metadata"]["name"] = names::kAdmissionsConfigMap;
    object["metadata"]["namespace"] = settings.berth_namespace;
    std::string text = object.dump();
    add(*decode_object<ConfigMap>(text));
  }
  const ConfigMap* ledger() const {
    return cluster.config_maps().find(settings.berth_namespace, names::kAdmissionsConfigMap);
  }
  std::vector<std::string> in_flight() const {
    std::vector<std::string> workloads;
    for (const auto& [uid, entry] : read_admissions(snapshot()).entries)
      workloads.push_back(entry.workload);
    return workloads;
  }
  // Answers a refusal to the release of this object.
  void refuse(const std::string& name, const std::string& kind = "Pod") {
    const Write write{.verb = Verb::kMergePatch,
                      .object = {kind, "a", name, name},
                      .field_manager = names::kManagerQueue,
                      .reason = "admitted"};
    answers.put(question(write), {.error = {ErrorKind::kForbidden, "not on Fridays"},
                                  .against = "1",
                                  .at = now,
                                  .object = write.object.str(),
                                  .field_manager = write.field_manager,
                                  .reason = write.reason});
  }
  void begin() { take_ledger(reconcile_admissions(snapshot())); }
  void decide() { take_ledger(reconcile_admissions(snapshot())); }
  static nlohmann::json body_of(const Plan& plan, std::size_t object = 0) {
    return nlohmann::json::parse(std::get<Write>(plan.objects.at(object).steps.at(0)).body);
  }
  std::vector<std::string> due() const { return all_queue_keys(cluster, settings); }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Samples samples;
  Attention attention;
  Time now = *parse_time("2026-11-21T12:00:00Z");
  std::int64_t epoch = 3;
  int version = 0;
};

}  // namespace berth::queue
