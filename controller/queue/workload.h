// SPDX-License-Identifier: Apache-2.0
// Workload: what is admitted as one, put together from its Job (if it is one), its pods and its
// entry in the ledger, in whatever order these came. standing() says what it adds to the index.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apis/text.h"
#include "controller/queue/node_room.h"

namespace berth::queue {

// Of a pod whose group is admitted with its first one: what is known of those that are to come.
struct FastStart {
  std::string role;
  std::int64_t role_size = 0;  // 0: not known
};

struct Pod {
  const std::string* uid = nullptr;  // its key in the index
  std::int64_t created = 0;
  PodState state = PodState::kWaiting;
  ShapeId shape = 0;
  NodeId node = 0;              // of kBound and kLeaving
  std::int64_t hangs_from = 0;  // as of a PodFact
  bool on_node() const { return state == PodState::kBound || state == PodState::kLeaving; }

  // What it says of its workload; a Job says it of its own.
  QueueId queue = Catalog::kNoQueue;
  std::int32_t priority = 0;
  std::int64_t group_size = 1;
  WishId wish = Catalog::kNoWish;
  std::int64_t checkpoint = 0;
  std::unique_ptr<FastStart> fast;  // null: its group waits for all its pods
  Text maker, role;                 // as of a PodFact
  bool stays = false;               // likewise
  std::unique_ptr<AdmissionFact> admitted;
};

struct Job {
  std::string uid;
  QueueId queue = Catalog::kNoQueue;
  std::int32_t priority = 0;
  std::int64_t created = 0;
  ShapeId shape = 0;
  WishId wish = Catalog::kNoWish;
  std::int64_t wanted = 0;  // pods that it is still to run at a time
  std::int64_t generation = 0;
  std::int64_t setbacks = 0;  // as of a JobFact
  bool suspended = true;
  bool held = false;
  std::int64_t hangs_from = 0;  // likewise
  bool template_mutable = true;
  bool awaits_the_dead = false;  // as of a JobFact
  std::int64_t checkpoint = 0;
  std::int64_t lasts = 0;
  std::int64_t started = 0;
  std::unique_ptr<AdmissionFact> admitted;
};
Job job_of(const JobFact& fact, Catalog& catalog);

struct ByAge {  // of the members of a workload
  bool operator()(const Pod* a, const Pod* b) const {
    return a->created != b->created ? a->created < b->created : *a->uid < *b->uid;
  }
};

struct Members {  // of one shape, by state
  std::int64_t waiting = 0;
  std::int64_t released = 0;
  std::int64_t bound = 0;
  std::int64_t leaving = 0;
  std::int64_t live() const { return waiting + released + bound + leaving; }
};

enum class Unready {
  kNo,
  kGangIncomplete,    // pods of the group are missing
  kSizesDisagree,     // they say different sizes
  kTemplateNotReady,  // an admission could not be written into the template yet
  kPodsOnDeadNode,    // its Job starts no pod instead of one that can't leave a dead node
  kReleaseRefused,    // the API server would not have it let go
  kNeverReady,        // it was let go and not ready in time: it is left out
  kNewerRecord,       // a later berth has admitted it: it is left alone
};

// One quota's part in what a workload is charged.
struct Charge {
  HolderId holder = 0;
  KeyId key = 0;
  std::int64_t total = 0;
  std::int64_t leaving = 0;  // the part of it that is going away
  bool operator==(const Charge&) const = default;
};

// What the living pods of a workload ask more than its record covers: they are charged for it too.
struct Beyond {
  ResourceId resource = 0;  // kClass: of the class, in millionths
  std::int64_t total = 0;
  std::int64_t leaving = 0;  // the part of it that is going away
};

struct Claim {  // admitted pods that are on no node
  PoolId pool = Catalog::kAny;
  ShapeId shape = 0;
  std::int64_t pods = 0;
  std::optional<NodeId> node;  // that they are pinned to
};

struct Standing {
  bool pending = false;
  Unready unready = Unready::kNo;
  QueueId queue = Catalog::kNoQueue;
  std::int32_t priority = 0;
  std::int64_t created = 0;
  const std::string* uid = nullptr;
  std::int64_t pods = 0;  // of a gang, those it has and those it lacks
  std::int64_t pods_here = 0;
  // Of what is not ready: until when it may be its StrictFIFO queue's head, microseconds since the
  // epoch; 0: it may not.
  std::int64_t heads_until = 0;
  bool stays = false;          // no Job, and one of its pods could not be given back
  ClassId workload_class = 0;  // of what is ready
  bool admitted = false;
  bool to_release = false;    // admitted, and some of it is still held back
  bool past_webhook = false;  // its pods run and nobody admitted them
  bool waits = false;         // admitted, and others have to be gone first
  bool leaves = false;        // all that it holds is going away
  bool loses_pods = false;    // a running gang, whose controller may be re-creating all of it
  // From then on berth does not count on its leaving (leaving.h); 0: not known.
  std::int64_t hangs_from = 0;
  const AdmissionFact* admission = nullptr;  // of what is admitted
  std::int64_t unbound_pins = 0;             // pods that are pinned, let go and on no node
  std::vector<Claim> claims;
  // Of an admission; the index adds what is beyond. What came past the webhook is charged by pod.
  std::vector<Charge> charges;
  const AdmissionFact* record = nullptr;  // by which its living pods are charged
  std::vector<Beyond> beyond;
  bool holds_too_much = false;  // it is charged more than its record says
  bool goes_by_worth = false;   // what is beyond depends on what the pieces of resources are worth
  bool newer = false;           // a later berth's record is on it, in the ledger or in a mark
  bool uncovered = false;       // admitted, and its record has no seat for some gated member
};

struct PodsOfWorkload {
  std::set<const Pod*, ByAge> all;
  std::set<const Pod*, ByAge> admitted;
  std::map<ShapeId, Members> shapes;
  std::map<std::int64_t, std::int64_t> sizes;  // group size → pods that say it

