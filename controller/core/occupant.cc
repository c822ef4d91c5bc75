// SPDX-License-Identifier: Apache-2.0
#include "controller/core/occupant.h"

#include <algorithm>

#include "apis/base/names.h"

namespace berth {
namespace {

constexpr char kGangAnnotation[] = "gpu.berth.dev/gang";

std::int64_t work_from_s(const Pod& pod) {
  std::optional<Time> from = pod.start_time;
  if (const Text* text = pod.meta.annotations.find(names::kLastCheckpointAnnotation))
    if (Result<Time> checkpoint = parse_time(text->view()))
      from = std::max(*checkpoint, from.value_or(*checkpoint));
  if (!from) return Occupant::kNoWork;
  return std::chrono::floor<std::chrono::seconds>(*from).time_since_epoch().count();
}

}  // namespace

Occupant occupant_of(const Pod& pod) {
  Occupant occupant;
  occupant.pod = &pod;
  occupant.namespace_ = pod.meta.namespace_;
  occupant.priority = pod.shape->priority;
  occupant.work_from_s = work_from_s(pod);
  occupant.uses_gpu = uses_gpu(pod);
  std::int64_t gpus = 0;
  for (const auto& [resource, quantity] : gpus_in(pod.shape->requests)) {
    gpus += quantity.rounded_up();
    if (!occupant.resource.empty()) {
      occupant.asks_more = true;
      continue;
    }
    occupant.resource = resource;
    occupant.count = quantity.rounded_up();
  }
  occupant.gpus = std::max<std::int64_t>(gpus, 1);
  const OwnerReference* owner = pod.meta.controller();
  occupant.stays = (owner != nullptr && owner->kind == "DaemonSet") ||
                   pod.meta.annotations.contains(names::kMirrorAnnotation);
  if (const Text* gang = pod.meta.labels.find(names::kPodGroupLabel)) {
    occupant.group = *gang;
    occupant.group_kind = Occupant::Group::kPodGroup;
  } else if (owner != nullptr && owner->kind == "Job" &&
             pod.meta.annotations.get(kGangAnnotation) != "false") {
    occupant.group = owner->uid;
    occupant.group_kind = Occupant::Group::kJob;
  }
  return occupant;
}

}  // namespace berth
