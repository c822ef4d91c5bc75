// SPDX-License-Identifier: Apache-2.0
// Plan: what a reconciler wants done. Values all the way: writes with their preconditions and
// reasons, questions, statuses, events. Equal snapshots give equal plans, and a plan that has been
// applied and is planned again is empty.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "apis/core.h"
#include "apis/mig_layout.h"
#include "apis/result.h"
#include "controller/core/figures.h"

namespace berth {

struct ObjectRef {
  std::string kind;  // "Node", "Pod", "ConfigMap", "MIGLayout"
  std::string namespace_;
  std::string name;
  std::string uid;
  auto operator<=>(const ObjectRef&) const = default;
  std::string str() const;  // "Node/n1", "Pod/team-a/train-0"
};
template <class T>
ObjectRef ref_of(const T& object) {
  return {std::string(kKind<T>.kind), object.meta.namespace_.str(), object.meta.name,
          object.meta.uid};
}

enum class Verb { kCreate, kJsonPatch, kMergePatch, kStatusPatch, kDelete, kEvict };
const char* to_string(Verb verb);

// One change of one object. The precondition is in the body (a JSON patch's tests,
// metadata.resourceVersion or uid of a merge patch) or, for delete and evict, the uid of `object`.
struct Write {
  Verb verb = Verb::kJsonPatch;
  ObjectRef object;
  std::string body;           // JSON; empty for delete and evict
  std::string field_manager;  // names::kManager…
  std::string reason;         // a clause for people: "cordon for layout inference-a100"
  std::optional<std::int64_t> grace_period_seconds;  // evict and delete
  std::string resource_version = {};  // evict and delete: a precondition; empty: none
  bool in_history = true;  // false: a ledger's checkpoint, or known to the history otherwise
  bool operator==(const Write&) const = default;
};

// A question put to the API server live, right before the dangerous write that follows it; a
// refusal drops the rest of its object's steps. The shell fetches the node and, by quorum list,
// every pod bound to it, and hands them to `refuse`; or, for what goes by all nodes, lists these
// and hands them to `refuse_any`; or it fetches one object of a kind that berth does not watch, and
// hands its JSON to `refuse_object`.
struct Guard {
  ObjectRef node;        // of all nodes: whom the write is about; of `kind`: the object
  std::string question;  // names what is asked, for logs and plan comparison
  // Why not, or nothing. Pure.
  std::function<std::optional<std::string>(const Node& node, const std::vector<Pod>& pods)> refuse;
  bool yes_if_gone = false;  // that there is no such node will do, too
  std::function<std::optional<std::string>(const std::vector<Node>& nodes)> refuse_any{};
  const KindInfo* kind = nullptr;  // of `refuse_object`; static
  // An error is the API server's word that there is no such object, or that berth may not read it.
  std::function<std::optional<std::string>(const Result<std::string>& object)> refuse_object{};
  bool operator==(const Guard& other) const {
    return node == other.node && question == other.question;
  }
};

// A dry-run eviction: evaluates uid and PodDisruptionBudgets and spends nothing. Its answer goes
// into Answers. Before a write in the same object's steps, a "no" drops the rest.
struct Ask {
  ObjectRef pod;
  std::string against;  // resourceVersion of the pod as cached
  bool operator==(const Ask&) const = default;
};

using Step = std::variant<Write, Guard, Ask>;
// The key under which a step's answer is kept: "evict Pod/ns/name uid",
// "jsonpatch Node/n1 uid berth-mig".
std::string question(const Step& step);

struct EventNote {
  ObjectRef regarding;
  bool warning = false;
  std::string reason;  // UpperCamelCase, from a fixed list
  std::string action;  // what berth did: "Cordon", "Evict", "Repartition"
  std::string note;    // ≤ 1 KiB
  // Of `regarding`, where that is of a kind that berth doesn't watch; else empty.
  std::string api_version = {};
  // Whose steps it tells of, where `regarding` has none: it stands in the event, too.
  std::optional<ObjectRef> related = {};
  bool operator==(const EventNote&) const = default;
};

// What is counted or timed once every step of the object has succeeded.
struct Observation {
  ObjectRef regarding;
  const Measure* measure = nullptr;
  Figure::Labels labels;
  double value = 0;  // of a counter: by how much it rises
  bool operator==(const Observation&) const = default;
};

// The full desired status of one of our objects. Planned always; the shell sends it only if it
// differs from the cached one, and at most once in five seconds unless it is urgent: a condition
// changes, or nodes leave where none was out.
struct StatusUpdate {
  ObjectRef object;
  // {"metadata": {"resourceVersion": …}, "status": …} as a merge patch on the status subresource: a
  // status that arrives late must not replace one that was computed from more.
  std::string body;
  bool differs = false;
  bool urgent = false;
  // What has come about since the status that stands, told once this one is written: whoever comes
  // after finds it there, and tells nothing twice.
  std::vector<EventNote> events;
  bool operator==(const StatusUpdate&) const = default;
};

// Steps of one object, run in order; different objects at once.
struct ObjectSteps {
  ObjectRef object;
  std::vector<Step> steps;
  bool operator==(const ObjectSteps&) const = default;
};

// Where each object's steps are in a plan. A shortcut that is made when first asked for: it is no
// part of what plans are compared by, and whoever changes a plan's objects otherwise than by
// appending to them makes it anew.
class StepsIndex {
 public:
  // Its place among `objects`; their number, if it is not among them.
  std::size_t find(const std::vector<ObjectSteps>& objects, const ObjectRef& object);
  bool operator==(const StepsIndex&) const { return true; }

 private:
  // Places by their object's hash: an object's name is in the plan once.
  std::unordered_multimap<std::size_t, std::uint32_t> places_;
};

struct Plan {
  std::vector<ObjectSteps> objects;
  std::vector<StatusUpdate> statuses;
  std::vector<EventNote> events;
  std::vector<Observation> observations;
  std::optional<Duration>
      requeue_after;  // the earliest time at which the same facts would give another plan
  StepsIndex index;
  // Which object asks for it, with its generation, for the log and the history. The shell sets it.
  std::string cause = {};

  // Appends to the object's steps, making its entry on first use.
  void add(const ObjectRef& object, Step step);
  bool has_steps(const ObjectRef& object) { return index.find(objects, object) < objects.size(); }
  void requeue_in(Duration delay) {
    if (!requeue_after || delay < *requeue_after) requeue_after = delay;
  }
  // No write, no question. A status that already stands does not count.
  bool empty() const;
  bool operator==(const Plan&) const = default;
};

// What two plans that do the same have in common; 0 for one without steps. Statuses may carry
// times, and events repeat themselves by counting: neither is in it.
std::size_t hash_steps(const Plan& plan);

// One line per step, status and event, in order: what tests compare and logs print.
std::string print(const Plan& plan);

}  // namespace berth
