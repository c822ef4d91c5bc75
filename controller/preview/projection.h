// SPDX-License-Identifier: Apache-2.0
// Projection: the result of applying layouts or a policy to a cluster, from the first claim to the
// last uncordon. Values only; text.h and json.h print it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/mig_layout.h"
#include "controller/core/cause.h"
#include "controller/preview/queue_outlook.h"

namespace berth {

// One pod that leaves a node, and what happens to it.
struct PodMove {
  enum class Fate {
    kFits,          // `node` has free capacity for its replacement now
    kFitsLater,     // `node` gets free capacity during the plan
    kPending,       // no node has free capacity: `why`
    kEnds,          // drain.waitForCompletion waits until it ends by itself
    kNotRecreated,  // it has no controller that re-creates it
    kRequeued       // its Job is suspended, and queued again: `why`
  };
  std::string pod;       // namespace/name
  std::string owner;     // "ReplicaSet/train-7d9f"; empty without a controller
  std::string requests;  // "nvidia.com/gpu: 2"
  Fate fate = Fate::kPending;
  std::string node;
  std::string why;
};
const char* to_string(PodMove::Fate fate);

// The state of a node that berth had taken out of service before the projection began.
struct InHand {
  std::string phase;  // Waiting, Cordoned, Draining, Applying, Retrying, Verifying, RollingBack, …
  Time since{};       // since when in this phase
  std::string config;  // the config that it was to get
  // As in status.details. Without a reason if there is no obstacle, and with a message if the node
  // stays out of service or is put back.
  Cause cause;
};

// One node that will be, or has been, taken out of service.
struct NodeChange {
  enum class Outcome {
    kRepartitioned,  // verified and back in service
    kPutBack,        // the drain could not complete: uncordoned unchanged, retried later
    kUnfinished      // still out of service at the end of the projection
  };
  std::string node;
  std::string layout;
  std::string from;  // value of nvidia.com/mig.config; empty: never set
  std::string to;
  bool was_out = false;  // cordoned before berth took it: it stays cordoned
  Outcome outcome = Outcome::kUnfinished;
  std::optional<InHand> in_hand;  // nullopt: not yet taken out of service
  std::vector<PodMove> pods;
};
const char* to_string(NodeChange::Outcome outcome);

// What the controller would refuse or wait for, and what would change that.
struct Refusal {
  std::string layout;
  std::vector<std::string> nodes;  // empty: the whole layout
  Cause cause;                     // LastProvider, PodDisruptionBudget, InvalidLayout, …
  std::string line;                // text to write into a manifest; empty if no line helps
  bool spec = false;               // the manifest is wrong: only an edit helps
};

// A PodDisruptionBudget whose status allows no eviction from a node that must be drained.
struct BudgetInTheWay {
  std::string budget;  // namespace/name
  std::int32_t disruptions_allowed = 0;
  std::vector<std::string> nodes;
  std::vector<std::string> pods;
};

// Allocatable on all schedulable, ready nodes of the cluster.
struct CapacityRow {
  std::string resource;
  std::int64_t before = 0;
  std::int64_t lowest = 0;
  std::int64_t after = 0;
  std::optional<std::int64_t> min_available;  // the strictest capacityGuard of the layouts
  bool retired = false;                       // a layout's capacityGuard.retire names it
};

struct LayoutSummary {
  enum class Change { kCreated, kEdited, kUnchanged, kDeleted };
  std::string name;
  Change change = Change::kUnchanged;
  std::string left;               // for a deleted layout: what happens to its nodes
  bool given = false;             // in the manifests; false: found in the cluster
  bool takes_every_node = false;  // nodeSelector: {}
  std::string selects_none;       // why, if it selects no node
  NodeCounts before;              // with the manifests applied, before any step
  NodeCounts after;
  std::int32_t budget = 0;        // how many nodes may be out of service at once
  std::vector<std::string> lost;  // nodes that a layout of higher precedence owns
  struct Config {
    std::string product;
    std::string name;
    std::string layout;  // "GPUs 0-1: 3g.40gb ×1 + …; GPUs 2-3: MIG off"
    std::int32_t nodes = 0;
  };
  std::vector<Config> configs;
  std::vector<Condition> conditions;  // at the end
};
const char* to_string(LayoutSummary::Change change);

// One pool of the policy, and the nodes that change because of it.
struct PoolSummary {
  std::string name;
  LayoutSummary::Change change = LayoutSummary::Change::kUnchanged;
  bool removed = false;  // the policy no longer has the pool
  std::string sharing;   // "TimeSlicing × 4, renamed"; empty: none
  std::vector<std::string> enter, leave;
  std::int32_t stay = 0;
  // A label or taint on nodes; nodes with the same change share an entry.
  struct Edit {
    std::string key;
    std::string effect;                   // empty: a label
    std::optional<std::string> from, to;  // nullopt: absent
    std::vector<std::string> nodes;
  };
  std::vector<Edit> edits;
};

// Running pods that the policy forbids, and that keep running.
struct PodConcern {
  enum class Kind {
    kHoldsMoreThanExists,  // of a resource of their node, all together
    kNotTolerant,          // they do not tolerate a new taint of their node
    kNotEligible           // their namespace may not use their pool
  };
  Kind kind = Kind::kNotTolerant;
  std::string pool;
  std::string message;
  std::vector<std::string> nodes;
  std::vector<std::string> pods;
};
const char* to_string(PodConcern::Kind kind);

struct PolicySummary {
  std::string name;
  LayoutSummary::Change change = LayoutSummary::Change::kUnchanged;
  std::string left;  // for a deleted policy: what happens to its nodes
  bool given = false;
  std::vector<PoolSummary> pools;       // in the policy's order, then removed ones
  std::vector<PoolConflict> conflicts;  // nodes that several pools select, by name
  std::vector<PodConcern> pods;
  std::optional<DisruptionStatus> windows;  // at present; nullopt: any time
  std::vector<Condition> conditions;        // at the end

  bool changes() const;
};

// A written object that is not a node.
struct ObjectChange {
  std::string object;  // "ConfigMap/gpu-operator/berth-mig-parted-config"
  bool created = false;
  bool deleted = false;
  std::vector<std::string> lines;  // "adds config berth-inference-a100-6f3c9b1e"
};

// NVIDIA's node components do not read berth's file yet. The projection assumes that they do.
struct AgentSwitch {
  std::string message;
  std::string object;  // "ClusterPolicy/cluster-policy"
  std::string line;    // what to set in it; empty: the object does not exist yet
};

struct Projection {
  Time begin{};
  std::vector<LayoutSummary> layouts;  // by name
  std::optional<PolicySummary> policy;
  std::vector<NodeChange> under_way;  // already out of service, by name
  std::vector<NodeChange> nodes;      // to be taken out of service, in the controller's order
  std::vector<Refusal> refusals;
  std::vector<BudgetInTheWay> budgets;
  std::vector<CapacityRow> capacity;
  std::vector<ObjectChange> objects;
  std::optional<AgentSwitch> agent_switch;
  std::optional<QueueOutlook> queues;  // nullopt: no manifest is about queues
  bool queues_alone = false;           // no manifest is about anything else
  std::string stopped;                 // why the projection ended early; empty if it did not

  bool changes() const;       // whether berth would write anything
  bool invalid_spec() const;  // whether a given layout or queue can't take effect as it is
};

}  // namespace berth
