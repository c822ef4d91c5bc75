// SPDX-License-Identifier: Apache-2.0
// What berth reads of an object of its own that anybody may have sent, as a document: who it is,
// and of the spec what the kind's table knows. What the table doesn't know, and the server would
// drop, is never copied, and a list or map that is longer than the table has it refuses the object
// before any of its items is read.
#pragma once

#include <simdjson.h>

#include <nlohmann/json_fwd.hpp>

#include "apis/fields.h"
#include "apis/result.h"

namespace berth {

// {"metadata":{…},"spec":{…}}; what is of the wrong type is kept as an empty value of that type, to
// be complained of by whoever reads it.
Result<nlohmann::json> pick_object(simdjson::dom::element object, const Field& spec);

}  // namespace berth
