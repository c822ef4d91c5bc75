// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/health_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/time.h"
#include "controller/core/flat_json.h"
#include "controller/core/ledger_epoch.h"

namespace berth {
namespace {

constexpr HealthPhase kHealthPhases[] = {HealthPhase::kReported, HealthPhase::kCordoned,
                                         HealthPhase::kOverruled, HealthPhase::kRecovered};

}  // namespace

const char* to_string(HealthPhase phase) {
  switch (phase) {
    case HealthPhase::kReported:
      return "Reported";
    case HealthPhase::kCordoned:
      return "Cordoned";
    case HealthPhase::kOverruled:
      return "Overruled";
    case HealthPhase::kRecovered:
      return "Recovered";
  }
  return "?";
}

std::string encode_health(const HealthRecord& record) {
  return fmt::format(
      R"({{"uid":{},"phase":"{}","since":"{}","last":"{}","keys":{}{},"findings":{},"cordons":{},"gpus":{}{}}})",
      flat_json_string(record.node_uid), to_string(record.phase), format_micro_time(record.since),
      format_micro_time(record.last), flat_json_string(record.keys),
      record.seen.empty() ? std::string()
                          : fmt::format(R"(,"seen":{})", flat_json_string(record.seen)),
      flat_json_string(record.findings), record.cordons, record.gpus,
      record.proofs == 0 ? std::string()
                         : fmt::format(R"(,"proofs":{},"proof":{})", record.proofs,
                                       flat_json_string(record.proof)));
}

std::optional<HealthRecord> decode_health(std::string_view text) {
  std::optional<FlatJson> json = FlatJson::parse(text);
  if (!json) return std::nullopt;
  HealthRecord record;
  const std::string phase = json->string("phase");
  const auto* known =
      std::ranges::find_if(kHealthPhases, [&](HealthPhase p) { return phase == to_string(p); });
  const Result<Time> since = parse_time(json->string("since"));
  const Result<Time> last = parse_time(json->string("last"));
  if (known == std::end(kHealthPhases) || !since || !last) return std::nullopt;
  record.phase = *known;
  record.since = *since;
  record.last = *last;
  record.node_uid = json->string("uid");
  record.keys = json->string("keys");
  record.seen = json->string("seen");
  record.findings = json->string("findings");
  record.cordons = json->number("cordons");
  record.gpus = json->number("gpus");
  record.proofs = json->number("proofs");
  record.proof = json->string("proof");
  if (json->wrong()) return std::nullopt;
  for (const std::int64_t counter : {record.cordons, record.gpus, record.proofs})
    if (counter < 0 || counter >= kMaxCounter) return std::nullopt;
  return record;
}

std::optional<HealthRecord> health_of(const Node& node) {
  const Text* text = node.meta.annotations.find(names::kHealthAnnotation);
  if (text == nullptr) return std::nullopt;
  std::optional<HealthRecord> record = decode_health(text->view());
  if (record && record->node_uid != node.meta.uid) return std::nullopt;
  return record;
}

bool is_out_for_health(const Node& node) {
  if (!node.cordoned()) return false;
  const std::optional<HealthRecord> record = health_of(node);
  return record && record->phase == HealthPhase::kCordoned;
}

}  // namespace berth
