// SPDX-License-Identifier: Apache-2.0
// DecodePolicy: reads a GPUClusterPolicy. Only for apis/codec/*.cc.
#pragma once

#include "apis/codec/json_cursor.h"
#include "apis/kinds/gpu_cluster_policy.h"

namespace berth {

void read(JsonCursor object, GPUClusterPolicy& out);

// Reads all readable fields of a spec. The caller must have checked it against policy_fields.h.
void read_spec(const JsonCursor& spec, GPUClusterPolicySpec& out);

}  // namespace berth
