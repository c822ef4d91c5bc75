// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/rollout_annotation.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/kinds/mig_layout.h"
#include "controller/core/conditions.h"
#include "controller/core/flat_json.h"
#include "controller/core/ledger_epoch.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

constexpr RolloutPhase kPhases[] = {RolloutPhase::kIdle, RolloutPhase::kCordoned,
                                    RolloutPhase::kApplying, RolloutPhase::kRollingBack,
                                    RolloutPhase::kFailed};

class Encoder {
 public:
  Encoder& number(std::string_view key, std::int64_t value) {
    return raw(key, std::to_string(value));
  }
  Encoder& boolean(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  Encoder& text(std::string_view key, std::string_view value) {
    return value.empty() ? *this : raw(key, flat_json_string(value));
  }
  Encoder& time(std::string_view key, const std::optional<Time>& value) {
    return value ? text(key, format_micro_time(*value)) : *this;
  }
  std::string str() const { return "{" + members_ + "}"; }

 private:
  Encoder& raw(std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(members_), "{}\"{}\":{}", members_.empty() ? "" : ",", key,
                   value);
    return *this;
  }
  std::string members_;
};

std::optional<Time> read_time(FlatJson& json, std::string_view key, bool& wrong) {
  if (!json.has(key)) return std::nullopt;
  Result<Time> time = parse_time(json.string(key));
  if (time) return *time;
  wrong = true;
  return std::nullopt;
}

}  // namespace

const char* to_string(RolloutPhase phase) {
  switch (phase) {
    case RolloutPhase::kIdle:
      return "Idle";
    case RolloutPhase::kCordoned:
      return "Cordoned";
    case RolloutPhase::kApplying:
      return "Applying";
    case RolloutPhase::kRollingBack:
      return "RollingBack";
    case RolloutPhase::kFailed:
      return "Failed";
  }
  return "?";
}

std::string encode_rollout(const NodeRollout& r) {
  return Encoder()
      .number("seq", r.seq)
      .number("epoch", r.epoch)
      .text("uid", r.node_uid)
      .text("node", r.node)
      .text("layoutUID", r.layout_uid)
      .text("layout", r.layout)
      .text("config", r.config)
      .text("previous", r.previous)
      .text("phase", to_string(r.phase))
      .time("since", r.since)
      .time("taken", r.taken)
      .number("attempt", r.attempt)
      .time("notBefore", r.not_before)
      .number("reasserts", r.reasserts)
      .boolean("berthCordoned", r.berth_cordoned)
      .text("failedConfig", r.failed_config)
      .text("why", cut_before_advice(r.why, limits::kMaxMessage))
      .text("cause", r.cause)
      .str();
}

std::optional<NodeRollout> decode_rollout(std::string_view text) {
  std::optional<FlatJson> json = FlatJson::parse(text);
  if (!json) return std::nullopt;
  bool wrong = false;
  NodeRollout r;
  r.seq = json->number("seq");
  r.epoch = json->number("epoch");
  r.node_uid = json->string("uid");
  r.node = json->string("node");
  r.layout_uid = json->string("layoutUID");
  r.layout = json->string("layout");
  r.config = json->string("config");
  r.previous = json->string("previous");
  const std::string phase = json->string("phase");
  auto known = std::ranges::find_if(kPhases, [&](RolloutPhase p) { return phase == to_string(p); });
  if (known == std::end(kPhases)) return std::nullopt;
  r.phase = *known;
  std::optional<Time> since = read_time(*json, "since", wrong);
  if (!since) return std::nullopt;
  r.since = *since;
  r.taken = read_time(*json, "taken", wrong);
  r.attempt = json->number("attempt");
  r.not_before = read_time(*json, "notBefore", wrong);
  r.reasserts = json->number("reasserts");
  r.berth_cordoned = json->boolean("berthCordoned");
  r.failed_config = json->string("failedConfig");
  r.why = json->string("why");
  r.cause = json->string("cause");
  if (wrong || json->wrong()) return std::nullopt;
  for (std::int64_t counter : {r.seq, r.epoch, r.attempt, r.reasserts})
    if (counter < 0 || counter >= kMaxCounter) return std::nullopt;
  // A version of berth that did not record the node's uid left this set after a user had uncordoned
  // the node.
  if (r.phase == RolloutPhase::kIdle && r.node_uid.empty()) r.berth_cordoned = false;
  return r;
}

RolloutRecord read_rollout(const Node& node) {
  RolloutRecord record;
  const Text* text = node.meta.annotations.find(names::kRolloutAnnotation);
  if (text == nullptr) return record;
  record.text = text->str();
  record.rollout = decode_rollout(text->view());
  record.foreign = record.rollout && !record.rollout->node_uid.empty() &&
                   record.rollout->node_uid != node.meta.uid && !seeded(SeededBug::kTrustAnyRecord);
  if (!record.foreign) return record;
  if (record.rollout->node == node.meta.name) record.predecessor = std::move(record.rollout);
  record.rollout.reset();
  return record;
}

}  // namespace berth
