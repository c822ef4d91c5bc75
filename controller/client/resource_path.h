// SPDX-License-Identifier: Apache-2.0
// URL targets of Kubernetes resources. Every segment and value is percent-escaped, so no name can
// change the path or add a header.
#pragma once

#include <string>
#include <string_view>

#include "apis/meta.h"

namespace berth {

// RFC 3986 unreserved characters stay; every other byte becomes %XX.
std::string escape_url(std::string_view text);

// "/api/v1/namespaces/default/pods"; an empty namespace means all of them, and is ignored for
// cluster-scoped kinds.
std::string collection_path(const KindInfo& kind, std::string_view namespace_);
// "/apis/gpu.berth.dev/v1alpha1/miglayouts/a100/status".
std::string object_path(const KindInfo& kind, const ObjectKey& key,
                        std::string_view subresource = {});

// "?a=1&b=2", built in the order of add(); empty values are left out.
class Query {
 public:
  Query& add(std::string_view name, std::string_view value);
  Query& add_flag(std::string_view name, bool value);  // name=true, or nothing
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

}  // namespace berth
