// SPDX-License-Identifier: Apache-2.0
// MergePatch: builds RFC 7386 patches that carry their precondition: the uid, and where what was
// read decides what is written the resourceVersion too. The server answers another object, or a
// later version, with a conflict.
#pragma once

#include <string>
#include <string_view>

#include "apis/meta.h"

namespace berth {

class MergePatch {
 public:
  static MergePatch same_object(const ObjectMeta& read);
  static MergePatch same_version(const ObjectMeta& read);

  MergePatch& annotation(std::string_view key, std::string_view text);
  MergePatch& without_annotation(std::string_view key);
  // Values that are JSON already: a field of metadata, or one beside metadata.
  MergePatch& metadata(std::string_view field, std::string_view json);
  MergePatch& field(std::string_view field, std::string_view json);

  std::string str() const;

 private:
  std::string metadata_;     // ,"name":value…
  std::string annotations_;  // "key":"text",…
  std::string fields_;
};

}  // namespace berth
