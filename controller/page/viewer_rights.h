// SPDX-License-Identifier: Apache-2.0
// ViewerRights: what somebody may list, kind by kind and namespace by namespace. What was not
// granted is denied, be it that nobody has asked. Equal rights see the same page.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "apis/meta.h"

namespace berth {

// As RBAC and `kubectl auth can-i` call it: "pods", "jobs.batch".
std::string resource_name(const KindInfo& kind);

class ViewerRights {
 public:
  // In all namespaces; of a kind without them, all there are.
  void grant(const std::string& resource) { everywhere_.insert(resource); }
  void grant(const std::string& resource, const std::string& namespace_) {
    in_[resource].insert(namespace_);
  }
  bool everywhere(std::string_view resource) const { return everywhere_.contains(resource); }
  bool in(std::string_view resource, std::string_view namespace_) const;
  bool somewhere(std::string_view resource) const {
    return everywhere(resource) || in_.contains(resource);
  }
  // The only namespace in which it may be listed; empty: everywhere, nowhere, or in several.
  std::string only_namespace(std::string_view resource) const;

  auto operator<=>(const ViewerRights&) const = default;

 private:
  using Names = std::set<std::string, std::less<>>;
  Names everywhere_;
  std::map<std::string, Names, std::less<>> in_;  // by resource
};

}  // namespace berth
