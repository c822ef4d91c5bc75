// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_frame.h"
#include "apis/kinds/resource_quota.h"

namespace berth {

void read(JsonCursor object, ResourceQuota& out) {
  object["metadata"].read(out.meta);
  object["spec"]["hard"].read(out.hard);
  object["status"]["used"].read(out.used);
}

}  // namespace berth
