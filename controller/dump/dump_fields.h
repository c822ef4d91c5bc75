// SPDX-License-Identifier: Apache-2.0
// Which fields of each kind a dump keeps: those that decode.h reads.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace berth {

// The object with nothing in it but the kept fields, apiVersion and kind among them. A kind that
// dumps don't hold gives null.
nlohmann::json trimmed(const nlohmann::json& object, std::string_view kind);

}  // namespace berth
