// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/idle_owners.h"

#include <fmt/format.h>

#include "apis/base/reasons.h"
#include "controller/core/plural.h"

namespace berth {
namespace {

constexpr std::size_t kNamed = 5;

// Returns the topmost controller that berth knows: a pod names its controller, and a Job names its
// own.
const OwnerReference* topmost(const Snapshot& snapshot, const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr || owner->kind != "Job") return owner;
  const Job* job = snapshot.cluster.jobs().find(pod.meta.namespace_.view(), owner->name.view());
  if (job == nullptr || owner->uid.view() != job->meta.uid) return owner;
  const OwnerReference* above = job->meta.controller();
  return above == nullptr ? owner : above;
}

std::string list_pods(const std::vector<const Pod*>& pods) {
  std::string out;
  for (std::size_t i = 0; i < pods.size() && i < kNamed; ++i)
    out += (i == 0 ? "" : ", ") + pods[i]->meta.name;
  if (pods.size() > kNamed) out += fmt::format(" and {} more", pods.size() - kNamed);
  return out;
}

}  // namespace

void IdleOwners::add(const Snapshot& snapshot, const PodUse& use) {
  const Pod& pod = *use.pod;
  const OwnerReference* owner = topmost(snapshot, pod);
  // Static pods are skipped: their owner is the node, which has no namespace, so its events are in
  // another one.
  if (owner == nullptr || owner->kind == kKind<Node>.kind) return;
  Owned& owned =
      owners_[{owner->kind.str(), pod.meta.namespace_.str(), owner->name.str(), owner->uid.str()}];
  owned.api_version = owner->api_version.str();
  owned.pods.push_back(&pod);
  owned.gpus += use.gpus;
}

void IdleOwners::tell(const std::function<std::string(const Pod&)>& tail, Plan& plan) const {
  for (const auto& [owner, owned] : owners_) {
    const bool one = owned.pods.size() == 1;
    plan.events.push_back(
        {.regarding = owner,
         .warning = true,
         .reason = reasons::kGpusIdle,
         .action = "Notify",
         .note = fmt::format("{} of its pods {} {} that {} idle: {}{}", owned.pods.size(),
                             one ? "holds" : "hold", plural(owned.gpus, "GPU"),
                             owned.gpus == 1 ? "is" : "are", list_pods(owned.pods),
                             tail(*owned.pods.front())),
         .api_version = owned.api_version,
         .related = ref_of(*owned.pods.front())});
  }
}

}  // namespace berth
