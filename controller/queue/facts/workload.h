// SPDX-License-Identifier: Apache-2.0
// Workload: what berth admits as one. It combines a Job (if there is one), its pods and its ledger
// entry, which may arrive in any order. standing_of() computes what the workload adds to the index.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apis/base/text.h"
#include "controller/queue/facts/node_room.h"

namespace berth::queue {

// For a pod whose group may start with its first pod: what it says about the missing ones.
struct FastStart {
  std::string role;
  std::int64_t role_size = 0;  // 0: not stated
};

struct Pod {
  const std::string* uid = nullptr;  // its key in the index
  std::int64_t created = 0;
  PodState state = PodState::kWaiting;
  ShapeId shape = 0;
  NodeId node = 0;              // of kBound and kLeaving
  std::int64_t hangs_from = 0;  // as in PodFact
  bool on_node() const { return state == PodState::kBound || state == PodState::kLeaving; }

  // These come from the pod. For a Job's pod they come from the Job.
  QueueId queue = Catalog::kNoQueue;
  std::int32_t priority = 0;
  std::int64_t group_size = 1;
  WishId wish = Catalog::kNoWish;
  std::int64_t checkpoint = 0;
  std::unique_ptr<FastStart> fast;  // null: the group waits for all its pods
  Text maker, role;                 // as in PodFact
  bool stays = false;               // as in PodFact
  std::unique_ptr<AdmissionFact> admitted;
};

struct Job {
  std::string uid;
  QueueId queue = Catalog::kNoQueue;
  std::int32_t priority = 0;
  std::int64_t created = 0;
  ShapeId shape = 0;
  WishId wish = Catalog::kNoWish;
  std::int64_t wanted = 0;  // pods that it still has to run at a time
  std::int64_t generation = 0;
  std::int64_t setbacks = 0;  // as in JobFact
  bool suspended = true;
  bool held = false;
  std::int64_t hangs_from = 0;  // as in JobFact
  bool template_mutable = true;
  bool awaits_the_dead = false;  // as in JobFact
  std::int64_t checkpoint = 0;
  std::int64_t lasts = 0;
  std::int64_t started = 0;
  std::unique_ptr<AdmissionFact> admitted;
};
Job job_of(const JobFact& fact, Catalog& catalog);

struct ByAge {  // for members of a workload
  bool operator()(const Pod* a, const Pod* b) const {
    return a->created != b->created ? a->created < b->created : *a->uid < *b->uid;
  }
};

struct Members {  // numbers of one shape, by state
  std::int64_t waiting = 0;
  std::int64_t released = 0;
  std::int64_t bound = 0;
  std::int64_t leaving = 0;
  std::int64_t live() const { return waiting + released + bound + leaving; }
};

enum class Unready {
  kNo,
  kGangIncomplete,    // pods of the group are missing
  kSizesDisagree,     // its pods state different sizes
  kTemplateNotReady,  // the API server would not accept an admission in its template yet
  kPodsOnDeadNode,    // its Job does not replace a pod that can't leave a dead node
  kReleaseRefused,    // the API server refused its release
  kNeverReady,        // it was admitted and not ready in time, so it is left out
  kNewerRecord,       // a later berth has admitted it, so it is left alone
};

// The part of a workload's charge in one quota.
struct Charge {
  HolderId holder = 0;
  KeyId key = 0;
  std::int64_t total = 0;
  std::int64_t leaving = 0;  // the part of total that is leaving
  bool operator==(const Charge&) const = default;
};

// Requests of a workload's living pods beyond its record. They are charged too.
struct Beyond {
  ResourceId resource = 0;  // kClass: the class, in millionths
  std::int64_t total = 0;
  std::int64_t leaving = 0;  // the part of total that is leaving
};

struct Claim {  // admitted pods that are on no node
  PoolId pool = Catalog::kAny;
  ShapeId shape = 0;
  std::int64_t pods = 0;
  std::optional<NodeId> node;  // the node that they are pinned to
};

struct Standing {
  bool pending = false;
  Unready unready = Unready::kNo;
  QueueId queue = Catalog::kNoQueue;
  std::int32_t priority = 0;
  std::int64_t created = 0;
  const std::string* uid = nullptr;
  std::int64_t pods = 0;  // of a gang, existing and missing ones
  std::int64_t pods_here = 0;
  // If it is not ready: until when it may be the head of its StrictFIFO queue, in microseconds
  // since the epoch. 0: it may not.
  std::int64_t heads_until = 0;
  bool stays = false;          // it has no Job, and one of its pods could stay
  ClassId workload_class = 0;  // valid if it is ready
  bool admitted = false;
  bool to_release = false;    // admitted, with pods still gated or its Job suspended
  bool past_webhook = false;  // its pods run without an admission
  bool waits = false;         // admitted, but others have to be gone first
  bool leaves = false;        // all that it holds is leaving
  bool loses_pods = false;    // a running gang whose controller may be re-creating all its pods
  // From then on berth does not expect it to leave (leaving.h). 0: not known.
  std::int64_t hangs_from = 0;
  const AdmissionFact* admission = nullptr;  // valid if it is admitted
  std::int64_t unbound_pins = 0;             // released, pinned pods on no node
  std::vector<Claim> claims;
  // The charges of its admission. The index adds `beyond`. If it was created without review, each
  // pod is charged by its node.
  std::vector<Charge> charges;
  const AdmissionFact* record = nullptr;  // the record that its living pods are charged by
  std::vector<Beyond> beyond;
  bool holds_too_much = false;  // it is charged more than its record says
  bool goes_by_worth = false;   // `beyond` depends on GPU weights of resources
  bool newer = false;           // a later berth's record is on it, in the ledger or in a mark
  bool uncovered = false;       // admitted, but its record has no seat for a gated member
};

struct PodsOfWorkload {
  std::set<const Pod*, ByAge> all;
  std::set<const Pod*, ByAge> admitted;
  std::map<ShapeId, Members> shapes;
  std::map<std::int64_t, std::int64_t> sizes;  // group size → pods that state it

