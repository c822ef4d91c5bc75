// SPDX-License-Identifier: Apache-2.0
// Patches: RFC 6902 as the API server's library reads it (a `test` for null passes where the key is
// absent and its parent exists; negative indices count from the end), and RFC 7386.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace berth::sim {

// Throws a Refusal: 400 for what is no patch, 422 for one that does not apply.
void apply_json_patch(nlohmann::json& object, const nlohmann::json& patch);
void apply_merge_patch(nlohmann::json& object, const nlohmann::json& patch);

}  // namespace berth::sim
