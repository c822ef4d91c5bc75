// SPDX-License-Identifier: Apache-2.0
// AnnotationRoom: whether an object has room for one more annotation. The API server refuses any
// write of an object whose annotations would be larger together; what has to be done to the object
// must not fail of what is only to be told on it.
#pragma once

#include <string_view>

#include "apis/meta.h"

namespace berth {

bool has_room_for(const ObjectMeta& meta, std::string_view key, std::string_view text);

}  // namespace berth
