// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_frame.h"

namespace berth {

bool read(od::value value, Lease& lease, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value part) {
    if (key == "metadata") return read(part, lease.meta, fault);
    if (key != "spec") return true;
    return each_field(part, fault, [&](std::string_view name, od::value field) {
      if (name == "holderIdentity") return read(field, lease.holder_identity, fault);
      if (name == "leaseDurationSeconds") return read(field, lease.lease_duration_seconds, fault);
      if (name == "acquireTime") return read(field, lease.acquire_time, fault);
      if (name == "renewTime") return read(field, lease.renew_time, fault);
      if (name == "leaseTransitions") return read(field, lease.lease_transitions, fault);
      return true;
    });
  });
}

}  // namespace berth
