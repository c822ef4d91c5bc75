// SPDX-License-Identifier: Apache-2.0
#include "controller/server/list_rights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "apis/kinds/watched_kinds.h"

namespace berth {
namespace {

// A viewer sees the names of at most this many namespaces, and counts for the others.
constexpr std::size_t kMostNamespaces = 200;

}  // namespace

// First asks for all namespaces at once, one question per kind. Then asks namespace by namespace,
// but only for namespaces in which the viewer may list pods.
Task<Result<ViewerRights>> ListRights::ask(Viewer viewer, CallOptions options) {
  const std::string everywhere;
  ViewerRights rights;
  std::vector<KindInfo> kinds, by_namespace;
  Watched::each([&]<class T>() { kinds.push_back(kKind<T>); });
  for (const KindInfo& kind : kinds) {
    const Result<bool> all = co_await allowed(viewer, kind, everywhere, options);
    if (!all.has_value()) co_return all.error();
    if (*all)
      rights.grant(resource_name(kind));
    else if (kind.namespaced)
      by_namespace.push_back(kind);
  }
  // Some kinds are watched only in berth's namespace and in that of NVIDIA's node components.
  const std::set<std::string> own = {parts_.settings.berth_namespace,
                                     parts_.settings.agents_namespace};
  std::vector<std::string> namespaces(own.begin(), own.end());
  std::vector<std::string> others = parts_.namespaces();
  others.insert(others.begin(), viewer.namespace_());
  for (std::string& name : others)
    if (!name.empty() && namespaces.size() < kMostNamespaces &&
        std::find(namespaces.begin(), namespaces.end(), name) == namespaces.end())
      namespaces.push_back(std::move(name));
  const std::string pods = resource_name(kKind<Pod>);
  if (!rights.everywhere(pods))
    for (const std::string& name : namespaces) {
      const Result<bool> listed = co_await allowed(viewer, kKind<Pod>, name, options);
      if (!listed.has_value()) co_return listed.error();
      if (*listed) rights.grant(pods, name);
    }
  for (const KindInfo& kind : by_namespace)
    for (const std::string& name : namespaces) {
      if (kind.plural == kKind<Pod>.plural || !(rights.in(pods, name) || own.contains(name)))
        continue;
      const Result<bool> listed = co_await allowed(viewer, kind, name, options);
      if (!listed.has_value()) co_return listed.error();
      if (*listed) rights.grant(resource_name(kind), name);
    }
  co_return rights;
}

Task<Result<bool>> ListRights::allowed(Viewer viewer, KindInfo kind, std::string namespace_,
                                       CallOptions options) {
  ApiRequest request = access_review(viewer, kind, namespace_);
  const Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(options));
  if (!reply.has_value()) co_return reply.error();
  co_return allowed_in(reply->body);
}

}  // namespace berth
