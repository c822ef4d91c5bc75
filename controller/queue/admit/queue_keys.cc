// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/admit/queue_keys.h"

#include <algorithm>

#include "apis/base/names.h"
#include "controller/core/ledger_epoch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/node_facts.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/index/dead_nodes.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/recall/never_ready.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/queue/recall/stranded.h"
#include "controller/queue/record/recall.h"
#include "controller/queue/record/restart.h"
#include "controller/queue/starts/reconcile.h"
#include "controller/queue/status/namespace_quotas.h"
#include "controller/queue/status/queueless.h"
#include "controller/queue/status/reconcile.h"

namespace berth::queue {
namespace {

std::string release_key(std::string_view workload) {
  return std::string(kReleaseKeys).append(workload);
}

const FactsIndex& facts_of(const ClusterState& cluster) {
  return cluster.view<ClusterIndex>().facts();
}

std::string requeue_key(std::string_view workload) {
  return std::string(kRequeueKeys).append(workload);
}

// Adds the keys for a workload's release and for taking it back.
void add_due(const FactsIndex& facts, const Workload& workload, std::vector<std::string>& keys) {
  if (workload.standing.to_release) keys.push_back(release_key(*workload.name));
  if (workload.standing.unbound_pins > 0 || facts.is_drained(workload) ||
      !workload.taken_back.empty())
    keys.push_back(requeue_key(*workload.name));
}

// Adds the workloads on the node, if it goes out of service.
void add_stranded(const ClusterState& cluster, const std::string& node,
                  std::vector<std::string>& keys) {
  for (const std::string& workload : stranded_on(cluster, node))
    keys.push_back(requeue_key(workload));
}

// Adds the keys for an admitted workload that waits, in the ledger or as part of a running gang. A
// change of one member may release another.
template <class T>
void add_due_of(const ClusterState& cluster, const T& object, std::vector<std::string>& keys) {
  const FactsIndex& facts = facts_of(cluster);
  const std::string name = workload_name(object);
  if (const Workload* workload = facts.find(name)) {
    add_due(facts, *workload, keys);
    if (is_timed(cluster, *workload)) keys.push_back(requeue_key(name));
  }
  if (seeded(SeededBug::kReleaseWithoutEntry)) keys.push_back(release_key(name));
}

// A cluster without queues decides nothing. berth only records why a workload waits.
template <class T>
std::vector<std::string> keys_without_queues(const T* now) {
  if (now == nullptr || !waits_for_named_queue(*now)) return {};
  return {std::string(kReasonsKey)};
}

// The pod may be bound to a node that is already going out of service.
void add_stranded(const ClusterState& cluster, const berth::Pod& pod,
                  std::vector<std::string>& keys) {
  const Node* node = cluster.nodes().find(pod.node_name.view());
  if (node != nullptr && deletion_mark(*node).empty()) return;
  keys.push_back(requeue_key(workload_name(pod)));
}

std::string dead_node_key(std::string_view node) { return std::string(kDeadNodeKeys).append(node); }

// Calls visit(entry) for each entry of `now` that `old` does not have in this form.
template <class Visit>
void each_new_entry(const ConfigMap& old, const ConfigMap& now, Visit&& visit) {
  for (const auto& [uid, text] : now.data) {
    const auto before = old.data.find(uid);
    if (before != old.data.end() && before->second == text) continue;
    if (const auto entry = decode_entry(text)) visit(*entry);
  }
}

// Returns the workload that the mark is for; empty: the entry is no mark.
std::string marked_by(const std::string& key, const std::string& text) {
  if (is_recall_key(key)) {
    const auto recall = decode_recall(text);
    return recall ? recall->workload : "";
  }
  const auto restart = is_restart_key(key) ? decode_restart(text) : std::nullopt;
  return restart ? restart->workload : "";
}

// Adds keys for each mark that was added, removed or changed. Whether its workload waits, and why,
// depends on the mark.
void add_marked(const ConfigMap& old, const ConfigMap& now, std::vector<std::string>& keys) {
  const auto add_changed = [&](const ConfigMap& of, const ConfigMap& other) {
    for (const auto& [key, text] : of.data) {
      const auto same = other.data.find(key);
      if (same != other.data.end() && same->second == text) continue;
      if (const std::string workload = marked_by(key, text); !workload.empty())
        keys.insert(keys.end(), {requeue_key(workload), release_key(workload),
                                 std::string(kQueuesKey), std::string(kReasonsKey)});
    }
  };
  add_changed(now, old), add_changed(old, now);
}

void add_all_due(const ClusterState& cluster, std::vector<std::string>& keys) {
  const FactsIndex& facts = facts_of(cluster);
  for (const auto& [name, workload] : facts.workloads()) {
    add_due(facts, workload, keys);
    if (is_timed(cluster, workload) || stranded(cluster, workload))
      keys.push_back(requeue_key(name));
  }
  for (const std::string& node : dead_nodes(cluster)) keys.push_back(dead_node_key(node));
  std::ranges::sort(keys);
}

}  // namespace

std::vector<std::string> queue_keys(const ClusterState& cluster) {
  if (cluster.gpu_queues().size() == 0) return {};
  return {std::string(kAdmissionsKey), std::string(kQueuesKey), std::string(kReasonsKey),
          std::string(kUsageKey), std::string(kEstimatesKey)};
}

std::vector<std::string> all_queue_keys(const ClusterState& cluster, const Settings& settings) {
  std::vector<std::string> keys = queue_keys(cluster);
  const auto& ledger = cluster.view<AdmissionLedgers>().in(settings.berth_namespace);
  if (ledger.config_map != nullptr && keys.empty()) keys.emplace_back(kAdmissionsKey);
  if (seeded(SeededBug::kForgetReleases)) return keys;
  if (cluster.gpu_queues().size() == 0 && any_waits_for_named_queue(cluster))
    keys.emplace_back(kReasonsKey);
  if (keys.empty() && ledger.entries.empty() && ledger.recalls.empty() && ledger.restarts.empty())
    return keys;
  if (cluster.gpu_queues().size() > 0) keys.emplace_back(kNamespaceQuotasKey);
  add_all_due(cluster, keys);
  return keys;
}

std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings&,
                                        const Namespace*, const Namespace*) {
  std::vector<std::string> keys = queue_keys(cluster);
  if (!keys.empty()) keys.emplace_back(kNamespaceQuotasKey);
  return keys;
}

