// SPDX-License-Identifier: Apache-2.0
// ResourcePath: URL targets of Kubernetes resources. It percent-escapes every segment and value, so
// that no name can change the path or add a header.
#pragma once

#include <string>
#include <string_view>

#include "apis/kinds/meta.h"

namespace berth {

// Keeps RFC 3986 unreserved characters; every other byte becomes %XX.
std::string escape_url(std::string_view text);

// "/api/v1/namespaces/default/pods". An empty namespace means all namespaces; cluster-scoped kinds
// ignore it.
std::string collection_path(const KindInfo& kind, std::string_view namespace_);
// "/apis/gpu.berth.dev/v1alpha1/miglayouts/a100/status".
std::string object_path(const KindInfo& kind, const ObjectKey& key,
                        std::string_view subresource = {});

// "?a=1&b=2", in the order of add(), without empty values.
class Query {
 public:
  Query& add(std::string_view name, std::string_view value);
  Query& add_flag(std::string_view name, bool value);  // adds name=true, or nothing
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

}  // namespace berth
