// SPDX-License-Identifier: Apache-2.0
// DecodeQueue: reads a GPUQueue. Only for apis/codec/*.cc.
#pragma once

#include "apis/codec/json_cursor.h"
#include "apis/kinds/gpu_queue.h"

namespace berth {

void read(JsonCursor object, GPUQueue& out);

// Reads all readable fields of a spec. The caller must have checked it against gpu_queue_fields.h.
void read_spec(const JsonCursor& spec, GPUQueueSpec& out);

}  // namespace berth
