// SPDX-License-Identifier: Apache-2.0
// Builders: short code for test objects, for example node("n1").a100_80(4).allocatable("gpu", 4).
#pragma once

#include <string>
#include <utility>

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "apis/kinds/mig_layout.h"

namespace berth::test {

class NodeBuilder {
 public:
  explicit NodeBuilder(const std::string& name) {
    node_.meta.name = name;
    node_.meta.uid = "uid-" + name;
    node_.ready = true;
    node_.boot_id = "boot-1";
    label("kubernetes.io/hostname", name);
  }
  // MIG is off, GPU feature discovery and the GPU operator have labelled the node, strategy is
  // mixed.
  NodeBuilder& a100_80(int gpus) {
    label(names::kGpuProduct, "NVIDIA-A100-SXM4-80GB")
        .label(names::kGpuCount, std::to_string(gpus));
    label("nvidia.com/gpu.memory", "81920").label("nvidia.com/gpu.replicas", "1");
    label(names::kGpuPresent, "true").label(names::kMigCapable, "true");
    label(names::kMigStrategy, "mixed").label(names::kMigConfig, names::kAllDisabled);
    label(names::kMigConfigState, "success").label(names::kDeployMigManager, "true");
    label("nvidia.com/gpu.deploy.device-plugin", "true");
    return allocatable("nvidia.com/gpu", gpus);
  }
  NodeBuilder& label(const std::string& key, const std::string& value) {
    node_.meta.labels.set(key, value);
    return *this;
  }
  NodeBuilder& annotation(const std::string& key, const std::string& value) {
    node_.meta.annotations.set(key, value);
    return *this;
  }
  NodeBuilder& allocatable(const std::string& resource, std::int64_t count) {
    node_.allocatable.set(resource, Quantity::whole(count));
    return *this;
  }
  NodeBuilder& cordoned() {
    node_.unschedulable = true;
    return *this;
  }
  NodeBuilder& not_ready() {
    node_.ready = false;
    return *this;
  }
  NodeBuilder& taint(const std::string& key, const std::string& effect) {
    node_.taints.push_back({key, "", effect});
    return *this;
  }
  NodeBuilder& uid(const std::string& uid) {
    node_.meta.uid = uid;
    return *this;
  }
  operator Node() const { return node_; }  // NOLINT: a builder is what it builds

 private:
  Node node_;
};
inline NodeBuilder node(const std::string& name) { return NodeBuilder(name); }

class PodBuilder {
 public:
  // A running pod of a ReplicaSet in namespace team-a.
  explicit PodBuilder(const std::string& name) {
    pod_.meta.name = name;
    pod_.meta.namespace_ = "team-a";
    pod_.meta.uid = "uid-" + name;
    pod_.phase = PodPhase::kRunning;
    owner("ReplicaSet", "rs");
  }
  PodBuilder& gpu(int count) { return requests("nvidia.com/gpu", count); }
  PodBuilder& requests(const std::string& resource, std::int64_t count) {
    pod_.shape.edit()->requests.set(resource, Quantity::whole(count));
    return *this;
  }
  PodBuilder& on(const std::string& node) {
    pod_.node_name = node;
    return *this;
  }
  PodBuilder& in(const std::string& namespace_) {
    pod_.meta.namespace_ = namespace_;
    return *this;
  }
  PodBuilder& owner(const std::string& kind, const std::string& name) {
    pod_.meta.owner_references = {{"v1", kind, name, "uid-" + name, true}};
    return *this;
  }
  PodBuilder& unmanaged() {
    pod_.meta.owner_references.clear();
    return *this;
  }
  PodBuilder& job(const std::string& name) { return owner("Job", name); }
  PodBuilder& label(const std::string& key, const std::string& value) {
    pod_.meta.labels.set(key, value);
    return *this;
  }
  PodBuilder& annotation(const std::string& key, const std::string& value) {
    pod_.meta.annotations.set(key, value);
    return *this;
  }
  PodBuilder& priority(int priority) {
    pod_.shape.edit()->priority = priority;
    return *this;
  }
  PodBuilder& phase(PodPhase phase) {
    pod_.phase = phase;
    return *this;
  }
  PodBuilder& terminating() {
    pod_.meta.deletion_timestamp = Time{};
    return *this;
  }
  PodBuilder& empty_dir() {
    pod_.has_empty_dir = true;
    return *this;
  }
  PodBuilder& started(Time time) {
    pod_.start_time = time;
    return *this;
  }
  operator Pod() const { return pod_; }  // NOLINT

 private:
  Pod pod_;
};
inline PodBuilder pod(const std::string& name) { return PodBuilder(name); }

class LayoutBuilder {
 public:
  // Selects tier=mig, with 7×1g.10gb on every GPU by default.
  explicit LayoutBuilder(const std::string& name) {
    layout_.meta.name = name;
    layout_.meta.uid = "uid-" + name;
    layout_.meta.generation = 1;
    layout_.spec.node_selector = LabelSelector{{{"tier", "mig"}}, {}};
    layout_.spec.devices = {DeviceLayout{std::nullopt, {{"1g.10gb", 7}}}};
  }
  // The layout of the README: two GPUs with 3g+2g+2×1g and the others with 7×1g.
  LayoutBuilder& mixed_sizes() {
    layout_.spec.devices = {DeviceLayout{std::vector<std::int32_t>{0, 1},
                                         {{"3g.40gb", 1}, {"2g.20gb", 1}, {"1g.10gb", 2}}},
                            DeviceLayout{std::nullopt, {{"1g.10gb", 7}}}};
    return *this;
  }
  LayoutBuilder& profiles(ProfileCounts profiles) {
    layout_.spec.devices = {DeviceLayout{std::nullopt, std::move(profiles)}};
    return *this;
  }
  LayoutBuilder& retire(const std::string& resource) {
    layout_.spec.capacity_guard.retire.push_back(resource);
    return *this;
  }
  LayoutBuilder& created(Time time) {
    layout_.meta.creation_timestamp = time;
    return *this;
  }
  LayoutBuilder& priority(int priority) {
    layout_.spec.priority = priority;
    return *this;
  }
  MIGLayoutSpec& spec() { return layout_.spec; }
  template <class F>
  LayoutBuilder& with(F change) {
    change(layout_.spec);
    return *this;
  }
  operator MIGLayout() const { return layout_; }  // NOLINT

 private:
  MIGLayout layout_;
};
inline LayoutBuilder layout(const std::string& name) { return LayoutBuilder(name); }

inline PodDisruptionBudget budget(const std::string& name, const std::string& key,
                                  const std::string& value, int allowed) {
  PodDisruptionBudget budget;
  budget.meta.name = name;
  budget.meta.namespace_ = "team-a";
  budget.meta.uid = "uid-" + name;
  budget.selector = LabelSelector{{{Text(key), Text(value)}}, {}};
  budget.disruptions_allowed = allowed;
  budget.desired_healthy = 1;
  budget.current_healthy = 1 + allowed;
  return budget;
}

inline Job job(const std::string& name, int backoff_limit, int failed = 0) {
  Job job;
  job.meta.name = name;
  job.meta.namespace_ = "team-a";
  job.meta.uid = "uid-" + name;
  job.backoff_limit = backoff_limit;
  job.failed = failed;
  return job;
}

}  // namespace berth::test
