// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_queue.h"
#include "apis/codec/strict_object.h"
#include "apis/kinds/gpu_queue_fields.h"

namespace berth {

StrictQueue decode_strict_queue(const ManifestDocument& document, std::string_view file) {
  StrictQueue result;
  const auto read = [&](const JsonCursor& root) {
    root["metadata"].read(result.queue.meta);
    read_spec(root["spec"], result.queue.spec);
  };
  const auto check = [&] { return check_rules(result.queue); };
  result.findings =
      decode_strictly(document, file, kKind<GPUQueue>, queue_spec_field(), read, check);
  return result;
}

}  // namespace berth
