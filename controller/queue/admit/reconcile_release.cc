// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/admit/release.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"
#include "controller/queue/recall/lost_places.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth::queue {
namespace {

// If a group is partly released, its members whose nodes went out of service are released without a
// pin.
AdmissionFact without_lost_nodes(const Snapshot& snapshot, AdmissionFact admission) {
  for (std::size_t i = 0; i < std::min(admission.members.size(), admission.nodes.size()); ++i) {
    if (!why_lost(snapshot.cluster, admission.nodes[i]).empty()) admission.members[i].clear();
  }
  return admission;
}

// Whether the admission has lost its nodes. The ledger drops the entry once no write for it can
// arrive any more.
bool is_given_up(const Snapshot& snapshot, const Workload& workload) {
  const AdmissionFact* entry = open_entry(workload);
  return entry != nullptr &&
         (workload.in_flight->until != 0 || has_lost_its_place(snapshot.cluster, workload, *entry));
}

}  // namespace

Plan reconcile_release(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  // If the ledger is of an earlier leader, that leader's writes may still be on their way.
  const AdmissionLedger& ledger = read_admissions(snapshot);
  if (snapshot.offline || ledger.epoch != snapshot.epoch || !ledger.newer.empty()) return plan;
  const auto& index = snapshot.cluster.view<ClusterIndex>();
  const Workload* workload = index.facts().find(std::string(name));
  if (workload == nullptr || workload->standing.newer || is_given_up(snapshot, *workload))
    return plan;
  if (workload->job) {
    const auto* entry = open_entry(*workload);
    const berth::Job* job = find_named(snapshot.cluster.jobs(), name);
    const AdmissionFact unwritten{.uid = workload->job->uid, .pool = "*"};
    if (seeded(SeededBug::kReleaseWithoutEntry) && workload->standing.pending) entry = &unwritten;
    const bool waits = workload->in_flight && !workload->in_flight->ahead.empty();
    if (entry == nullptr || job == nullptr || waits) return plan;
    if (job->meta.deletion_timestamp && !seeded(SeededBug::kOfferDeleted)) return plan;
    const NodePin pin = pin_to(entry->nodes, snapshot.cluster.nodes());
    plan.add(ref_of(*job), release_job(*job, *entry, pin));
    return plan;
  }
  // Pods that replace members of a running gang are released later.
  const auto* admission = admission_of(*workload);
  if (admission == nullptr || !workload->standing.to_release) return plan;
  // The ledger entry has a node for each member. The record on a released member has only its own.
  const auto* entry = open_entry(*workload);
  const auto aimed = without_lost_nodes(snapshot, entry == nullptr ? *admission : *entry);
  std::set<std::string_view> follow;
  const FactsIndex& facts = index.facts();
  for (const Pod* pod : to_follow(*workload, facts.catalog(), facts.room()))
    follow.insert(*pod->uid);
  for (const berth::Pod* pod : pods_of(snapshot.cluster, index, *workload->name)) {
    if (!follow.contains(pod->meta.uid) || pod->terminating()) continue;
    if (seeded(SeededBug::kReleasePartOfGang) && pod->meta.uid != admission->uid) continue;
    plan.add(ref_of(*pod), release_pod(*pod, aimed));
  }
  return plan;
}

}  // namespace berth::queue
