// SPDX-License-Identifier: Apache-2.0
// Patch: RFC 6902 as implemented in the API server's library (a `test` for null passes if the key
// is absent and its parent exists; negative indices count from the end), and RFC 7386.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace berth::sim {

// Whether the text has a character that Go's encoding/json escapes although JSON does not need it.
bool has_what_go_escapes(std::string_view text);

// Throws a Refusal: 400 for an invalid patch, 422 for one that does not apply. `escaped_as_go`: the
// patch's text has none of these characters unescaped. Otherwise a test of such a value fails,
// because the API server compares the patch's text with its own encoding of the object.
void apply_json_patch(nlohmann::json& object, const nlohmann::json& patch,
                      bool escaped_as_go = true);
void apply_merge_patch(nlohmann::json& object, const nlohmann::json& patch);

}  // namespace berth::sim
