// SPDX-License-Identifier: Apache-2.0
// PickJson: reads from an untrusted object of berth's kinds only what berth needs: its metadata and
// the spec fields in the kind's table. It never copies unknown fields, which the server would drop.
// If a list or map is longer than the table allows, it refuses the object before it reads any item.
#pragma once

#include <simdjson.h>

#include <nlohmann/json_fwd.hpp>

#include "apis/base/result.h"
#include "apis/kinds/fields.h"

namespace berth {

// {"metadata":{…},"spec":{…}}. A value of the wrong type becomes an empty value of that type, so
// that the reader reports it.
Result<nlohmann::json> pick_object(simdjson::dom::element object, const Field& spec);

}  // namespace berth
