// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_frame.h"
#include "apis/codec/strict_object.h"
#include "apis/kinds/layout_fields.h"

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
