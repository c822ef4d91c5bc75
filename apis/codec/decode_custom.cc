// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_custom.h"

#include <nlohmann/json.hpp>

namespace berth {

bool check_spec(const JsonCursor& object, const Field& spec) {
  const JsonCursor cursor = object["spec"];
  if (!cursor.present()) return true;
  std::vector<Complaint> complaints;
  check_field(*cursor.json(), spec, "spec", UnknownFields::kIgnore, complaints);
  if (complaints.empty()) return true;
  object.fail_at(complaints.front().path, complaints.front().message);
  return false;
}

void read_conditions(const JsonCursor& conditions, std::vector<Condition>& out) {
  for (const JsonCursor& item : conditions.items()) {
    Condition& condition = out.emplace_back();
    item["type"].read(condition.type);
    item["status"].read(condition.status);
    item["reason"].read(condition.reason);
    item["message"].read(condition.message);
    item["observedGeneration"].read(condition.observed_generation);
    item["lastTransitionTime"].read(condition.last_transition_time);
  }
}

}  // namespace berth
