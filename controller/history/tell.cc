// SPDX-License-Identifier: Apache-2.0
// Outline: nodes; objects with conditions; nodes for which a layout waits; pending workloads.
#include "controller/history/tell.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "apis/base/names.h"
#include "controller/core/conditions.h"
#include "controller/core/plan.h"

namespace berth {
namespace {

template <class T>
std::string object_of(const T& object) {
  return ref_of(object).str();
}

template <class T>
std::string cause_of(const T& object) {
  return cause_text(object_of(object), object.meta.generation);
}

std::string_view label(const Node& node, const char* name) {
  return node.meta.labels.get(name).view();
}

std::string offers(const Node& node) {
  std::string text;
  for (const auto& [resource, quantity] : gpus_in(node.allocatable))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", quantity.as_whole().value_or(0),
                        resource.view());
  return text.empty() ? "no GPU" : text;
}

// berth's own cordons change a rollout or health annotation, and are recorded where they are sent.
bool same_records(const Node& a, const Node& b) {
  for (const char* name : {names::kRolloutAnnotation, names::kHealthAnnotation})
    if (a.meta.annotations.get(name) != b.meta.annotations.get(name)) return false;
  return true;
}

HistoryLines tell_change(const Node& old, const Node& now) {
  HistoryLines lines;
  const auto say = [&](const char* actor, std::string what, std::string reason = {}) {
    lines.push_back({.actor = actor,
                     .object = object_of(now),
                     .what = std::move(what),
                     .reason = std::move(reason)});
  };
  if (old.cordoned() != now.cordoned() && same_records(old, now))
    say("", now.cordoned() ? "cordoned, not by berth" : "uncordoned, not by berth");
  const std::string_view state = label(now, names::kMigConfigState);
  if (state != label(old, names::kMigConfigState) && !state.empty())
    say("mig-manager", std::string(state));
  if (old.allocatable != now.allocatable && offers(old) != offers(now))
    say("", "offers " + offers(now));
  if (old.ready != now.ready) say("", now.ready ? "is Ready again" : "is NotReady");
  if (old.boot_id != now.boot_id && !old.boot_id.empty()) say("", "has rebooted");
  for (const auto& [type, why] : now.gpu_conditions)
    if (old.gpu_conditions.get(type.view()).empty()) say("", type.str(), why.str());
  return lines;
}

// For Ready, only whether it is true, not each step of the progress; for Stalled, the reason.
template <class T>
void tell_conditions(const T& old, const T& now, HistoryLines& lines) {
  const auto verdict = [](const T& object) -> const Condition* {
    const Condition* stalled = find_true(object.status.conditions, "Stalled");
    return stalled != nullptr ? stalled : find_true(object.status.conditions, "Ready");
  };
  const Condition* was = verdict(old);
  const Condition* is = verdict(now);
  if (is == nullptr && was != nullptr)
    lines.push_back({.object = object_of(now), .what = "is not " + was->type + " any more"});
  if (is == nullptr || (was != nullptr && was->type == is->type && was->reason == is->reason))
    return;
  lines.push_back({.object = object_of(now),
                   .what = "is " + is->type,
                   .reason = is->reason + ": " + is->message,
                   .cause = fmt::format("generation {}", is->observed_generation)});
}

// `old` and `now` are not both null.
template <class T>
HistoryLines tell_object(const T* old, const T* now) {
  HistoryLines lines;
  if (old == nullptr || now == nullptr) {
    const T& object = now != nullptr ? *now : *old;
    lines.push_back({.object = object_of(object), .what = now != nullptr ? "is new" : "is gone"});
    return lines;
  }
  if (old->meta.generation != now->meta.generation)
    lines.push_back({.object = object_of(*now),
                     .what = fmt::format("is changed to generation {}", now->meta.generation)});
  tell_conditions(*old, *now, lines);
  return lines;
}

// The annotation pending-reason, which begins with a reason and a colon.
std::string_view pending(const ObjectMeta& meta) {
  return meta.annotations.get(names::kPendingReasonAnnotation).view();
}

template <class T>
HistoryLines tell_pending(const T* old, const T* now) {
  if (now == nullptr || pending(now->meta).empty()) return {};
  const std::string_view is = pending(now->meta);
  const std::string_view reason = is.substr(0, is.find(':'));
  if (old != nullptr && pending(old->meta).substr(0, pending(old->meta).find(':')) == reason)
    return {};
  const std::string_view queue = now->meta.labels.get(names::kQueueLabel).view();
  return {{.actor = {},
           .object = object_of(*now),
           .what = kWaits,
           .reason = std::string(is),
           .cause = queue.empty() ? std::string() : fmt::format("GPUQueue/{}", queue)}};
}

}  // namespace

HistoryLines tell(const Node* old, const Node* now) {
  if (old != nullptr && now != nullptr) return tell_change(*old, *now);
  const Node& node = now != nullptr ? *now : *old;
  return {{.actor = {},
           .object = object_of(node),
           .what = now != nullptr ? "is new, offers " + offers(node) : std::string("is gone")}};
}

HistoryLines tell(const MIGLayout* old, const MIGLayout* now) {
  HistoryLines lines = tell_object(old, now);
  if (old == nullptr || now == nullptr) return lines;
  std::map<std::string_view, std::string_view> before;
  for (const NodeDetail& detail : old->status.details) before[detail.node] = detail.reason;
  for (const NodeDetail& detail : now->status.details) {
    const auto was = before.find(detail.node);
    if (detail.reason.empty() || (was != before.end() && was->second == detail.reason)) continue;
    lines.push_back({.object = "Node/" + detail.node,
                     .what = kWaits,
                     .reason = detail.reason + ": " + detail.message,
                     .cause = cause_of(*now)});
  }
  return lines;
}

HistoryLines tell(const GPUQueue* old, const GPUQueue* now) { return tell_object(old, now); }
HistoryLines tell(const GPUClusterPolicy* old, const GPUClusterPolicy* now) {
  return tell_object(old, now);
}
HistoryLines tell(const Job* old, const Job* now) { return tell_pending(old, now); }
HistoryLines tell(const Pod* old, const Pod* now) { return tell_pending(old, now); }

}  // namespace berth
