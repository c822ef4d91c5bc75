// SPDX-License-Identifier: Apache-2.0
// AnnotationRoom: whether one more annotation fits on an object. The API server refuses every write
// of an object whose annotations exceed 256 KiB together. Therefore berth leaves out an annotation
// that only informs, so that the write that carries it succeeds.
#pragma once

#include <string_view>

#include "apis/kinds/meta.h"

namespace berth {

bool has_room_for(const ObjectMeta& meta, std::string_view key, std::string_view text);

}  // namespace berth
