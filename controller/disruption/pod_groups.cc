// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/pod_groups.h"

#include "apis/base/names.h"

namespace berth {
namespace {

const Text* group_of(const Pod* pod) {
  if (pod == nullptr || pod->node_name.empty() || pod->finished()) return nullptr;
  return pod->meta.labels.find(names::kPodGroupLabel);
}

}  // namespace

void PodGroups::follow(const Change<Pod>& change) {
  if (const Text* group = group_of(change.old)) {
    const auto size = sizes_.find({change.old->meta.namespace_, *group});
    if (--size->second == 0) sizes_.erase(size);
  }
  if (const Text* group = group_of(change.now)) ++sizes_[{change.now->meta.namespace_, *group}];
}

std::int64_t PodGroups::size_of(std::string_view namespace_, std::string_view group) const {
  const auto size = sizes_.find({Text(namespace_), Text(group)});
  return size == sizes_.end() ? 0 : size->second;
}

}  // namespace berth
