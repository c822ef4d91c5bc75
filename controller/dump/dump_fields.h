// SPDX-License-Identifier: Apache-2.0
// Which fields of each kind a dump keeps: those that decode.h reads.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace berth {

// The object with only the kept fields, including apiVersion and kind. Null for a kind that dumps
// don't hold.
nlohmann::json trimmed(const nlohmann::json& object, std::string_view kind);

}  // namespace berth
