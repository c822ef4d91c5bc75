// SPDX-License-Identifier: Apache-2.0
// What every kind's status is encoded with. Only for apis/*.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apis/meta.h"

namespace berth {

using StatusJson = nlohmann::ordered_json;

// The server refuses a message longer than limits::kMaxMessage, and with it the whole status. Cut
// between characters, never inside one.
std::string clip(const std::string& message);

StatusJson encode(const std::vector<Condition>& conditions);

// A message may quote foreign bytes: what is no UTF-8 is replaced, never thrown over.
std::string dump(const StatusJson& json);

// The body of a merge patch of the status: only the version of the object that was read takes it.
std::string dump_status_patch(const ObjectMeta& read, StatusJson status);

}  // namespace berth
