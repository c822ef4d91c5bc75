// SPDX-License-Identifier: Apache-2.0
// QueueHold: the webhook's changes to pods and Jobs of queues.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "controller/queue/record/admission_record.h"
#include "tests/admission/review_case.h"

namespace berth::test {

inline constexpr char kGates[] = "/spec/schedulingGates";
inline constexpr char kLabel[] = "/metadata/labels/gpu.berth.dev~1queue";

inline GPUQueue queue_of(const std::string& name, const std::string& namespace_, bool is_default) {
  GPUQueue queue;
  queue.meta.name = queue.meta.uid = name;
  queue.spec.namespace_selector.emplace().match_labels["kubernetes.io/metadata.name"] = namespace_;
  queue.spec.default_queue = is_default;
  queue.spec.quotas.push_back({"nvidia.com/gpu", "*", 8, {}, {}});
  return queue;
}

// `vision` is the default of team-a, `batch` may be named there, `other` is for shop.
class QueueHold : public ::testing::Test {
 protected:
  QueueHold() {
    cluster.erase<GPUClusterPolicy>("", "cluster");  // queues need no policy
    for (const char* name : {"team-a", "shop", "kube-system", "berth-system", "gpu-operator"}) {
      Namespace made;
      made.meta.name = name;
      made.meta.labels.set("kubernetes.io/metadata.name", name);
      cluster.upsert(made, Time{});
    }
    add(queue_of("vision", "team-a", true)), add(queue_of("batch", "team-a", false));
    add(queue_of("other", "shop", false));
    for (const char* name : {"kube-system", "berth-system", "gpu-operator"})
      add(queue_of(std::string("of-") + name, name, true));
  }
  void add(const GPUQueue& queue) { cluster.upsert(queue, Time{}); }
  // For the default queue of team-a.
  void accept(std::vector<std::string> classes) {
    GPUQueue queue = queue_of("vision", "team-a", true);
    queue.spec.priority_classes = std::move(classes);
    add(queue);
  }

  static Request with(Request request, const char* path, nlohmann::json value) {
    nlohmann::json object = nlohmann::json::parse(request.object);
    object[nlohmann::json::json_pointer(path)] = std::move(value);
    request.object = object.dump();
    return request;
  }
  static Request owned(Request request, const char* kind, const char* uid = "owner") {
    return with(std::move(request), "/metadata/ownerReferences",
                {{{"kind", kind}, {"uid", uid}, {"name", "x"}, {"controller", true}}});
  }
  static Request by_daemon_sets(Request request) {
    request.user = "system:kube-controller-manager";
    return request;
  }
  static Request gpu_pod() { return pod(asks("nvidia.com/gpu", 1)); }
  static Request gpu_job() { return job(asks("nvidia.com/gpu", 1)); }
  static std::string record(const char* uid) {
    return queue::encode_admission({.uid = uid, .queue = "vision", .pool = "*"});
  }
  static Request changed(nlohmann::json old, const char* path, nlohmann::json value) {
    Request request = gpu_job();
    request.operation = "UPDATE";
    nlohmann::json object = nlohmann::json::parse(request.object);
    object["metadata"]["uid"] = "job-uid";
    object.merge_patch(old);
    request.old_object = object.dump();
    object[nlohmann::json::json_pointer(path)] = std::move(value);
    request.object = object.dump();
    return request;
  }
  Answer mutated(const Request& request) const {
    Answer answer = ask(kMutate, request, cluster, settings);
    EXPECT_TRUE(answer.allowed) << answer.message;
    return answer;
  }
  bool gated(const Request& request) const {
    return at(mutated(request).object, kGates).find("gpu.berth.dev/queue") != std::string::npos;
  }

  ClusterState cluster = make_cluster();
  Settings settings;
};

}  // namespace berth::test
