// SPDX-License-Identifier: Apache-2.0
// NodeRollout: what berth remembers of a node, in the node's own annotation
// gpu.berth.dev/mig-rollout. Once set it stays, phase Idle when nothing is going on, so that
// attempts, backoff and the sequence number survive aborts and restarts. Every patch of a node
// tests its exact old text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/core.h"

namespace berth {

// The phases that are written down. Draining, Verifying, Waiting, UpToDate, Restored and Retrying
// are told from facts.
enum class RolloutPhase {
  kIdle,         // nothing going on
  kCordoned,     // taken and cordoned: its pods leave, then the label is written
  kApplying,     // the label is written: the agent works, then allocatable is verified
  kRollingBack,  // the same with the previous config
  kFailed,       // given up; stays out
};
const char* to_string(RolloutPhase phase);

struct NodeRollout {
  std::int64_t seq = 0;    // rises with every taking; a slot of at most this seq is done with
  std::int64_t epoch = 0;  // of the leader that took it
  std::string node_uid;    // the node it was written for; empty: by a berth that did not say
  std::string node;        // its name
  std::string layout_uid;
  std::string layout;    // its name, for people
  std::string config;    // being applied, or last applied
  std::string previous;  // what nvidia.com/mig.config named before
  RolloutPhase phase = RolloutPhase::kIdle;
  Time since{};               // the phase's begin; in Applying and RollingBack the label write
  std::optional<Time> taken;  // the cordon
  std::int64_t attempt = 0;   // Idle, Cordoned: drains aborted; else: label writes after the first
  std::optional<Time> not_before;  // Idle: of the next taking; Applying: of the next label write
  std::int64_t reasserts = 0;      // how often a foreign mig.config was overwritten
  // By berth, so berth uncordons. Idle: a node whose change failed was let go as it stands, and its
  // cordon is still berth's.
  bool berth_cordoned = false;
  std::string failed_config;  // given up on; not tried again until the layout changes
  std::string why;            // of Failed, and of what was given up before notBefore, for people
  std::string cause;          // Idle, before notBefore: the reason's word for `why`
  bool operator==(const NodeRollout&) const = default;
};

// JSON in a fixed key order.
std::string encode_rollout(const NodeRollout& rollout);
// Nothing if the text is no such annotation: a person may have edited it.
std::optional<NodeRollout> decode_rollout(std::string_view text);

// The annotation as it stands on a node.
struct RolloutRecord {
  std::optional<std::string> text;     // nothing: never set
  std::optional<NodeRollout> rollout;  // nothing: never set, unreadable, or another node's
  // Another node's, as a machine has that was made from the picture of a live one: no record.
  bool foreign = false;
  // A foreign record that berth wrote for a node of this name: somebody deleted that node and
  // created this one from a copy of it.
  std::optional<NodeRollout> predecessor;
  bool unreadable() const { return text && !rollout && !foreign; }
  bool idle() const { return !rollout || rollout->phase == RolloutPhase::kIdle; }
  // Let go after a failure, in a cordon of berth's.
  bool kept_out() const { return rollout && idle() && rollout->berth_cordoned; }
  std::int64_t seq() const { return rollout ? rollout->seq : 0; }
};
RolloutRecord read_rollout(const Node& node);

}  // namespace berth
