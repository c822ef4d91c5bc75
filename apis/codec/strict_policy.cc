// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_policy.h"
#include "apis/codec/strict_object.h"
#include "apis/kinds/policy_fields.h"

namespace berth {

StrictPolicy decode_strict_policy(const ManifestDocument& document, std::string_view file) {
  StrictPolicy result;
  const auto read = [&](const JsonCursor& root) {
    root["metadata"].read(result.policy.meta);
    read_spec(root["spec"], result.policy.spec);
  };
  const auto check = [&] { return check_rules(result.policy); };
  result.findings =
      decode_strictly(document, file, kKind<GPUClusterPolicy>, policy_spec_field(), read, check);
  return result;
}

}  // namespace berth
