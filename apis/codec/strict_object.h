// SPDX-License-Identifier: Apache-2.0
// `berth validate` for one object of berth's kinds: reports what the API server would refuse, with
// file and line. This is the common part. Each kind adds its field table, its reader and its rules.
// Only for apis/codec/*.cc.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "apis/codec/json_cursor.h"
#include "apis/codec/manifest.h"
#include "apis/kinds/fields.h"

namespace berth {

// read() gets the object and takes all readable fields; wrong ones are reported and keep their
// defaults. If every field of the spec is right, check() then checks the rules, as the server does.
std::vector<Finding> decode_strictly(const ManifestDocument& document, std::string_view file,
                                     const KindInfo& kind, const Field& spec,
                                     const std::function<void(const JsonCursor& root)>& read,
                                     const std::function<std::vector<Error>()>& check);

}  // namespace berth
