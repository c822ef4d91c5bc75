// SPDX-License-Identifier: Apache-2.0
#include "controller/core/annotation_room.h"

namespace berth {
namespace {

// k8s.io/apimachinery, pkg/api/validation/objectmeta.go: TotalAnnotationSizeLimitB.
constexpr std::size_t kMostBytes = std::size_t{256} << 10;

}  // namespace

bool has_room_for(const ObjectMeta& meta, std::string_view key, std::string_view text) {
  std::size_t bytes = key.size() + text.size();
  for (const auto& [name, value] : meta.annotations)
    bytes += name.view().size() + value.view().size();
  return bytes <= kMostBytes;
}

}  // namespace berth
