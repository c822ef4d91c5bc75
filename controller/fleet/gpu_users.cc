// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/gpu_users.h"

namespace berth {
namespace {

const PodSet kNoPods;

template <class OnResource>
void each_held(const Pod* pod, OnResource&& on_resource) {
  if (pod == nullptr || pod->node_name.empty() || pod->finished()) return;
  for (const auto& [resource, quantity] : gpus_in(pod->shape->requests)) on_resource(resource);
}

}  // namespace

void GpuUsers::follow(const Change<Pod>& change) {
  each_held(change.old, [&](const Text& resource) {
    const auto users = by_resource_.find(resource);
    users->second.erase(change.old);
    if (users->second.empty()) by_resource_.erase(users);
  });
  each_held(change.now, [&](const Text& resource) { by_resource_[resource].insert(change.now); });
}

const PodSet& GpuUsers::of(const Text& resource) const {
  const auto users = by_resource_.find(resource);
  return users == by_resource_.end() ? kNoPods : users->second;
}

}  // namespace berth