  void add(const Pod& pod);
  void remove(const Pod& pod);

 private:
  void count(const Pod& pod, std::int64_t by);
};

struct Workload {
  const std::string* name = nullptr;  // its key in the index
  std::unique_ptr<Job> job;
  std::unique_ptr<LedgerFact> in_flight;
  std::unique_ptr<PodsOfWorkload> pods;  // null where none lives
  // Members that have ended for good, perhaps also of earlier gangs of this name.
  std::unique_ptr<std::set<const Pod*, ByAge>> ended;
  std::unique_ptr<RestartFact> restart;
  std::unique_ptr<RecallFact> recall;
  // The admissions of it that the ledger takes back, for others or by the mark above, as often as
  // it does: by the time, which all members of a gang have in common.
  std::multiset<std::int64_t> taken_back;

  Standing standing;  // as it is counted in the index now

  void add(const Pod& pod);
  void remove(const Pod& pod);
  bool gone() const {
    return !job && !in_flight && !recall && !pods && !ended && !restart && taken_back.empty();
  }
};

// The workload's entry in the ledger, if it is for these very objects as they were decided on, and
// they do not show it yet; null otherwise.
const AdmissionFact* open_entry(const Workload& workload);

// Whether it has one, and nobody has to be gone before it is let go.
bool may_go_now(const Workload& workload);

// Likewise of an admission that was withdrawn.
const LedgerFact* refused_entry(const Workload& workload);

// The mark that keeps the gang's admission while it lacks pods; null: no mark holds.
const RestartFact* restart_of(const Workload& workload);

// Whether none of its pods shows an admission, and that mark keeps one for it.
bool is_restarting(const Workload& workload);

// The workload's last admission: its objects show it, it is in flight, or a mark keeps it for a
// restart; null: it has none.
const AdmissionFact* admission_of(const Workload& workload);

// The kind of member that the pod is in its gang: its role, or else the GPUs that it asks for.
std::string seat_of(const Pod& pod, const Catalog& catalog);

// The shapes of so many missing members. A member asks for what the first of its role does, or,
// without a known role, for what the first of all does.
std::map<ShapeId, std::int64_t> pods_to_come(const PodsOfWorkload& pods, std::int64_t missing);

// The gated members, oldest first, for which the gang's admission has a seat that covers them.
std::vector<const Pod*> covered_members(const Workload& workload, const Catalog& catalog,
                                        const NodeRoom& room);

// Those of them that may be released now.
std::vector<const Pod*> to_follow(const Workload& workload, const Catalog& catalog,
                                  const NodeRoom& room);

// How often in a row it was never ready, while it is left out for that; 0: it is not.
std::int64_t setbacks_of(const Workload& workload);

// When the work of it was saved last, microseconds since the epoch; 0: nobody says.
std::int64_t checkpoint_of(const Workload& workload);

// When it is ended at the latest, microseconds since the epoch; nothing: nobody says.
std::optional<std::int64_t> end_of(const Workload& workload);

// The node to which an admission pins the pod; empty: none.
std::string_view node_of(const AdmissionFact& admission, std::string_view uid);

// What the facts of a workload come to.
Standing standing_of(const Workload& workload, Catalog& catalog, const NodeRoom& room);

// A workload's place in rule 5's order: priority, age, and uid, which is unlike every other's. What
// decides nearly always is at hand, without a look at the workload.
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
