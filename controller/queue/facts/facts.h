// SPDX-License-Identifier: Apache-2.0
// Facts: the queue's view of the cluster, as plain values: nodes, pods, Jobs, queues, and the
// admissions in flight. facts_from.h makes facts from the stored objects, and FactsIndex takes them
// one by one. Amounts are whole numbers: cpu in thousandths, memory in bytes, the class `gpu` in
// millionths of a GPU, and any other resource in pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/gpu_resource.h"
#include "controller/queue/facts/backoff.h"

namespace berth::queue {

inline constexpr std::string_view kGpuClass = "gpu";
using berth::kWholeGpu;
inline constexpr std::string_view kAnyPool = "*";

// Resource name and amount, sorted by name, each once.
using Amounts = std::vector<std::pair<std::string, std::int64_t>>;

// The pools that a workload's own selectors allow, sorted. Empty: all pools. A workload that no
// pool allows has one empty name. An admission to the quota of any pool is not limited to these.
using PoolNames = std::vector<std::string>;

// Returns the part of a pod's uid that is unique in its group.
std::string member_key(std::string_view uid);

// The pods of a workload must, or should, run in one domain of the level (a node label). An empty
// level states no wish.
struct TopologyWish {
  std::string level;
  bool required = false;
  auto operator<=>(const TopologyWish&) const = default;
};

// The levels of domains, widest first.
struct TopologyFact {
  std::vector<std::string> levels;
  bool operator==(const TopologyFact&) const = default;
};

// Pools that an autoscaler adds nodes to, and the most nodes that each may have.
struct ElasticFact {
  std::vector<std::pair<std::string, std::int64_t>> max_nodes;
  bool operator==(const ElasticFact&) const = default;
};

struct NodeFact {
  std::string name;
  std::string pool;  // empty: of no pool
  // False if cordoned, repartitioning or unhealthy: the node offers nothing.
  bool in_service = true;
  Amounts offers;
  // By GPU resource, what part of a GPU one piece is, in millionths.
  Amounts gpu_weights;
  std::vector<std::string> domains;  // the node's value of each level; empty where it has none
  bool one_numa_node = false;        // the node's labels say so
  bool operator==(const NodeFact&) const = default;
};

// The newest version of admission records that this berth reads and writes. It leaves a workload
// with a newer record alone, as it can't know what the record means.
inline constexpr std::int64_t kRecordVersion = 1;

// What each of `pods` pods of one seat requested when the gang was admitted.
struct SeatShape {
  std::string seat;  // of AdmissionFact::seats; empty: the members do not differ
  std::int64_t pods = 1;
  Amounts asks;  // extended resources, per pod
  bool operator==(const SeatShape&) const = default;
};

// An admission as it was decided. It stays as it is, whatever the workload or the nodes look like
// later.
struct AdmissionFact {
  std::int64_t version = kRecordVersion;  // 0: written before records had versions
  std::string uid;  // of the admitted object: the Job, the oldest pod of the group, or the pod
  std::string queue;
  std::string cohort;
  std::string pool;
  std::int64_t pods = 1;
  Amounts amounts;         // by quota resource, for all `pods` pods
  std::int64_t since = 0;  // microseconds since the epoch
  std::int64_t epoch = 0;  // of the leader that decided
  // The nodes that its pods are pinned to. Empty: any node of the pool. For a Job, all nodes that
  // its pods may run on. For a group, one node for each of `members`. For a pod, its node.
  std::vector<std::string> nodes;
  std::vector<std::string> members;  // pods of a group, by member_key() of their uids
  // If the members of a gang differ: how many pods of each kind were admitted (seat_of()).
  std::vector<std::pair<std::string, std::int64_t>> seats;
  std::vector<SeatShape> shapes;  // by seat; empty: written before records had shapes
  // In the record of a single pod: the uid of the controller that would have re-created it. Empty:
  // none.
  std::string maker;
  // berth put the pool into the node selector; it was not there before.
  bool selects_pool = false;
  bool operator==(const AdmissionFact&) const = default;
};

enum class PodState {
  kWaiting,   // gated by berth
  kReleased,  // not gated, and on no node
  kBound,     // on a node
  kLeaving,   // on a node, being deleted
  kEnded,     // a finished pod of a gang that no controller re-creates
};

struct PodFact {
  std::string uid;
  std::string workload;  // "Job/ns/name", "PodGroup/ns/name", "Pod/ns/name"; empty: none
  std::string queue;     // empty: none
  std::int32_t priority = 0;
  std::int64_t created = 0;     // microseconds since the epoch
  std::int64_t group_size = 1;  // as the pod states it
  bool fast = false;            // its group may start before all pods exist
  std::string role;             // in its group
  // The uid of the object that creates the group's pods. Empty: none, or berth does not know it
  // yet.
  std::string maker;
  // It could stay: no controller would re-create it, or its controller may fail without it.
  bool stays = false;
  std::int64_t role_size = 0;  // pods of the group with this role; 0: not stated
  PoolNames only_pools;
  std::string rules;     // its other rules for nodes, by name; empty: none
  bool modelled = true;  // berth models all rules of the pod's placement
  TopologyWish topology;
  // When it last saved its work, microseconds since the epoch; 0: not stated.
  std::int64_t checkpoint = 0;
  Amounts requests;
  PodState state = PodState::kWaiting;
  std::int64_t hangs_from = 0;  // of kLeaving, microseconds since the epoch; 0: not known
  std::string node;             // of kBound and kLeaving
  std::optional<AdmissionFact> admitted;
  bool operator==(const PodFact&) const = default;
};

struct JobFact {
  std::string workload;
  std::string uid;
  std::string queue;
  std::int32_t priority = 0;
  std::int64_t created = 0;
  Amounts requests;  // of one pod
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  std::int64_t succeeded = 0;
  std::int64_t failed_indexes = 0;
  std::int64_t generation = 0;  // of its spec
  bool suspended = true;
  // How often in a row its pods were not ready in time, while the Job is left out of its queue for
  // that. 0: it is not left out.
  std::int64_t setbacks = 0;
  bool held = false;  // a user or Kueue holds the Job: it is out of the queue
  // When berth stops waiting for the deletion of the Job, in microseconds since the epoch. From
  // then on its pods that are not being deleted themselves hang. 0: the Job is not being deleted.
  std::int64_t hangs_from = 0;
  bool template_mutable = true;  // false: the API server would refuse to write an admission into it
  // Some of its pods still terminate and are no facts. Its controller replaces none of them before
  // they have ended.
  bool awaits_the_dead = false;
  PoolNames only_pools;
  std::string rules;     // as in PodFact
  bool modelled = true;  // as in PodFact
  TopologyWish topology;
  std::int64_t checkpoint = 0;  // as in PodFact
  std::int64_t lasts = 0;       // activeDeadlineSeconds in microseconds; 0: no limit
  std::int64_t started = 0;     // microseconds since the epoch; 0: not running
  std::optional<AdmissionFact> admitted;
  bool operator==(const JobFact&) const = default;
};

struct AheadFact {  // a workload that has to be gone before an admission is released
  std::string workload;
  std::string uid;         // of its admission, because a new object may have the same name
  std::int64_t since = 0;  // when it was admitted, microseconds since the epoch; 0: it was not
  bool evicted = false;    // berth takes it back for this admission
  bool idle = false;       // because its GPUs are idle
  bool operator==(const AheadFact&) const = default;
};

struct LedgerFact {  // an admission in flight: the workload's own objects do not show it yet
  std::string workload;
  AdmissionFact admission;
  std::int64_t generation = 0;  // of the Job's spec that was decided on; 0: any, as for pods
  // For a withdrawn admission whose release the API server refused: its message, and until when
  // (microseconds since the epoch) berth does not try the workload again. Such an entry charges
  // nothing. If only `until` is set, the admission lost its nodes: berth releases nothing more, and
  // the entry charges its quota until then.
  std::string refused;
  std::int64_t until = 0;
  std::vector<AheadFact> ahead;  // empty: berth may release it
  bool operator==(const LedgerFact&) const = default;
};

struct RecallFact {                       // the mark of a gang without a Job that berth takes back
  std::int64_t version = kRecordVersion;  // 0: written before marks had versions
  std::string workload;
  std::int64_t since = 0;  // when the ended admission was decided; all its pods share it
  std::int64_t at = 0;     // when the recall was decided, microseconds since the epoch
  std::int64_t age = 0;    // when its oldest pod was created, so that it keeps its age in the queue
  std::string why;
  // How often in a row the gang was not ready in time. 0: it was taken back for another reason.
  std::int64_t times = 0;
  // Until when the gang is left out of its queue, in microseconds since the epoch. 0: its wait is
  // over, or it has failed too often and is left out for good.
  std::int64_t until = 0;
  std::string first;  // the uid of its oldest pod while it is left out, once all are there
  // Whether the mark keeps the gang's new pods out of the queue.
  bool leaves_out() const { return times > 0 && (until != 0 || times >= kMostSetbacks); }
  bool operator==(const RecallFact&) const = default;
};

struct RestartFact {  // the mark of a gang whose controller may be re-creating all its pods
  std::string workload;
  AdmissionFact admission;          // the admission that continues, without nodes
  std::vector<std::string> makers;  // the uids of its pods' controllers, sorted
  // The requests of its pods, and how many pods have each.
  std::vector<std::pair<Amounts, std::int64_t>> asks;
  std::int64_t gone = 0;  // since when it has no pod, microseconds since the epoch; 0: it has pods
  bool operator==(const RestartFact&) const = default;
};

struct QuotaFact {
  std::string resource;
  std::string pool;
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing_limit;
  std::optional<std::int64_t> lending_limit;
  bool operator==(const QuotaFact&) const = default;
};

enum class Reclaims { kNever, kLowerPriority, kAny };

struct PreemptionFact {  // which workloads a queue's workloads may displace
  bool own = false;      // lower priority in the same queue
  // Workloads with borrowed quota in other queues of the cohort.
  Reclaims others = Reclaims::kNever;
  // Microseconds that a workload runs at least before it is displaced.
  std::int64_t own_after = 0;
  std::int64_t others_after = 0;
  bool stays_may_borrow = false;  // unreclaimable: MayBorrow
  bool operator==(const PreemptionFact&) const = default;
};

struct SpentFact {  // a budget that is used up
  std::int64_t gpu_hours_thousandths = 0;
  std::int64_t until = 0;  // the end of the period, microseconds since the epoch
  bool operator==(const SpentFact&) const = default;
};

struct QueueFact {
  std::string name;
  std::string cohort;  // empty: none
  std::vector<QuotaFact> quotas;
  bool strict_fifo = false;
  bool held = false;
  bool drains = false;             // it also takes back what it has admitted
  bool in_trouble = false;         // held because berth can't act on its spec
  std::optional<SpentFact> spent;  // held for this budget and for no other reason
  std::int64_t weight_thousandths = 1000;
  bool pins = true;       // it pins pods to nodes where that is possible
  TopologyWish topology;  // of workloads that state none
  PreemptionFact preemption;
  // Microseconds until its head gets a reservation; absent: never.
  std::optional<std::int64_t> reserve_after;
  bool operator==(const QueueFact&) const = default;
};

}  // namespace berth::queue
