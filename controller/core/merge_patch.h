// SPDX-License-Identifier: Apache-2.0
// MergePatch: builds RFC 7386 patches that carry their precondition: the uid, and also the
// resourceVersion if the write depends on what was read. If the object or its version is another
// one, the API server answers with a conflict.
#pragma once

#include <string>
#include <string_view>

#include "apis/kinds/meta.h"

namespace berth {

class MergePatch {
 public:
  static MergePatch same_object(const ObjectMeta& read);
  static MergePatch same_version(const ObjectMeta& read);

  MergePatch& annotation(std::string_view key, std::string_view text);
  MergePatch& without_annotation(std::string_view key);
  // `json` is JSON text already: for a field of metadata, or for one beside metadata.
  MergePatch& metadata(std::string_view field, std::string_view json);
  MergePatch& field(std::string_view field, std::string_view json);

  std::string str() const;

 private:
  std::string metadata_;     // ,"name":value…
  std::string annotations_;  // "key":"text",…
  std::string fields_;
};

}  // namespace berth
