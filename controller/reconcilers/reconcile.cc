// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/reconcile.h"

#include <string>

#include "controller/admission/reconcile_bypass.h"
#include "controller/core/bug.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/slots.h"
#include "controller/policy/reconcile.h"

namespace berth {
namespace {

constexpr std::string_view kLayoutPrefix = "layout/";
constexpr std::string_view kNodePrefix = "node/";
constexpr std::string_view kPodPrefix = "pod/";
constexpr std::string_view kPoolPrefix = "pool/";

}  // namespace

Plan reconcile(const Snapshot& snapshot, std::string_view key) {
  // The lease does not fence; the epoch does, as soon as the cache has it.
  if (!snapshot.offline && read_ledger(snapshot).epoch > snapshot.epoch) return {};
  if (key.starts_with(kLayoutPrefix))
    return reconcile_mig_layout(snapshot, key.substr(kLayoutPrefix.size()));
  if (key.starts_with(kNodePrefix))
    return reconcile_node_rollout(snapshot, key.substr(kNodePrefix.size()));
  if (key.starts_with(kPoolPrefix))
    return reconcile_pool_node(snapshot, key.substr(kPoolPrefix.size()));
  if (key.starts_with(kPodPrefix)) return reconcile_bypass(snapshot, key.substr(kPodPrefix.size()));
  if (key == "slots") return reconcile_slots(snapshot);
  if (key == "agent-config") return reconcile_agent_config(snapshot);
  if (key == "policy") return reconcile_policy(snapshot);
  bug("no reconciler has the key " + std::string(key));
}

}  // namespace berth
