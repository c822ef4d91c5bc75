// SPDX-License-Identifier: Apache-2.0
// NodeRollout: what berth records about a node's rollout, in the node's own annotation
// gpu.berth.dev/mig-rollout. Once set, it stays, with phase Idle between rollouts. So attempts,
// backoff and the sequence number survive aborts and restarts. Every patch of a node tests its
// exact old text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/kinds/core.h"

namespace berth {

// The recorded phases. Draining, Verifying, Waiting, UpToDate, Restored and Retrying are derived
// from facts.
enum class RolloutPhase {
  kIdle,         // no rollout in progress
  kCordoned,     // taken and cordoned: its pods leave, then the label is written
  kApplying,     // the label is written: mig-manager works, then allocatable is verified
  kRollingBack,  // the same with the previous config
  kFailed,       // given up; the node stays out of service
};
const char* to_string(RolloutPhase phase);

struct NodeRollout {
  // Rises each time the node is taken; a slot with at most this seq is done.
  std::int64_t seq = 0;
  std::int64_t epoch = 0;  // of the leader that took it
  // The node that it was written for; empty: by a berth that did not record it.
  std::string node_uid;
  std::string node;  // its name
  std::string layout_uid;
  std::string layout;    // its name, for users
  std::string config;    // being applied, or last applied
  std::string previous;  // what nvidia.com/mig.config named before
  RolloutPhase phase = RolloutPhase::kIdle;
  Time since{};               // start of the phase; in Applying and RollingBack the label write
  std::optional<Time> taken;  // time of the cordon
  // Idle, Cordoned: aborted drains; otherwise: label writes after the first.
  std::int64_t attempt = 0;
  // Idle: earliest next taking; Applying: earliest next label write.
  std::optional<Time> not_before;
  std::int64_t reasserts = 0;  // how often berth has overwritten another user's mig.config
  // berth made the cordon, so berth uncordons. In Idle: the change failed, the node was released as
  // it was, and its cordon is still berth's.
  bool berth_cordoned = false;
  std::string failed_config;  // given up; not tried again until the layout changes
  std::string why;            // why it failed, or was given up before notBefore; for users
  std::string cause;          // Idle, before notBefore: the reason that belongs to `why`
  bool operator==(const NodeRollout&) const = default;
};

// Returns JSON with members in a fixed order.
std::string encode_rollout(const NodeRollout& rollout);
// Returns nothing if the text is not such an annotation: a user may have edited it.
std::optional<NodeRollout> decode_rollout(std::string_view text);

// The annotation as it is on a node.
struct RolloutRecord {
  std::optional<std::string> text;     // nothing: never set
  std::optional<NodeRollout> rollout;  // nothing: never set, unreadable, or another node's
  // Another node's record, for example on a machine created from an image of a live node. It does
  // not count.
  bool foreign = false;
  // A foreign record that berth wrote for a node of this name: a user deleted that node and created
  // this one from a copy of it.
  std::optional<NodeRollout> predecessor;
  bool unreadable() const { return text && !rollout && !foreign; }
  bool idle() const { return !rollout || rollout->phase == RolloutPhase::kIdle; }
  // Whether the node was released after a failure and is still cordoned by berth.
  bool kept_out() const { return rollout && idle() && rollout->berth_cordoned; }
  std::int64_t seq() const { return rollout ? rollout->seq : 0; }
};
RolloutRecord read_rollout(const Node& node);

}  // namespace berth
