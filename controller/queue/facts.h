// SPDX-License-Identifier: Apache-2.0
// What the queue knows of the cluster, as plain values: nodes, pods, Jobs, queues, and the ledger
// of admissions in flight. facts_from.h makes them from the slices; FactsIndex takes them one by
// one. Amounts are whole: cpu in thousandths, memory in bytes, everything else in pieces; of the
// class `gpu` in millionths of a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/gpu_resource.h"
#include "controller/queue/backoff.h"

namespace berth::queue {

inline constexpr std::string_view kGpuClass = "gpu";
using berth::kWholeGpu;
inline constexpr std::string_view kAnyPool = "*";

// Resource name and amount, sorted by name, each once.
using Amounts = std::vector<std::pair<std::string, std::int64_t>>;

// Where a workload's own selectors let it run, sorted; empty: anywhere. One that is nowhere at home
// has the empty name. What a quota of any pool admits is held to none.
using PoolNames = std::vector<std::string>;

// Enough of a pod's uid to tell it from the others of its group.
std::string member_key(std::string_view uid);

// That the pods of a workload stand in one domain of the level (a label of nodes): as a condition,
// or as a wish. An empty level says nothing.
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

// Pools that an autoscaler adds nodes to, and how many nodes they may come to have.
struct ElasticFact {
  std::vector<std::pair<std::string, std::int64_t>> max_nodes;
  bool operator==(const ElasticFact&) const = default;
};

struct NodeFact {
  std::string name;
  std::string pool;        // empty: of no pool
  bool in_service = true;  // cordoned, repartitioning and unhealthy nodes offer nothing
  Amounts offers;
  Amounts gpu_weights;               // of each GPU resource, how much of a GPU one piece is
  std::vector<std::string> domains;  // its value of each level; empty where it has none
  bool one_numa_node = false;        // it says so
  bool operator==(const NodeFact&) const = default;
};

// The newest format of records that this berth reads and writes. It leaves a workload alone whose
// record is newer: what that record means is not known here.
inline constexpr std::int64_t kRecordVersion = 1;

// What so many pods of one seat were admitted with.
struct SeatShape {
  std::string seat;  // of AdmissionFact::seats; empty: the members do not differ
  std::int64_t pods = 1;
  Amounts asks;  // extended resources, of each of these pods
  bool operator==(const SeatShape&) const = default;
};

// What was decided once: it counts as decided, whatever the workload or the nodes look like now.
struct AdmissionFact {
  std::int64_t version = kRecordVersion;  // 0: written before records had versions
  std::string uid;  // of what was admitted: the Job, the group's first pod, the pod
  std::string queue;
  std::string cohort;
  std::string pool;
  std::int64_t pods = 1;
  Amounts amounts;         // by quota resource, for all those pods
  std::int64_t since = 0;  // microseconds since the epoch
  std::int64_t epoch = 0;  // of the leader that decided
  // Where its pods are pinned to; empty: wherever in the pool. Of a Job all the nodes that they may
  // stand on, of a group one for each of `members`, of a pod its own.
  std::vector<std::string> nodes;
  std::vector<std::string> members;  // a group's pods, by member_key() of their uids
  // If the members of a gang differ: how many of each kind it was admitted with (seat_of()).
  std::vector<std::pair<std::string, std::int64_t>> seats;
  std::vector<SeatShape> shapes;  // by seat; empty: written before records had them
  // Of a pod's own record: the uid of the controller that would have created it again; empty: none.
  std::string maker;
  // The pool stands in the node selector, and not because somebody else wrote it there.
  bool selects_pool = false;
  bool operator==(const AdmissionFact&) const = default;
};

enum class PodState {
  kWaiting,   // behind berth's gate
  kReleased,  // without a gate and without a node
  kBound,     // on a node
  kLeaving,   // on a node, being deleted
  kEnded,     // a gang's pod that ended, and that no controller re-creates
};

struct PodFact {
  std::string uid;
  std::string workload;  // "Job/ns/name", "PodGroup/ns/name", "Pod/ns/name"; empty: no queue's
  std::string queue;     // empty: none
  std::int32_t priority = 0;
  std::int64_t created = 0;     // microseconds since the epoch
  std::int64_t group_size = 1;  // as the pod says it
  bool fast = false;            // its group goes with its first pod, whoever is not there yet
  std::string role;             // in its group
  // The uid of the object that makes the group's pods; empty: no object does, or berth does not
  // know it yet.
  std::string maker;
  // It could not be given back: nobody would create it again, or its owner may fail without it.
  bool stays = false;
  std::int64_t role_size = 0;  // pods of the group that have it; 0: nobody says
  PoolNames only_pools;
  std::string rules;     // what else its spec says of nodes; empty: nothing
  bool modelled = true;  // that is all that decides where it can run
  TopologyWish topology;
  std::int64_t checkpoint = 0;  // the work that it has saved, microseconds since the epoch
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
  // How often in a row it was never ready, while it is left out for that; 0: it is not.
  std::int64_t setbacks = 0;
  bool held = false;  // by a person, or by Kueue: out of the queue
  // It is being deleted: from then on its pods hang that are not deleted themselves. Microseconds
  // since the epoch; 0: it is not.
  std::int64_t hangs_from = 0;
  bool template_mutable = true;  // else an admission could not be written into it yet
  // Pods of it are still terminating that are no facts, and its controller replaces none of them
  // before it has ended.
  bool awaits_the_dead = false;
  PoolNames only_pools;
  std::string rules;     // as of a pod
  bool modelled = true;  // likewise
  TopologyWish topology;
  std::int64_t checkpoint = 0;  // as of a pod
  std::int64_t lasts = 0;       // microseconds after which it is ended; 0: nobody ends it
  std::int64_t started = 0;     // microseconds since the epoch; 0: it does not run
  std::optional<AdmissionFact> admitted;
  bool operator==(const JobFact&) const = default;
};

struct AheadFact {  // what has to be gone before an admission is let go
  std::string workload;
  std::string uid;         // of what was admitted: under an old name may be something new
  std::int64_t since = 0;  // when it was; 0: it was not
  bool evicted = false;    // it is taken back for this one
  bool idle = false;       // as its GPUs are idle
  bool operator==(const AheadFact&) const = default;
};

struct LedgerFact {  // an admission in flight: the workload's own objects do not show it yet
  std::string workload;
  AdmissionFact admission;
  std::int64_t generation = 0;  // of the Job's spec that was decided on; 0: any, as of pods
  // Of an admission that was withdrawn, as the API server refuses the release: its words, and until
  // when (microseconds since the epoch) the workload is not tried again. It counts for nothing.
  // Without words: its nodes were lost. It is let go no more, and counts until then.
  std::string refused;
  std::int64_t until = 0;
  std::vector<AheadFact> ahead;  // empty: it may go
  bool operator==(const LedgerFact&) const = default;
};

struct RecallFact {                       // a gang that no Job makes is taken back whole
  std::int64_t version = kRecordVersion;  // 0: written before marks had versions
  std::string workload;
  std::int64_t since = 0;  // of the admission that is over: its pods have it in common
  std::int64_t at = 0;     // when that was decided, microseconds since the epoch
  std::int64_t age = 0;    // of its oldest pod then, likewise: it keeps its place
  std::string why;
  // How often in a row it was not ready in time; 0: it begins anew.
  std::int64_t times = 0;
  // It is left out of its queue until then; 0: it has waited, or, after so many times, for good.
  std::int64_t until = 0;
  std::string first;  // the uid of its oldest pod while it is left out, once all are there
  // Whether it keeps what comes in the gang's place out of the queue.
  bool leaves_out() const { return times > 0 && (until != 0 || times >= kMostSetbacks); }
  bool operator==(const RecallFact&) const = default;
};

struct RestartFact {  // a gang whose controller may be re-creating all of its pods
  std::string workload;
  AdmissionFact admission;          // the one that continues, without nodes
  std::vector<std::string> makers;  // those of its pods, sorted
  // The requests of its pods, and how many pods have them.
  std::vector<std::pair<Amounts, std::int64_t>> asks;
  std::int64_t gone = 0;  // since when it has no pod, microseconds since the epoch; 0: it has
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

struct PreemptionFact {                // whom a queue's workloads may displace
  bool own = false;                    // those of lower priority in the queue
  Reclaims others = Reclaims::kNever;  // what other queues of the cohort have borrowed
  std::int64_t own_after = 0;          // microseconds since admission that they may run at least
  std::int64_t others_after = 0;
  bool stays_may_borrow = false;  // what could not be given back
  bool operator==(const PreemptionFact&) const = default;
};

struct SpentFact {  // a budget that is used up
  std::int64_t gpu_hours_thousandths = 0;
  std::int64_t until = 0;  // the period's end, microseconds since the epoch
  bool operator==(const SpentFact&) const = default;
};

struct QueueFact {
  std::string name;
  std::string cohort;  // empty: alone
  std::vector<QuotaFact> quotas;
  bool strict_fifo = false;
  bool held = false;
  bool drains = false;             // and what it has admitted goes back
  bool in_trouble = false;         // held because what it says can't be acted on
  std::optional<SpentFact> spent;  // held because of that, and for nothing else
  std::int64_t weight_thousandths = 1000;
  bool pins = true;       // what it admits to nodes, wherever that can be done
  TopologyWish topology;  // of workloads that say nothing
  PreemptionFact preemption;
  std::optional<std::int64_t> reserve_after;  // microseconds that its head waits; nothing: for ever
  bool operator==(const QueueFact&) const = default;
};

}  // namespace berth::queue
