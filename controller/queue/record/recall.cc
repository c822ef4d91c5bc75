// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/recall.h"

#include <fmt/format.h>

#include <chrono>

#include "controller/core/flat_json.h"
#include "controller/core/json_patch.h"
#include "controller/queue/facts/backoff.h"

namespace berth::queue {
namespace {

constexpr std::string_view kRecallKey = "recall.";

std::string quoted_moment(std::int64_t microseconds) {
  return quote_json(format_micro_time(Time(std::chrono::microseconds(microseconds))));
}

// Returns 0 if the member does not exist, and nothing if it is not a time.
std::optional<std::int64_t> read_moment(FlatJson& json, std::string_view key) {
  const std::string text = json.string(key);
  if (text.empty()) return 0;
  const Result<Time> time = parse_time(text);
  return time ? std::optional(time->time_since_epoch().count()) : std::nullopt;
}

}  // namespace

std::string recall_key(std::string_view uid) { return std::string(kRecallKey).append(uid); }

bool is_recall_key(std::string_view key) { return key.starts_with(kRecallKey); }

std::string encode_recall(const RecallFact& recall) {
  std::string text =
      fmt::format(R"({{"version":{},"workload":{},"since":{},"at":{},"age":{},"why":{})",
                  recall.version, quote_json(recall.workload), quoted_moment(recall.since),
                  quoted_moment(recall.at), quoted_moment(recall.age), quote_json(recall.why));
  if (recall.times != 0) text += fmt::format(R"(,"times":{})", recall.times);
  if (recall.until != 0) text += R"(,"until":)" + quoted_moment(recall.until);
  if (!recall.first.empty()) text += R"(,"first":)" + quote_json(recall.first);
  return text + '}';
}

std::optional<RecallFact> decode_recall(std::string_view text) {
  auto json = FlatJson::parse(text);
  if (!json) return std::nullopt;
  RecallFact recall{.version = json->number("version"),
                    .workload = json->string("workload"),
                    .why = json->string("why"),
                    .times = json->number("times"),
                    .first = json->string("first")};
  const auto since = read_moment(*json, "since"), at = read_moment(*json, "at"),
             age = read_moment(*json, "age"), until = read_moment(*json, "until");
  const bool whole = since && at && age && until && *at != 0 && recall.times >= 0;
  if (json->wrong() || !whole || recall.workload.empty()) return std::nullopt;
  recall.since = *since, recall.at = *at, recall.age = *age, recall.until = *until;
  return recall;
}

// Keeps the number of setbacks in a row, or starts again from 0 after the last one.
RecallFact recall_for_loss(const RecallFact* before, RecallFact next) {
  next.times = before == nullptr || before->times >= kMostSetbacks ? 0 : before->times;
  return next;
}

RecallFact recall_for_setback(const RecallFact* before, RecallFact next) {
  next.times = recall_for_loss(before, next).times + 1;
  if (next.times >= kMostSetbacks) return next;
  const Time until = Time(std::chrono::microseconds(next.at)) + backoff_after(next.times);
  next.until = std::chrono::ceil<std::chrono::seconds>(until.time_since_epoch()) /
               std::chrono::microseconds(1);
  return next;
}

}  // namespace berth::queue
