// SPDX-License-Identifier: Apache-2.0
#include "controller/page/viewed_cluster.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "apis/kinds/watched_kinds.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/explain/recorded_wait.h"

namespace berth {
namespace {

constexpr char kForbidden[] = "Forbidden";  // the API server's reason, not berth's

// Whether the viewer may list all objects of the kind that berth watches.
template <class T>
bool may_list_all(const ViewerRights& rights, const Settings& settings) {
  const std::string resource = resource_name(kKind<T>);
  switch (kWatching<T>.scope) {
    case WatchScope::kCluster:
    case WatchScope::kUnfinished:
      return rights.everywhere(resource);
    case WatchScope::kAgents:
      return rights.in(resource, settings.agents_namespace);
    case WatchScope::kLedger:
      return rights.in(resource, settings.agents_namespace) &&
             rights.in(resource, settings.berth_namespace);
  }
  return false;
}

// "team-a/train" or "Job/team-a/train" → "team-a".
std::string_view namespace_in(std::string_view workload) {
  const std::string_view before = workload.substr(0, workload.rfind('/'));
  return before.substr(before.rfind('/') + 1);
}

// Whether the viewer may list pods and Jobs, in one namespace or in all.
bool may_see_work(const ViewerRights& rights, std::string_view namespace_) {
  return rights.in(resource_name(kKind<Pod>), namespace_) &&
         rights.in(resource_name(kKind<Job>), namespace_);
}
bool may_see_all_work(const ViewerRights& rights) {
  return rights.everywhere(resource_name(kKind<Pod>)) &&
         rights.everywhere(resource_name(kKind<Job>));
}

void hush(std::vector<Condition>& conditions) {
  for (Condition& condition : conditions) condition.message.clear();
}

// berth sees all objects when it writes its own objects. They keep their reasons, but lose messages
// that may name objects which the viewer may not see.
template <class T>
void trim(T&, const ViewerRights&) {}

void trim(GPUQueue& queue, const ViewerRights& rights) {
  if (may_see_all_work(rights)) return;
  std::erase_if(queue.status.pending, [&](const PendingWorkload& pending) {
    return !may_see_work(rights, namespace_in(pending.workload));
  });
  // Messages about the viewer's workloads stay, without the names of other workloads.
  for (PendingWorkload& pending : queue.status.pending)
    pending.message =
        words_for(pending.reason, std::move(pending.message),
                  [&](std::string_view namespace_) { return may_see_work(rights, namespace_); });
  hush(queue.status.conditions);
}

void trim(MIGLayout& layout, const ViewerRights& rights) {
  const bool nodes = rights.everywhere(resource_name(kKind<Node>));
  if (nodes && may_see_all_work(rights)) return;
  if (!nodes) layout.status.details.clear();
  for (NodeDetail& detail : layout.status.details) detail.message.clear();
  hush(layout.status.conditions);
}

void trim(Node& node, const ViewerRights& rights) {
  if (may_see_all_work(rights)) return;
  RolloutRecord record = read_rollout(node);
  if (!record.text) return;
  if (record.rollout) {
    record.rollout->why.clear();
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(*record.rollout));
  } else {
    node.meta.annotations.erase(names::kRolloutAnnotation);
  }
}

}  // namespace

ViewedCluster::ViewedCluster(const Snapshot& all, const ViewerRights& rights) : all_(all) {
  Watched::each([&]<class T>() { whole_ = whole_ && may_list_all<T>(rights, all_.settings); });
  if (whole_) return;
  Watched::each([&]<class T>() { take<T>(rights); });
  take_samples();
}

template <class T>
void ViewedCluster::take(const ViewerRights& rights) {
  const std::string resource = resource_name(kKind<T>);
  for (const auto& object : all_.cluster.store<T>()) {
    if (!rights.in(resource, object->meta.namespace_.view())) continue;
    T seen = *object;
    trim(seen, rights);
    // A node's age counts from when this process first saw it, not from this request.
    Time since = all_.now;
    if constexpr (std::is_same_v<T, Node>)
      since = all_.cluster.allocatable_since(object->meta.name);
    cluster_.upsert(std::move(seen), since);
  }
  if (may_list_all<T>(rights, all_.settings)) return;
  clues_.unread.push_back({.resource = resource,
                           .namespace_ = {},
                           .instead = rights.only_namespace(resource),
                           .reason = kForbidden,
                           .message = "no rule grants it"});
}

void ViewedCluster::take_samples() {
  samples_ = all_.samples;
  samples_.trouble.reset();
  samples_.ignored.reset();
  const auto is_unseen = [&](const auto& of_node) {
    return cluster_.nodes().find(of_node.first) == nullptr;
  };
  const auto leave_out_holders = [&](std::vector<GpuSample>& gpus) {
    for (GpuSample& gpu : gpus)
      std::erase_if(gpu.holders, [&](const GpuHolder& holder) {
        return cluster_.pods().find(holder.namespace_.view(), holder.pod.view()) == nullptr;
      });
  };
  std::erase_if(samples_.nodes, is_unseen);
  std::erase_if(samples_.witnesses, is_unseen);
  for (auto& [_, gpus] : samples_.nodes) leave_out_holders(gpus);
  for (auto& [_, witness] : samples_.witnesses) leave_out_holders(witness.gpus);
}

Snapshot ViewedCluster::snapshot() const {
  if (whole_) return all_;
  return {.cluster = cluster_,
          .answers = no_answers_,
          .settings = all_.settings,
          .now = all_.now,
          .epoch = all_.epoch,
          .offline = true,
          .zones = all_.zones,
          .samples = samples_,
          .attention = all_.attention};
}

}  // namespace berth