  void add(const Pod& pod);
  void remove(const Pod& pod);

 private:
  void count(const Pod& pod, std::int64_t by);
};

struct Workload {
  const std::string* name = nullptr;  // its key in the index
  std::unique_ptr<Job> job;
  std::unique_ptr<LedgerFact> in_flight;
  std::unique_ptr<PodsOfWorkload> pods;  // null: no pod lives
  // Members that have ended for good, perhaps also of earlier gangs with this name.
  std::unique_ptr<std::set<const Pod*, ByAge>> ended;
  std::unique_ptr<RestartFact> restart;
  std::unique_ptr<RecallFact> recall;
  // The times of its admissions that ledger entries of others, or the mark above, take back, once
  // for each. All members of a gang share the time of their admission.
  std::multiset<std::int64_t> taken_back;

  Standing standing;  // as counted in the index now

  void add(const Pod& pod);
  void remove(const Pod& pod);
  bool gone() const {
    return !job && !in_flight && !recall && !pods && !ended && !restart && taken_back.empty();
  }
};

// Returns the workload's ledger entry, if it is valid for these objects as they were decided on,
// and they do not show it yet; null otherwise.
const AdmissionFact* open_entry(const Workload& workload);

// Whether it has such an entry, and no other workload has to be gone before its release.
bool may_go_now(const Workload& workload);

// Does the same for a withdrawn admission.
const LedgerFact* refused_entry(const Workload& workload);

// The mark that keeps the gang's admission while it lacks pods; null: no mark holds.
const RestartFact* restart_of(const Workload& workload);

// Whether none of its pods shows an admission, and such a mark keeps one.
bool is_restarting(const Workload& workload);

// The workload's last admission: its objects show it, it is in flight, or a mark keeps it for a
// restart; null: it has none.
const AdmissionFact* admission_of(const Workload& workload);

// The kind of member that the pod is in its gang: its role, or else the GPUs that it requests.
std::string seat_of(const Pod& pod, const Catalog& catalog);

// The shapes of the missing members. A member requests what the first member of its role does, or,
// without a known role, what the first of all does.
std::map<ShapeId, std::int64_t> pods_to_come(const PodsOfWorkload& pods, std::int64_t missing);

// The gated members, oldest first, for which the gang's admission has a seat that covers them.
std::vector<const Pod*> covered_members(const Workload& workload, const Catalog& catalog,
                                        const NodeRoom& room);

// Those of them that may be released now.
std::vector<const Pod*> to_follow(const Workload& workload, const Catalog& catalog,
                                  const NodeRoom& room);

// Returns how often in a row it was not ready in time, while it is left out for that; 0: it is not
// left out.
std::int64_t setbacks_of(const Workload& workload);

// Returns when it last saved its work, in microseconds since the epoch; 0: not stated.
std::int64_t checkpoint_of(const Workload& workload);

// Returns when it ends at the latest, in microseconds since the epoch; nothing: not stated.
std::optional<std::int64_t> end_of(const Workload& workload);

// The node to which an admission pins the pod; empty: none.
std::string_view node_of(const AdmissionFact& admission, std::string_view uid);

// Computes the standing from the facts of a workload.
Standing standing_of(const Workload& workload, Catalog& catalog, const NodeRoom& room);

// A workload's place in rule 5's order: priority, age, and the unique uid. Priority and age are
// copied here, because they nearly always decide.
struct Turn {
  std::int32_t priority = 0;
  std::int64_t created = 0;
  const Workload* workload = nullptr;

  Turn() = default;
  explicit Turn(const Workload& of)
      : priority(of.standing.priority), created(of.standing.created), workload(&of) {}
  bool operator<(const Turn& other) const {
    if (priority != other.priority) return priority > other.priority;
    if (created != other.created) return created < other.created;
    return *workload->standing.uid < *other.workload->standing.uid;
  }
};
struct ByTurn {
  bool operator()(const Workload* a, const Workload* b) const { return Turn(*a) < Turn(*b); }
};

}  // namespace berth::queue
