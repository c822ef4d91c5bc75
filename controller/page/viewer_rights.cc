// SPDX-License-Identifier: Apache-2.0
#include "controller/page/viewer_rights.h"

namespace berth {

std::string resource_name(const KindInfo& kind) {
  std::string name(kind.plural);
  if (!kind.group.empty()) name.append(".").append(kind.group);
  return name;
}

bool ViewerRights::in(std::string_view resource, std::string_view namespace_) const {
  if (everywhere(resource)) return true;
  const auto granted = in_.find(resource);
  return granted != in_.end() && granted->second.contains(namespace_);
}

std::string ViewerRights::only_namespace(std::string_view resource) const {
  const auto granted = in_.find(resource);
  if (everywhere(resource) || granted == in_.end() || granted->second.size() != 1) return {};
  return *granted->second.begin();
}

}  // namespace berth
