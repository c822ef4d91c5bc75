// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/layout_events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "controller/core/conditions.h"

namespace berth {
namespace {

constexpr std::size_t kNamed = 3;

const Condition* find_ready(const MIGLayoutStatus& status) {
  const auto found = std::ranges::find(status.conditions, "Ready", &Condition::type);
  return found == status.conditions.end() ? nullptr : &*found;
}

bool is_ready(const MIGLayoutStatus& status) {
  return find_true(status.conditions, "Ready") != nullptr;
}

bool is_deleting(const MIGLayoutStatus& status) {
  const Condition* ready = find_ready(status);
  return ready != nullptr && ready->reason == reasons::kDeleting;
}

bool is_rolling(const MIGLayoutStatus& status) {
  const Condition* going = find_true(status.conditions, "Reconciling");
  return going != nullptr && going->reason == reasons::kRollingOut;
}

// Returns why the rollout makes no progress; nullptr if it does, or is finished.
const Condition* obstacle_of(const MIGLayoutStatus& status) {
  if (const Condition* stalled = find_true(status.conditions, "Stalled")) return stalled;
  if (const Condition* waits = find_true(status.conditions, "Reconciling"))
    return waits->reason == reasons::kRollingOut || waits->reason == reasons::kDeleting ? nullptr
                                                                                        : waits;
  const Condition* ready = find_ready(status);
  const bool stopped = ready != nullptr && (ready->reason == reasons::kPaused ||
                                            ready->reason == reasons::kOperationsStopped);
  return stopped ? ready : nullptr;
}

// Whether the node has its config and does not show it yet. A restarting device plugin is not a
// rollout.
bool has_config(const NodeDetail& detail) {
  return detail.phase == "Waiting" &&
         (detail.reason == reasons::kAllocatableMismatch ||
          detail.reason == reasons::kAgentPending || detail.reason == reasons::kAgentFailed);
}

// Whether nodes still have to be changed.
bool is_open(const MIGLayoutStatus& status) {
  return !is_ready(status) && !std::ranges::all_of(status.details, has_config);
}

// Whether the current rollout had already started: a node was changed, or was in progress.
bool had_started(const MIGLayoutStatus& was, const MIGLayoutStatus& next) {
  const NodeCounts& nodes = was.nodes;
  return is_open(was) && was.config_hash == next.config_hash &&
         (is_rolling(was) || nodes.updated + nodes.in_progress + nodes.failed > 0);
}

class Telling {
 public:
  Telling(const MIGLayout& layout, const MIGLayoutStatus& next, const RolloutChoice& choice)
      : layout_(layout), was_(layout.status), next_(next), choice_(choice) {}

  std::vector<EventNote> events() {
    if (is_deleting(next_)) {
      if (!is_deleting(was_)) tell(false, reasons::kDeleting, find_ready(next_)->message);
      return std::move(events_);
    }
    tell_start();
    tell_updated();
    const bool failed = tell_failed();
    tell_obstacle(failed);
    tell_end();
    return std::move(events_);
  }

 private:
  void tell(bool warning, const char* reason, std::string note) {
    events_.push_back({ref_of(layout_), warning, reason, "Rollout", std::move(note)});
  }

  void tell_start() {
    if (!is_rolling(next_) || !is_open(next_) || had_started(was_, next_)) return;
    tell(false, reasons::kRolloutStarted,
         fmt::format("{} of {} nodes are to be changed, at most {} unavailable at once",
                     next_.nodes.selected - next_.nodes.updated, next_.nodes.selected,
                     choice_.budget));
  }

  // Reports the nodes that the current status lists as not up to date.
  void tell_updated() {
    const auto name_of = [](const NodeStanding& node) -> const std::string& {
      return node.node->meta.name;
    };
    std::vector<std::string_view> done;
    for (const NodeDetail& was : was_.details) {
      const auto now = std::ranges::lower_bound(choice_.nodes, was.node, {}, name_of);
      if (now != choice_.nodes.end() && name_of(*now) == was.node &&
          now->bucket == NodeBucket::kUpdated && !has_config(was))
        done.push_back(was.node);
    }
    if (done.empty()) return;
    std::ranges::sort(done);
    const std::size_t more = done.size() - std::min(done.size(), kNamed);
    const std::size_t all = done.size();
    done.resize(all - more);
    tell(false, reasons::kNodeUpdated,
         fmt::format("node{} {}{} updated, {} of {}", all == 1 ? "" : "s", fmt::join(done, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more), next_.nodes.updated,
                     next_.nodes.selected));
  }

  bool tell_failed() {
    bool any = false;
    for (const NodeDetail& detail : next_.details) {
      if (detail.reason != reasons::kNodeFailed) continue;
      const auto was = std::ranges::find(was_.details, detail.node, &NodeDetail::node);
      if (was != was_.details.end() && was->reason == reasons::kNodeFailed) continue;
      tell(true, reasons::kNodeFailed, fmt::format("{}: {}", detail.node, detail.message));
      any = true;
    }
    return any;
  }

  // Reports each reason once, and again if an edit of the spec changed the message.
  void tell_obstacle(bool failed) {
    const Condition* now = obstacle_of(next_);
    if (now == nullptr || (failed && now->reason == reasons::kNodeFailed)) return;
    const Condition* before = obstacle_of(was_);
    const bool same = before != nullptr && before->reason == now->reason &&
                      (before->observed_generation == now->observed_generation ||
                       before->message == now->message);
    if (same) return;
    tell(now->type == "Stalled", reasons::kRolloutBlocked,
         fmt::format("{}: {}", now->reason, now->message));
  }

  void tell_end() {
    if (!is_ready(next_) || is_ready(was_)) return;
    if (!was_.conditions.empty() && !is_open(was_) && obstacle_of(was_) == nullptr) return;
    tell(false, reasons::kRolloutFinished, find_ready(next_)->message);
  }

  const MIGLayout& layout_;
  const MIGLayoutStatus& was_;
  const MIGLayoutStatus& next_;
  const RolloutChoice& choice_;
  std::vector<EventNote> events_;
};

}  // namespace

std::vector<EventNote> layout_events(const MIGLayout& layout, const MIGLayoutStatus& next,
                                     const RolloutChoice& choice) {
  return Telling(layout, next, choice).events();
}

}  // namespace berth
