// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/rollouts.h"

#include <utility>

#include "apis/base/names.h"

namespace berth {
namespace {

const Text* text_of(const Node& node) {
  return node.meta.annotations.find(names::kRolloutAnnotation);
}

// Relies on the annotation's own form (fixed order, no spaces). One that a user has edited counts
// as in progress until it is parsed.
bool says_idle(std::string_view rollout) {
  constexpr std::string_view kPhase = R"("phase":"Idle")", kMark = R"(Idle")";
  // Searches from the rarest letter.
  for (std::size_t at = rollout.find(kMark); at != rollout.npos; at = rollout.find(kMark, at + 1))
    if (rollout.substr(0, at + kMark.size()).ends_with(kPhase)) return true;
  return false;
}

// Whether both have the same text for the same node, so that the parsed record stays valid.
bool same_record(const Node& old, const Node& now) {
  const Text* before = text_of(old);
  const Text* after = text_of(now);
  return before != nullptr && after != nullptr && *before == *after && old.meta.uid == now.meta.uid;
}

}  // namespace

void Rollouts::follow(const Change<Node>& change) {
  std::optional<RolloutRecord> known;
  if (change.old != nullptr) {
    under_way_.erase(change.old);
    with_failures_.erase(change.old);
    if (auto kept = records_.extract(change.old);
        kept && change.now != nullptr && same_record(*change.old, *change.now))
      known = std::move(kept.mapped());
  }
  if (change.now == nullptr) return;
  const Node& node = *change.now;
  const Text* text = text_of(node);
  if (text == nullptr) return;
  const RolloutRecord& record =
      records_.emplace(&node, known ? *std::move(known) : read_rollout(node)).first->second;
  if (!says_idle(text->view())) under_way_.insert(&node);
  if (record.rollout && !record.rollout->failed_config.empty()) with_failures_.insert(&node);
}

const RolloutRecord* Rollouts::find(const Node& node) const {
  const auto kept = records_.find(&node);
  return kept == records_.end() ? nullptr : &kept->second;
}

RolloutRecord read_rollout(const ClusterState& cluster, const Node& node) {
  const RolloutRecord* kept = cluster.view<Rollouts>().find(node);
  return kept != nullptr ? *kept : read_rollout(node);
}

}  // namespace berth
