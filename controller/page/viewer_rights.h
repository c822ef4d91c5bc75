// SPDX-License-Identifier: Apache-2.0
// ViewerRights: the kinds that a viewer may list, and in which namespaces. A right that was not
// granted is denied, even if berth has not checked it. Viewers with equal rights see the same page.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "apis/kinds/meta.h"

namespace berth {

// The name in RBAC and in `kubectl auth can-i`: "pods", "jobs.batch".
std::string resource_name(const KindInfo& kind);

class ViewerRights {
 public:
  // In all namespaces, or cluster-wide for a kind without namespaces.
  void grant(const std::string& resource) { everywhere_.insert(resource); }
  void grant(const std::string& resource, const std::string& namespace_) {
    in_[resource].insert(namespace_);
  }
  bool everywhere(std::string_view resource) const { return everywhere_.contains(resource); }
  bool in(std::string_view resource, std::string_view namespace_) const;
  bool somewhere(std::string_view resource) const {
    return everywhere(resource) || in_.contains(resource);
  }
  // The namespace, if the viewer may list the resource in exactly one; empty: everywhere, nowhere,
  // or in several.
  std::string only_namespace(std::string_view resource) const;

  auto operator<=>(const ViewerRights&) const = default;

 private:
  using Names = std::set<std::string, std::less<>>;
  Names everywhere_;
  std::map<std::string, Names, std::less<>> in_;  // by resource
};

}  // namespace berth
