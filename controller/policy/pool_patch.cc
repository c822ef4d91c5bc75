// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/pool_patch.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"

namespace berth {
namespace {

std::optional<std::string> text_of(const std::optional<Text>& value) {
  return value ? std::optional(value->str()) : std::nullopt;
}

Write node_write(const Node& node, Verb verb, std::string body, std::string reason) {
  return {.verb = verb,
          .object = ref_of(node),
          .body = std::move(body),
          .field_manager = names::kManagerPolicy,
          .reason = std::move(reason),
          .grace_period_seconds = std::nullopt};
}

void patch_label(const PoolEdit& edit, JsonPatch& patch) {
  const std::string path = label_path(edit.item.key.view());
  patch.test_optional(path, text_of(edit.from));
  if (edit.to)
    patch.set(path, edit.to->view());
  else
    patch.remove(path);
}

std::string encode(const PoolItem& item, const Text& value) {
  const std::string text =
      value.empty() ? std::string() : fmt::format(R"("value":{},)", quote_json(value.view()));
  return fmt::format(R"({{"key":{},{}"effect":{}}})", quote_json(item.key.view()), text,
                     quote_json(item.effect.view()));
}

// Changes taints by index and tests key and effect of each, so that other writers' taints stay with
// all their fields. It goes from last to first, so that no index moves before it is used.
void patch_standing_taints(const Node& node, const std::vector<PoolEdit>& edits, JsonPatch& patch) {
  for (std::size_t i = node.taints.size(); i-- > 0;) {
    const Taint& taint = node.taints[i];
    const auto edit = std::ranges::find_if(edits, [&](const PoolEdit& e) {
      return e.item.key == taint.key && e.item.effect == taint.effect;
    });
    if (edit == edits.end()) continue;
    const std::string place = fmt::format("/spec/taints/{}", i);
    patch.test(place + "/key", taint.key.view()).test(place + "/effect", taint.effect.view());
    patch.test_optional(place + "/value",
                        taint.value.empty() ? std::nullopt : std::optional(taint.value.str()));
    if (!edit->to)
      patch.remove(place);
    else
      patch.set_json(place, encode(edit->item, *edit->to), JsonPatch::Op::kReplace);
  }
}

// The API server itself rejects a second taint with the same key and effect.
void patch_new_taints(const Node& node, const std::vector<PoolEdit>& edits, JsonPatch& patch) {
  std::string list;
  for (const PoolEdit& edit : edits) {
    if (edit.from || !edit.to) continue;
    const std::string taint = encode(edit.item, *edit.to);
    if (!node.taints.empty())
      patch.set_json("/spec/taints/-", taint);
    else
      list += (list.empty() ? "" : ",") + taint;
  }
  if (list.empty()) return;
  patch.test_absent("/spec/taints");
  patch.set_json("/spec/taints", "[" + list + "]");
}

}  // namespace

void plan_pool_patch(const Node& node, const PoolChange& change, std::string reason, Plan& plan) {
  std::optional<std::string> record;
  if (const Text* text = node.meta.annotations.find(names::kPoolKeysAnnotation))
    record = text->str();
  if (node.meta.annotations.empty()) {
    record = encode_pool_keys({});
    plan.add(ref_of(node), node_write(node, Verb::kMergePatch,
                                      MergePatch::same_version(node.meta)
                                          .annotation(names::kPoolKeysAnnotation, *record)
                                          .str(),
                                      reason));
  }
  JsonPatch patch;
  patch.test("/metadata/uid", node.meta.uid);
  patch.test_optional(annotation_path(names::kPoolKeysAnnotation), record);
  std::vector<PoolEdit> taints;
  for (const PoolEdit& edit : change.edits) {
    if (edit.item.is_label())
      patch_label(edit, patch);
    else
      taints.push_back(edit);
  }
  patch_standing_taints(node, taints, patch);
  patch_new_taints(node, taints, patch);
  if (change.record)
    patch.set(annotation_path(names::kPoolKeysAnnotation), *change.record);
  else
    patch.remove(annotation_path(names::kPoolKeysAnnotation));
  plan.add(ref_of(node), node_write(node, Verb::kJsonPatch, patch.str(), std::move(reason)));
}

}  // namespace berth
