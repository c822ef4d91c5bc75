// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/remakers.h"

#include <fmt/format.h>

namespace berth::queue {

std::string Remakers::why_not(const berth::Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr) return fmt::format("nobody would make pod {} anew", pod.meta.name);
  if (owner->kind != "Job") return "";
  const berth::Job* job = cluster_.jobs().find(pod.meta.namespace_.view(), owner->name.view());
  if (job != nullptr && job->ignores_disruptions) return "";
  if (job != nullptr && job->failed + ++failures_[job] <= job->backoff_limit) return "";
  return fmt::format("Job {} would fail of the eviction", owner->name.view());
}

}  // namespace berth::queue
