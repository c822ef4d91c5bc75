// SPDX-License-Identifier: Apache-2.0
#include "apis/decode_frame.h"
#include "apis/layout_fields.h"
#include "apis/strict_object.h"

namespace berth {

StrictLayout decode_strict(const ManifestDocument& document, std::string_view file) {
  StrictLayout result;
  const auto read = [&](const JsonCursor& root) {
    root["metadata"].read(result.layout.meta);
    read_spec(root["spec"], result.layout.spec);
  };
  const auto check = [&] { return check_rules(result.layout); };
  result.findings =
      decode_strictly(document, file, kKind<MIGLayout>, layout_spec_field(), read, check);
  return result;
}

}  // namespace berth
