// SPDX-License-Identifier: Apache-2.0
// Plan: what a reconciler wants to change, as plain values: writes with their preconditions and
// reasons, questions, statuses and events. Equal snapshots give equal plans. After a plan has been
// applied, the next plan is empty.
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

#include "apis/base/result.h"
#include "apis/kinds/core.h"
#include "apis/kinds/mig_layout.h"
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

// One change of one object. `body` holds the precondition: the tests of a JSON patch, or
// metadata.uid or resourceVersion of a merge patch. For delete and evict it is the uid of `object`.
struct Write {
  Verb verb = Verb::kJsonPatch;
  ObjectRef object;
  std::string body;           // JSON; empty for delete and evict
  std::string field_manager;  // names::kManager…
  std::string reason;         // a phrase for users: "cordon for layout inference-a100"
  std::optional<std::int64_t> grace_period_seconds;  // evict and delete
  std::string resource_version = {};  // evict and delete: a precondition; empty: none
  bool in_history = true;  // false: a ledger's checkpoint, or the history records it in another way
  bool operator==(const Write&) const = default;
};

// A question to the live API server, right before the dangerous write that follows it. A refusal
// drops the rest of the object's steps. There are three forms. With `refuse`, the shell fetches the
// node and, with a quorum list, every pod bound to it. With `refuse_any`, it lists all nodes. With
// `refuse_object`, it fetches the JSON of one object of a kind that berth does not watch.
struct Guard {
  // For `refuse`: the node. For `refuse_any`: the object that the write is about. For
  // `refuse_object`: the object to fetch.
  ObjectRef node;
  std::string question;  // what berth asks, for logs and for comparing plans
  // Why the write must not happen, or nullopt. Pure.
  std::function<std::optional<std::string>(const Node& node, const std::vector<Pod>& pods)> refuse;
  bool yes_if_gone = false;  // if the node does not exist, the answer is yes
  std::function<std::optional<std::string>(const std::vector<Node>& nodes)> refuse_any{};
  const KindInfo* kind = nullptr;  // for `refuse_object`; a static object
  // An error means that the API server has no such object, or that berth may not read it.
  std::function<std::optional<std::string>(const Result<std::string>& object)> refuse_object{};
  bool operator==(const Guard& other) const {
    return node == other.node && question == other.question;
  }
};

// A dry-run eviction: the server checks uid and PodDisruptionBudgets and uses up no budget. Answers
// keeps the reply. If the reply is no, the shell drops the later steps of the same object.
struct Ask {
  ObjectRef pod;
  std::string against;  // resourceVersion of the pod as cached
  bool operator==(const Ask&) const = default;
};

using Step = std::variant<Write, Guard, Ask>;
// The key under which Answers keeps the reply to a step: "evict Pod/ns/name uid", "jsonpatch
// Node/n1 uid berth-mig".
std::string question(const Step& step);

struct EventNote {
  ObjectRef regarding;
  bool warning = false;
  std::string reason;  // UpperCamelCase, from a fixed list
  std::string action;  // what berth did: "Cordon", "Evict", "Repartition"
  std::string note;    // ≤ 1 KiB
  // The apiVersion of `regarding`, if berth does not watch its kind; else empty.
  std::string api_version = {};
  // The object whose steps the event is about, if `regarding` has no steps. The event names it too.
  std::optional<ObjectRef> related = {};
  bool operator==(const EventNote&) const = default;
};

// A count or a duration to record once every step of the object has succeeded.
struct Observation {
  ObjectRef regarding;
  const Measure* measure = nullptr;
  Figure::Labels labels;
  double value = 0;  // for a counter: by how much it rises
  bool operator==(const Observation&) const = default;
};

// The full desired status of one of berth's objects. Each plan contains it. The shell sends it only
// if it differs from the cached one, and at most once in five seconds. An urgent one goes out at
// once: a condition changes, or a node goes out of service where none was.
struct StatusUpdate {
  ObjectRef object;
  // {"metadata": {"resourceVersion": …}, "status": …} as a merge patch on the status subresource.
  // The resourceVersion keeps a late status from replacing one that was computed from newer facts.
  std::string body;
  bool differs = false;
  bool urgent = false;
  // Changes since the status in the cluster. The shell records these events after it has written
  // this status. The next leader then finds the changes in the status and does not repeat the
  // events.
  std::vector<EventNote> events;
  bool operator==(const StatusUpdate&) const = default;
};

// Steps of one object. They run in order; the steps of different objects run concurrently.
struct ObjectSteps {
  ObjectRef object;
  std::vector<Step> steps;
  bool operator==(const ObjectSteps&) const = default;
};

// Finds an object's steps in a plan: an index, built at the first call. Comparisons of plans ignore
// it. Code that changes a plan's objects other than by appending must build it again.
class StepsIndex {
 public:
  // The object's position in `objects`, or objects.size() if it is absent.
  std::size_t find(const std::vector<ObjectSteps>& objects, const ObjectRef& object);
  bool operator==(const StepsIndex&) const { return true; }

 private:
  // Positions by hash of the object: each object is in the plan at most once.
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
  // The object and generation that ask for this plan, for the log and the history. The shell sets
  // it.
  std::string cause = {};

  // Appends to the object's steps; the first call for an object adds its entry.
  void add(const ObjectRef& object, Step step);
  bool has_steps(const ObjectRef& object) { return index.find(objects, object) < objects.size(); }
  void requeue_in(Duration delay) {
    if (!requeue_after || delay < *requeue_after) requeue_after = delay;
  }
  // No write, no question. An unchanged status does not count.
  bool empty() const;
  bool operator==(const Plan&) const = default;
};

// Equal for plans with the same steps; 0 for a plan without steps. Statuses and events don't count:
// statuses may contain times, and repeated events differ in their counts.
std::size_t hash_steps(const Plan& plan);

// One line per step, status and event, in order. Tests compare it and logs print it.
std::string print(const Plan& plan);

}  // namespace berth
