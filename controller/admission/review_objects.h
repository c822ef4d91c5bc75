// SPDX-License-Identifier: Apache-2.0
// Rules for berth's own kinds that the CRDs' schemas and CEL can't express: MIG geometry,
// references to other objects, and the cluster's nodes.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string_view>

#include "apis/base/result.h"
#include "controller/admission/review_findings.h"
#include "controller/core/cluster_state.h"
#include "controller/core/writable_keys.h"

namespace berth {

// `old` is absent for a new object. An unchanged spec is not judged again, so that an object that
// became invalid can still lose its finalizer. An unknown kind passes. `keys`: the label and
// annotation keys that berth may write on nodes. An error: the object can't be decoded.
Result<void> check_object(std::string_view kind,
                          const std::optional<simdjson::dom::element>& object,
                          const std::optional<simdjson::dom::element>& old,
                          const ClusterState& cluster, const WritableKeys& keys,
                          ReviewFindings& findings);

}  // namespace berth
