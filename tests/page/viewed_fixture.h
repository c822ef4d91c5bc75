// SPDX-License-Identifier: Apache-2.0
// A cluster as somebody is shown it by what he may list.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "controller/page/page_state.h"
#include "controller/page/viewed_cluster.h"
#include "tests/queue/queue_objects.h"

namespace berth {

class Viewed : public ::testing::Test {
 protected:
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  static Node node(const std::string& name) {
    Node made = queue::node_of(name, 8);
    made.meta.labels.set("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB");
    made.meta.labels.set("nvidia.com/gpu.count", "8");
    made.meta.labels.set(names::kPoolLabel, "training");
    return made;
  }
  static Pod pod(const std::string& ns, const std::string& name, const std::string& on, int gpus) {
    Pod made;
    made.meta.namespace_ = ns;
    made.meta.name = name;
    made.meta.uid = ns + "/" + name;
    made.node_name = on;
    made.phase = on.empty() ? PodPhase::kPending : PodPhase::kRunning;
    made.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    return made;
  }
  Snapshot snapshot() const {
    return {.cluster = cluster,
            .answers = answers,
            .settings = settings,
            .now = now,
            .offline = true,
            .samples = samples};
  }
  nlohmann::json seen_by(const ViewerRights& rights) const {
    return nlohmann::json::parse(print_json(page_state(snapshot(), rights)));
  }
  static ViewerRights everything() {
    ViewerRights rights;
    Watched::each([&]<class T>() { rights.grant(resource_name(kKind<T>)); });
    return rights;
  }
  // Of a tenant who has `view` in his namespace and may list what is the cluster's.
  static ViewerRights tenant(const std::string& ns) {
    ViewerRights rights;
    for (const char* resource : {"nodes", "miglayouts.gpu.berth.dev", "gpuqueues.gpu.berth.dev"})
      rights.grant(resource);
    for (const char* resource : {"pods", "jobs.batch"}) rights.grant(resource, ns);
    return rights;
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Samples samples;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

}  // namespace berth
