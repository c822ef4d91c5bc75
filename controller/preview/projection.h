// SPDX-License-Identifier: Apache-2.0
// Projection: what applying some layouts, or a policy, to a cluster would lead to, from the first
// claim to the last uncordon. Values only; text.h and json.h print it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "apis/mig_layout.h"
#include "controller/core/cause.h"
#include "controller/preview/queue_outlook.h"

namespace berth {

// One pod that leaves a node, and what becomes of it.
struct PodMove {
  enum class Fate {
    kFits,          // there is room for its replacement now: `node`
    kFitsLater,     // room appears while the plan goes on: `node`
    kPending,       // nowhere: `why`
    kEnds,          // drain.waitForCompletion lets it end by itself
    kNotRecreated,  // no controller makes a new one
    kRequeued       // its Job is suspended, and waits in its queue again: `why`
  };
  std::string pod;       // namespace/name
  std::string owner;     // "ReplicaSet/train-7d9f"; empty without a controller
  std::string requests;  // "nvidia.com/gpu: 2"
  Fate fate = Fate::kPending;
  std::string node;
  std::string why;
};
const char* to_string(PodMove::Fate fate);

// Where a node stood that berth had taken before the projection began.
struct InHand {
  std::string phase;  // Waiting, Cordoned, Draining, Applying, Retrying, Verifying, RollingBack, …
  Time since{};       // of the phase
  std::string config;  // what it was to become by then
  Cause cause;  // as in status.details; without a reason if nothing stands in its way, and with
                // a message if it stays out or is put back
};

// One node that is taken, or has been.
struct NodeChange {
  enum class Outcome {
    kRepartitioned,  // verified and given back
    kPutBack,        // the drain could not be ended: uncordoned unchanged, tried again later
    kUnfinished      // still out when the projection ended
  };
  std::string node;
  std::string layout;
  std::string from;  // value of nvidia.com/mig.config; empty: never set
  std::string to;
  bool was_out = false;  // cordoned before berth took it: it stays so
  Outcome outcome = Outcome::kUnfinished;
  std::optional<InHand> in_hand;  // nothing: it would be taken
  std::vector<PodMove> pods;
};
const char* to_string(NodeChange::Outcome outcome);

// What the controller would refuse or wait for, and what would change that.
struct Refusal {
  std::string layout;
  std::vector<std::string> nodes;  // empty: the layout as a whole
  Cause cause;                     // LastProvider, PodDisruptionBudget, InvalidLayout, …
  std::string line;                // what to write into a manifest; empty if no line would do
  bool spec = false;               // the manifest is wrong: nothing but an edit changes that
};

// A PodDisruptionBudget that, by its status, lets no pod go from a node that is to be emptied.
struct BudgetInTheWay {
  std::string budget;  // namespace/name
  std::int32_t disruptions_allowed = 0;
  std::vector<std::string> nodes;
  std::vector<std::string> pods;
};

// Allocatable on schedulable, ready nodes of the whole cluster.
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
  std::string left;               // of a deleted one: what becomes of its nodes
  bool given = false;             // in the manifests, as against found in the cluster
  bool takes_every_node = false;  // nodeSelector: {}
  std::string selects_none;       // why, if it selects no node
  NodeCounts before;              // as they stand with the manifests applied and nothing done
  NodeCounts after;
  std::int32_t budget = 0;        // how many nodes may be out at once
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

// One pool of the policy, and what becomes of nodes on its account.
struct PoolSummary {
  std::string name;
  LayoutSummary::Change change = LayoutSummary::Change::kUnchanged;
  bool removed = false;  // the policy no longer has it
  std::string sharing;   // "TimeSlicing × 4, renamed"; empty: none
  std::vector<std::string> enter, leave;
  std::int32_t stay = 0;
  // A label or taint as nodes show it, once for all nodes alike.
  struct Edit {
    std::string key;
    std::string effect;                   // empty: a label
    std::optional<std::string> from, to;  // nothing: absent
    std::vector<std::string> nodes;
  };
  std::vector<Edit> edits;
};

// Pods that keep running, and that the policy speaks against.
struct PodConcern {
  enum class Kind {
    kHoldsMoreThanExists,  // of a resource of their node, together
    kNotTolerant,          // of a taint that comes to their node
    kNotEligible           // their namespace may not use the pool they are in
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
  std::string left;  // of a deleted one: what becomes of its nodes
  bool given = false;
  std::vector<PoolSummary> pools;       // in the policy's order, then those that it lost
  std::vector<PoolConflict> conflicts;  // nodes that several pools select, by name
  std::vector<PodConcern> pods;
  std::optional<DisruptionStatus> windows;  // as they stand now; nothing: any time
  std::vector<Condition> conditions;        // at the end

  bool changes() const;
};

// An object besides the nodes that is written.
struct ObjectChange {
  std::string object;  // "ConfigMap/gpu-operator/berth-mig-parted-config"
  bool created = false;
  bool deleted = false;
  std::vector<std::string> lines;  // "adds config berth-inference-a100-6f3c9b1e"
};

// NVIDIA's agents do not read berth's file yet. The projection goes on as if they did.
struct AgentSwitch {
  std::string message;
  std::string object;  // "ClusterPolicy/cluster-policy"
  std::string line;    // what to set in it; empty: there is no such object yet
};

struct Projection {
  Time begin{};
  std::vector<LayoutSummary> layouts;  // by name
  std::optional<PolicySummary> policy;
  std::vector<NodeChange> under_way;  // in hand already, by name
  std::vector<NodeChange> nodes;      // that would be taken, in the controller's order
  std::vector<Refusal> refusals;
  std::vector<BudgetInTheWay> budgets;
  std::vector<CapacityRow> capacity;
  std::vector<ObjectChange> objects;
  std::optional<AgentSwitch> agent_switch;
  std::optional<QueueOutlook> queues;  // nothing: no manifest concerns them
  bool queues_alone = false;           // nor anything else
  std::string stopped;  // why the projection ended before the end; empty if it did not

  bool changes() const;       // anything would be written
  bool invalid_spec() const;  // a given layout or queue can't take effect as it is written
};

}  // namespace berth
