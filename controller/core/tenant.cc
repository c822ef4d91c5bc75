// SPDX-License-Identifier: Apache-2.0
#include "controller/core/tenant.h"

#include <algorithm>

#include "apis/names.h"

namespace berth {
namespace {

constexpr char kGangAnnotation[] = "gpu.berth.dev/gang";

std::int64_t work_from_s(const Pod& pod) {
  std::optional<Time> from = pod.start_time;
  if (const Text* text = pod.meta.annotations.find(names::kLastCheckpointAnnotation))
    if (Result<Time> checkpoint = parse_time(text->view()))
      from = std::max(*checkpoint, from.value_or(*checkpoint));
  if (!from) return Tenant::kNoWork;
  return std::chrono::floor<std::chrono::seconds>(*from).time_since_epoch().count();
}

}  // namespace

Tenant tenant_of(const Pod& pod) {
  Tenant tenant;
  tenant.pod = &pod;
  tenant.namespace_ = pod.meta.namespace_;
  tenant.priority = pod.priority;
  tenant.work_from_s = work_from_s(pod);
  tenant.uses_gpu = uses_gpu(pod);
  std::int64_t gpus = 0;
  for (const auto& [resource, quantity] : pod.requests) {
    if (!is_gpu_resource(resource.view())) continue;
    gpus += quantity.rounded_up();
    if (!tenant.resource.empty()) {
      tenant.asks_more = true;
      continue;
    }
    tenant.resource = resource;
    tenant.count = quantity.rounded_up();
  }
  tenant.gpus = std::max<std::int64_t>(gpus, 1);
  const OwnerReference* owner = pod.meta.controller();
  tenant.stays = (owner != nullptr && owner->kind == "DaemonSet") ||
                 pod.meta.annotations.contains(names::kMirrorAnnotation);
  if (const Text* gang = pod.meta.labels.find(names::kPodGroupLabel)) {
    tenant.group = *gang;
    tenant.group_kind = Tenant::Group::kPodGroup;
  } else if (owner != nullptr && owner->kind == "Job" &&
             pod.meta.annotations.get(kGangAnnotation) != "false") {
    tenant.group = owner->uid;
    tenant.group_kind = Tenant::Group::kJob;
  }
  return tenant;
}

}  // namespace berth
