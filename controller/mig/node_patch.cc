// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/node_patch.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/names.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/rollout_measures.h"

namespace berth {
namespace {

constexpr char kUnschedulable[] = "/spec/unschedulable";

std::optional<std::string> label_if_any(const Node& node, std::string_view key) {
  const Text* value = node.meta.labels.find(key);
  return value != nullptr ? std::optional(value->str()) : std::nullopt;
}

// Keeps the physical product and GPU count for the time when the labels describe MIG devices. It is
// a merge patch with the uid, because that also creates a missing annotations map.
Write record_inventory(const Node& node, const std::string& inventory) {
  Write write;
  write.verb = Verb::kMergePatch;
  write.object = ref_of(node);
  write.field_manager = names::kManagerMig;
  write.reason = "record the node's GPUs while its labels show them";
  write.body =
      MergePatch::same_object(node.meta).annotation(names::kInventoryAnnotation, inventory).str();
  return write;
}

}  // namespace

NodePatch::NodePatch(const Situation& situation) : s_(situation) {
  patch_.test("/metadata/uid", s_.node.meta.uid);
  if (seeded(SeededBug::kTestAbsence))
    patch_.test_absent(annotation_path(names::kRolloutAnnotation));
  else if (!seeded(SeededBug::kBlindRetry))
    patch_.test_optional(annotation_path(names::kRolloutAnnotation), s_.record.text);
}

NodePatch& NodePatch::same_cordon() {
  if (s_.node.unschedulable)
    patch_.test_bool(kUnschedulable, *s_.node.unschedulable);
  else
    patch_.test_absent(kUnschedulable);
  return *this;
}

// A user may have set the hold annotation a moment ago.
void NodePatch::same_hold() {
  const Text* hold = s_.node.meta.annotations.find(names::kHoldAnnotation);
  patch_.test_optional(annotation_path(names::kHoldAnnotation),
                       hold != nullptr ? std::optional(hold->str()) : std::nullopt);
}

NodePatch& NodePatch::cordon() {
  same_hold();
  same_cordon();
  patch_.set_bool(kUnschedulable, true);
  return *this;
}

NodePatch& NodePatch::uncordon() {
  if (!s_.node.cordoned()) return *this;
  same_hold();
  same_cordon();
  patch_.remove(kUnschedulable);
  return *this;
}

NodePatch& NodePatch::same_config() {
  for (const std::string_view key : {names::kMigConfig, names::kMigConfigState})
    patch_.test_optional(label_path(key), label_if_any(s_.node, key));
  return *this;
}

NodePatch& NodePatch::label(std::string_view mig_config) {
  same_hold();
  patch_.test_bool(kUnschedulable, true);
  same_config();
  patch_.set(label_path(names::kMigConfig), mig_config);
  if (label_if_any(s_.node, names::kMigConfigState) && !seeded(SeededBug::kKeepOldState))
    patch_.remove(label_path(names::kMigConfigState));
  return *this;
}

NodePatch& NodePatch::restore_paused_labels() {
  for (const std::string& key : paused_labels(s_.node)) {
    patch_.test(label_path(key), names::kPausedForMigChange);
    patch_.set(label_path(key), "true");
  }
  return *this;
}

NodePatch& NodePatch::hold(std::string_view why) {
  patch_.test_absent(annotation_path(names::kHoldAnnotation));
  patch_.set(annotation_path(names::kHoldAnnotation), why);
  return *this;
}

NodePatch& NodePatch::rollout(NodeRollout rollout) {
  rollout.node_uid = s_.node.meta.uid;
  rollout.node = s_.node.meta.name;
  patch_.set(annotation_path(names::kRolloutAnnotation), encode_rollout(rollout));
  record_ = std::move(rollout);
  return *this;
}

NodePatch& NodePatch::forget_rollout() {
  patch_.remove(annotation_path(names::kRolloutAnnotation));
  return *this;
}

void NodePatch::plan(Plan& plan, std::string reason, std::optional<Guard> guard) const {
  const ObjectRef node = ref_of(s_.node);
  std::optional<std::string> inventory = inventory_to_record(s_.node);
  if (inventory)
    plan.add(node, record_inventory(s_.node, *inventory));
  else if (s_.node.meta.annotations.empty())
    plan.add(node, record_inventory(s_.node, "{}"));
  if (guard) plan.add(node, *std::move(guard));
  plan.add(node, Write{.verb = Verb::kJsonPatch,
                       .object = node,
                       .body = patch_.str(),
                       .field_manager = names::kManagerMig,
                       .reason = std::move(reason),
                       .grace_period_seconds = std::nullopt});
  if (!record_) return;
  for (Observation& seen : observe_rollout(node, s_.record, *record_))
    plan.observations.push_back(std::move(seen));
}

}  // namespace berth
