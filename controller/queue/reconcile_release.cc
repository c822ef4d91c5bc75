// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/admission_ledger.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/facts_from.h"
#include "controller/queue/reconcile.h"
#include "controller/queue/release.h"

namespace berth {
namespace {

// "Job/NAMESPACE/NAME" as its store finds it.
template <class T>
const T* find_named(const Store<T>& store, std::string_view name) {
  const std::size_t kind = name.find('/');
  const std::size_t slash = name.find('/', kind + 1);
  return store.find(name.substr(kind + 1, slash - kind - 1), name.substr(slash + 1));
}

std::vector<const Pod*> pods_of(const Snapshot& snapshot, const queue::ClusterIndex& index,
                                const std::string& name) {
  if (!name.starts_with("Pod/")) return index.members(name);
  const Pod* pod = find_named(snapshot.cluster.pods(), name);
  return pod == nullptr ? std::vector<const Pod*>() : std::vector{pod};
}

}  // namespace

Plan reconcile_release(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  // What an earlier leader's ledger says that leader may be changing yet.
  if (snapshot.offline || queue::read_admissions(snapshot).epoch != snapshot.epoch) return plan;
  const auto& index = snapshot.cluster.view<queue::ClusterIndex>();
  const queue::Workload* workload = index.facts().find(std::string(name));
  if (workload == nullptr) return plan;
  if (workload->job) {
    const auto* entry = open_entry(*workload);
    const Job* job = find_named(snapshot.cluster.jobs(), name);
    const queue::AdmissionFact unwritten{.uid = workload->job->uid, .pool = "*"};
    if (seeded(SeededBug::kReleaseWithoutEntry) && workload->standing.pending) entry = &unwritten;
    if (entry != nullptr && job != nullptr) plan.add(ref_of(*job), release_job(*job, *entry));
    return plan;
  }
  // Of a gang that runs, those that are made anew for members which ended come to be let go later.
  const auto* admission = admission_of(*workload);
  if (admission == nullptr || !workload->standing.to_release) return plan;
  for (const Pod* pod : pods_of(snapshot, index, *workload->name)) {
    if (!queue::is_gated(*pod)) continue;
    if (seeded(SeededBug::kReleasePartOfGang) && pod->meta.uid != admission->uid) continue;
    plan.add(ref_of(*pod), release_pod(*pod, *admission));
  }
  return plan;
}

}  // namespace berth