// The status reports ResourceQuotas that are tighter than the queue's.
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings&,
                                        const ResourceQuota* old, const ResourceQuota* now) {
  if (cluster.gpu_queues().size() == 0 || !concerns_quotas(old, now)) return {};
  return {std::string(kNamespaceQuotasKey), std::string(kQueuesKey)};
}

// If a pod is gone, its gang has a free seat for a gated member.
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings&,
                                        const berth::Pod* old, const berth::Pod* now) {
  std::vector<std::string> keys = queue_keys(cluster);
  if (keys.empty()) return keys_without_queues(now);
  add_due_of(cluster, now != nullptr ? *now : *old, keys);
  if (now == nullptr || now->node_name.empty()) return keys;
  add_stranded(cluster, *now, keys);
  const Node* node = cluster.nodes().find(now->node_name.view());
  const bool dead = node != nullptr && !node->ready && may_be_lost(*now);
  if (dead || lost_since(*now)) keys.push_back(dead_node_key(now->node_name.view()));
  return keys;
}

std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings&,
                                        const Node* old, const Node* now) {
  std::vector<std::string> keys = queue_keys(cluster);
  if (keys.empty()) return keys;
  add_stranded(cluster, now != nullptr ? now->meta.name : old->meta.name, keys);
  if (now != nullptr && (old == nullptr ? !now->ready : old->ready != now->ready))
    keys.push_back(dead_node_key(now->meta.name));
  return keys;
}

std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings&,
                                        const berth::Job*, const berth::Job* now) {
  std::vector<std::string> keys = queue_keys(cluster);
  if (keys.empty()) return keys_without_queues(now);
  if (now == nullptr) return keys;
  add_due_of(cluster, *now, keys);
  // The change of the Job may arrive after those of its node and pods.
  const FactsIndex& facts = facts_of(cluster);
  for (const std::string& gang : cluster.view<ClusterIndex>().gangs_of(*now))
    if (const Workload* of = facts.find(gang)) add_due(facts, *of, keys);
  const Workload* workload = facts.find(workload_name(*now));
  if (workload != nullptr && stranded(cluster, *workload))
    keys.push_back(requeue_key(*workload->name));
  return keys;
}

std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings&,
                                        const GPUQueue* old, const GPUQueue* now) {
  std::vector<std::string> keys = queue_keys(cluster);
  if (keys.empty()) return {std::string(kReasonsKey)};  // the last queue is gone
  const bool told = old != nullptr && now != nullptr && old->spec == now->spec;
  if (!told && !keys.empty()) keys.emplace_back(kNamespaceQuotasKey);
  const auto takes_back = [](const GPUQueueSpec& spec) {
    return spec.stop_policy == StopPolicy::kHoldAndDrain || spec.pods_ready_timeout;
  };
  if (!told && now != nullptr && takes_back(now->spec)) add_all_due(cluster, keys);
  return keys;
}

// For an entry that existed before, the release is due or done already. A new leader writes its own
// epoch, and then releases what it found.
std::vector<std::string> queue_keys_for(const ClusterState& cluster, const Settings& settings,
                                        const ConfigMap* old, const ConfigMap* now) {
  const ConfigMap& either = now != nullptr ? *now : *old;
  if (either.meta.name == names::kUsageConfigMap) return queue_keys(cluster);
  if (either.meta.name != names::kAdmissionsConfigMap ||
      either.meta.namespace_ != std::string_view(settings.berth_namespace))
    return {};
  if (now == nullptr) return {std::string(kAdmissionsKey)};
  if (old == nullptr || epoch_of(*old) != epoch_of(*now)) return all_queue_keys(cluster, settings);
  std::vector<std::string> keys{std::string(kAdmissionsKey)};
  bool told = false;  // an admission was withdrawn or waits for others
  each_new_entry(*old, *now, [&](const LedgerFact& entry) {
    keys.push_back(release_key(entry.workload));
    for (const AheadFact& ahead : entry.ahead)
      if (ahead.evicted) keys.push_back(std::string(kRequeueKeys).append(ahead.workload));
    told = told || entry.until != 0 || !entry.ahead.empty();
  });
  each_new_entry(*now, *old, [&](const LedgerFact& gone) {
    told = told || gone.until != 0 || !gone.ahead.empty();
  });
  add_marked(*old, *now, keys);
  // For other entries, the changes of the workload's own objects make the keys due.
  if (told) keys.insert(keys.end(), {std::string(kQueuesKey), std::string(kReasonsKey)});
  return keys;
}

}  // namespace berth::queue
