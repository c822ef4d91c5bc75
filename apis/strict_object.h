// SPDX-License-Identifier: Apache-2.0
// `berth validate` for one object of ours: what the API server would refuse, said with file and
// line. This is what the kinds have in common; what is a kind's own is its field table, its reader
// and its rules. Only for apis/*.cc.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "apis/fields.h"
#include "apis/json_cursor.h"
#include "apis/manifest.h"

namespace berth {

// read() gets the object to take what can be read of it: what is wrong is complained of, and keeps
// its default. check() is asked for the rules then, as on the server, if the spec's fields are each
// right.
std::vector<Finding> decode_strictly(const ManifestDocument& document, std::string_view file,
                                     const KindInfo& kind, const Field& spec,
                                     const std::function<void(const JsonCursor& root)>& read,
                                     const std::function<std::vector<Error>()>& check);

}  // namespace berth
