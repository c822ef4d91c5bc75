// SPDX-License-Identifier: Apache-2.0
#include "controller/core/merge_patch.h"

#include <fmt/format.h>

#include "controller/core/json_patch.h"

namespace berth {

MergePatch MergePatch::same_object(const ObjectMeta& read) {
  MergePatch patch;
  patch.metadata_ = fmt::format(R"("uid":{})", quote_json(read.uid));
  return patch;
}

MergePatch MergePatch::same_version(const ObjectMeta& read) {
  MergePatch patch = same_object(read);
  patch.metadata("resourceVersion", quote_json(read.resource_version));
  return patch;
}

MergePatch& MergePatch::annotation(std::string_view key, std::string_view text) {
  annotations_ +=
      fmt::format("{}{}:{}", annotations_.empty() ? "" : ",", quote_json(key), quote_json(text));
  return *this;
}

MergePatch& MergePatch::without_annotation(std::string_view key) {
  annotations_ += fmt::format("{}{}:null", annotations_.empty() ? "" : ",", quote_json(key));
  return *this;
}

MergePatch& MergePatch::metadata(std::string_view field, std::string_view json) {
  metadata_ += fmt::format(R"(,"{}":{})", field, json);
  return *this;
}

MergePatch& MergePatch::field(std::string_view field, std::string_view json) {
  fields_ += fmt::format(R"(,"{}":{})", field, json);
  return *this;
}

std::string MergePatch::str() const {
  const std::string annotations =
      annotations_.empty() ? std::string() : fmt::format(R"(,"annotations":{{{}}})", annotations_);
  return fmt::format(R"({{"metadata":{{{}{}}}{}}})", metadata_, annotations, fields_);
}

}  // namespace berth
