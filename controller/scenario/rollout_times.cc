// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/rollout_times.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/scenario/phases.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kNotYet{-1};

NodeOut::End end_from(RolloutPhase phase) {
  switch (phase) {
    case RolloutPhase::kApplying:
      return NodeOut::End::kRepartitioned;
    case RolloutPhase::kRollingBack:
      return NodeOut::End::kRolledBack;
    case RolloutPhase::kFailed:
      return NodeOut::End::kFailed;
    default:
      return NodeOut::End::kPutBack;
  }
}

// Splits the node's time at the known moments.
void split(NodeOut& out, milliseconds label, milliseconds said, milliseconds end) {
  const milliseconds drained = label == kNotYet ? end : label;
  const milliseconds spoken = said == kNotYet || said < drained ? end : said;
  out.drain = drained - out.taken;
  out.agent = spoken - drained;
  out.verify = end - spoken;
}

}  // namespace

const char* to_string(NodeOut::End end) {
  switch (end) {
    case NodeOut::End::kRepartitioned:
      return "Repartitioned";
    case NodeOut::End::kRolledBack:
      return "RolledBack";
    case NodeOut::End::kPutBack:
      return "PutBack";
    case NodeOut::End::kFailed:
      return "Failed";
    case NodeOut::End::kGone:
      return "Gone";
    case NodeOut::End::kStillOut:
      return "StillOut";
  }
  return "?";
}

RolloutTimes::RolloutTimes(ScenarioRun& run) : run_(run) {
  run_.simulation().store().observe([this](const sim::Change& change) {
    if (change.key.type->plural == "nodes") on_node(change);
  });
}

milliseconds RolloutTimes::now() const {
  return std::chrono::duration_cast<milliseconds>(run_.elapsed());
}

void RolloutTimes::on_node(const sim::Change& change) {
  const std::string& name = change.key.name;
  const RolloutRecord record = rollout_of(*change.after);
  const RolloutPhase phase = record.rollout ? record.rollout->phase : RolloutPhase::kIdle;
  auto it = under_way_.find(name);
  if (it == under_way_.end()) {
    if (phase == RolloutPhase::kIdle || change.kind == sim::Change::Kind::kDeleted) return;
    it = under_way_.emplace(name, Under{outs_.size(), kNotYet, kNotYet}).first;
    outs_.push_back({.node = name, .layout = record.rollout->layout, .taken = now()});
  }
  Under& under = it->second;
  NodeOut& out = outs_[under.index];
  const bool applying = phase == RolloutPhase::kApplying || phase == RolloutPhase::kRollingBack;
  if (applying && under.label == kNotYet) under.label = now();
  const std::string state =
      sim::text_at(*change.after, {"metadata", "labels", names::kMigConfigState});
  const std::string before =
      change.before ? sim::text_at(*change.before, {"metadata", "labels", names::kMigConfigState})
                    : "";
  if (applying && state != before && (state == "success" || state == "failed")) under.said = now();
  if (phase == RolloutPhase::kFailed && out.end != NodeOut::End::kFailed) {
    out.end = NodeOut::End::kFailed;
    split(out, under.label, under.said, now());
  }
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  if (phase != RolloutPhase::kIdle && !gone) return;
  const RolloutRecord old = change.before ? rollout_of(*change.before) : RolloutRecord{};
  if (out.end != NodeOut::End::kFailed) {
    out.end = gone          ? NodeOut::End::kGone
              : old.rollout ? end_from(old.rollout->phase)
                            : NodeOut::End::kPutBack;
    split(out, under.label, under.said, now());
  }
  under_way_.erase(it);
}

std::vector<NodeOut> RolloutTimes::all() const {
  std::vector<NodeOut> outs = outs_;
  for (const auto& [node, under] : under_way_)
    if (outs[under.index].end == NodeOut::End::kStillOut)
      split(outs[under.index], under.label, under.said, now());
  return outs;
}

milliseconds wall_of(const std::vector<NodeOut>& outs) {
  milliseconds end{0};
  for (const NodeOut& out : outs) end = std::max(end, out.taken + out.total());
  return outs.empty() ? milliseconds{0} : end - outs.front().taken;
}

}  // namespace berth
