// SPDX-License-Identifier: Apache-2.0
#include "controller/core/finalizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"

namespace berth {

bool has_finalizer(const ObjectMeta& meta) {
  return std::ranges::find(meta.finalizers, Text(names::kFinalizer)) != meta.finalizers.end();
}

Write write_finalizer(ObjectRef object, const ObjectMeta& read, bool ours,
                      std::string field_manager, std::string reason) {
  std::vector<std::string> kept;
  for (const Text& finalizer : read.finalizers)
    if (finalizer != names::kFinalizer) kept.push_back(quote_json(finalizer.view()));
  if (ours) kept.push_back(quote_json(names::kFinalizer));
  Write write;
  write.verb = Verb::kMergePatch;
  write.object = std::move(object);
  write.field_manager = std::move(field_manager);
  write.reason = std::move(reason);
  write.body = MergePatch::same_version(read)
                   .metadata("finalizers", fmt::format("[{}]", fmt::join(kept, ",")))
                   .str();
  return write;
}

}  // namespace berth
