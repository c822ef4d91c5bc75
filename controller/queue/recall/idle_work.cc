// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/idle_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "apis/base/names.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/pools.h"
#include "controller/observe/idle_pods.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/recall/yielding.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth::queue {
namespace {

std::int64_t microseconds(Time time) { return time.time_since_epoch().count(); }

bool holds_gpus(const Pod& pod, const Catalog& catalog) {
  return std::ranges::any_of(catalog.shape_requests(pod.shape), [&](const auto& asked) {
    return asked.second > 0 && catalog.counts_as_gpu(asked.first);
  });
}

// Pods without GPUs, for example a launcher, are not measured. If a pod has not started or is
// leaving, the gang does not count as idle.
bool all_are_idle(const Workload& workload, std::size_t idle, const Catalog& catalog) {
  if (!workload.pods) return false;
  std::size_t gpu_pods = 0;
  for (const Pod* pod : workload.pods->all) {
    if (pod->state != PodState::kBound) return false;
    gpu_pods += holds_gpus(*pod, catalog);
  }
  return gpu_pods == idle || seeded(SeededBug::kIdleInPart);
}

}  // namespace

std::vector<IdleWork> find_idle_work(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  std::map<std::string, std::vector<IdlePod>> by_workload;
  for (const IdlePod& idle : find_idle_pods(snapshot, policy))
    by_workload[workload_name(*idle.pod)].push_back(idle);
  std::vector<IdleWork> found;
  if (by_workload.empty()) return found;
  const FactsIndex& facts = snapshot.cluster.view<ClusterIndex>().facts();
  for (const auto& [name, pods] : by_workload) {
    const Workload* workload = facts.find(name);
    if (workload == nullptr || !all_are_idle(*workload, pods.size(), facts.catalog())) continue;
    IdleWork& work = found.emplace_back(IdleWork{.workload = workload});
    for (const IdlePod& pod : pods) {
      work.since = std::max(work.since, microseconds(pod.since));
      work.due = std::max(work.due, microseconds(pod.due));
    }
  }
  return found;
}

bool takes_idle(const Snapshot& snapshot) {
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  return policy != nullptr && policy->spec.idle.policy == IdlePolicy::kOnPressure &&
         snapshot.samples.measured_at.has_value();
}

// A workload of pods is taken back only once: its re-created pods have other names and would be
// taken again. At most as many are taken as the ledger can note, the longest idle first.
std::vector<IdleWork> idle_to_take(const Snapshot& snapshot) {
  std::vector<IdleWork> all = find_idle_work(snapshot, *find_policy(snapshot.cluster));
  std::erase_if(all, [&](const IdleWork& idle) {
    return !idle.workload->job && gives_way(snapshot, *idle.workload);
  });
  const std::size_t noted = read_admissions(snapshot).yields.size();
  const std::size_t room = noted < kMostYielding ? kMostYielding - noted : 0;
  if (all.size() <= room) return all;
  std::ranges::stable_sort(all, {}, &IdleWork::since);
  all.resize(room);
  return all;
}

bool is_idle_still(const Snapshot& snapshot, const Workload& workload) {
  if (!takes_idle(snapshot)) return false;
  if (seeded(SeededBug::kTakeTheBusy)) return true;
  const auto idle = find_idle_work(snapshot, *find_policy(snapshot.cluster));
  return std::ranges::find(idle, &workload, &IdleWork::workload) != idle.end();
}

std::int64_t count_reclaimed(const Snapshot& snapshot) {
  if (snapshot.cluster.gpu_queues().size() == 0) return 0;
  std::set<std::string_view> uids;
  for (const auto& [uid, taker] : read_admissions(snapshot).yields)
    if (is_there(snapshot.cluster.view<ClusterIndex>().facts(), taker)) uids.insert(uid);
  for (const auto& job : snapshot.cluster.jobs()) {
    const Text* held = job->meta.annotations.find(names::kHoldAnnotation);
    if (held != nullptr && held->view() == kHeldAsIdle) uids.insert(job->meta.uid);
  }
  return static_cast<std::int64_t>(uids.size());
}

bool gives_way(const Snapshot& snapshot, const Workload& workload) {
  const Yields& yields = read_admissions(snapshot).yields;
  const auto taker = yields.find(remaker_uid(snapshot.cluster, workload));
  return taker != yields.end() &&
         is_there(snapshot.cluster.view<ClusterIndex>().facts(), taker->second);
}

}  // namespace berth::queue
