// SPDX-License-Identifier: Apache-2.0
// What the CRDs' schemas and CEL rules can't say of berth's own kinds: geometry, what other objects
// say, and what the cluster has.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string_view>

#include "apis/result.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"
#include "controller/core/writable_keys.h"

namespace berth {

// `old` is absent for a new object. A spec that has not changed is not
// judged again, so that an object which became wrong can still lose its finalizer. A kind that is
// not known here passes. `keys`: those that berth may write on nodes. An error: the object can't be
// read.
Result<void> check_object(std::string_view kind,
                          const std::optional<simdjson::dom::element>& object,
                          const std::optional<simdjson::dom::element>& old,
                          const ClusterState& cluster, const WritableKeys& keys,
                          ReviewFindings& findings);

}  // namespace berth
