// SPDX-License-Identifier: Apache-2.0
// Patches: RFC 6902 as the API server's library reads it (a `test` for null passes where the key is
// absent and its parent exists; negative indices count from the end), and RFC 7386.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace berth::sim {

// A character that encoding/json of Go writes as an escape, though JSON does not need one.
bool has_what_go_escapes(std::string_view text);

// Throws a Refusal: 400 for what is no patch, 422 for one that does not apply. `escaped_as_go`: the
// patch's text has no such character as it is. A test of one fails then: the API server compares
// the text of the patch with the text that it encodes the object as.
void apply_json_patch(nlohmann::json& object, const nlohmann::json& patch,
                      bool escaped_as_go = true);
void apply_merge_patch(nlohmann::json& object, const nlohmann::json& patch);

}  // namespace berth::sim
