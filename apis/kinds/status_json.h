// SPDX-License-Identifier: Apache-2.0
// StatusJson: encodes parts that every kind's status has. Only for apis/kinds/*.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apis/kinds/meta.h"

namespace berth {

using StatusJson = nlohmann::ordered_json;

// The server refuses a whole status if one message is longer than limits::kMaxMessage. So this
// shortens the message, but never inside a character.
std::string clip(const std::string& message);

StatusJson encode(const std::vector<Condition>& conditions);

// A message may quote foreign bytes. dump() replaces invalid UTF-8 and never throws for it.
std::string dump(const StatusJson& json);

// The body of a merge patch of the status. Its precondition is the resourceVersion of `read`.
std::string dump_status_patch(const ObjectMeta& read, StatusJson status);

}  // namespace berth
