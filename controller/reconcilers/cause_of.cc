// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/cause_of.h"

#include "controller/core/plan.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/fleet/pools.h"
#include "controller/history/history_line.h"
#include "controller/mig/overlap.h"
#include "controller/mig/reconcile.h"
#include "controller/policy/reconcile.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/reconcilers/key_families.h"

namespace berth {
namespace {

template <class T>
std::string text_of(const T* object) {
  return object == nullptr ? std::string()
                           : cause_text(ref_of(*object).str(), object->meta.generation);
}

// The layout that owns the node, else the one whose rollout is in progress there.
const MIGLayout* layout_of(const ClusterState& cluster, std::string_view name) {
  const Node* node = cluster.nodes().find(name);
  if (node == nullptr) return nullptr;
  if (const MIGLayout* owner = LayoutOwners(cluster).owner_of(*node)) return owner;
  const RolloutRecord record = read_rollout(*node);
  return record.rollout ? find_layout_by_uid(cluster, record.rollout->layout_uid) : nullptr;
}

// Parses "Job/team-a/train". A pod causes nothing here: its generation carries no information.
const Job* job_of(const ClusterState& cluster, std::string_view workload) {
  constexpr std::string_view kJob = "Job/";
  if (!workload.starts_with(kJob)) return nullptr;
  workload.remove_prefix(kJob.size());
  const std::size_t slash = workload.find('/');
  if (slash == workload.npos) return nullptr;
  return cluster.jobs().find(workload.substr(0, slash), workload.substr(slash + 1));
}

}  // namespace

std::string cause_of(const ClusterState& cluster, std::string_view key) {
  const KeyFamily& family = family_of(key);
  const std::string_view name = family.name_in(key);
  if (family.prefix == kLayoutKeys) return text_of(cluster.mig_layouts().find(name));
  if (family.prefix == kNodeKeys) return text_of(layout_of(cluster, name));
  if (family.prefix == kPoolKeys || family.prefix == kPolicyKey)
    return text_of(find_policy(cluster));
  if (family.prefix == queue::kReleaseKeys || family.prefix == queue::kRequeueKeys)
    return text_of(job_of(cluster, name));
  return {};
}

}  // namespace berth
