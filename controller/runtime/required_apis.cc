// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/required_apis.h"

#include <set>
#include <string>
#include <utility>

#include "apis/kinds/watched_kinds.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kAskAgain = 5s;

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

}  // namespace

std::vector<ResourceNeed> required_apis(bool writes, bool leader_elect) {
  std::vector<ResourceNeed> needs;
  Watched::each([&]<class T>() {
    if (!kWatching<T>.optional) needs.push_back({.kind = kKind<T>, .verbs = {"list", "watch"}});
  });
  // berth also reads single objects: in guards, and if a watch lags.
  for (const KindInfo& kind : {kKind<Node>, kKind<Pod>, kKind<ConfigMap>})
    needs.push_back({.kind = kind, .verbs = {"get"}});
  if (!writes) return needs;
  needs.push_back({.kind = kKind<MIGLayout>, .verbs = {"patch"}});
  needs.push_back({.kind = kKind<MIGLayout>, .subresource = "status", .verbs = {"patch"}});
  needs.push_back({.kind = kKind<Node>, .verbs = {"patch"}});
  needs.push_back({.kind = kKind<Pod>, .verbs = {"delete"}});
  needs.push_back({.kind = kKind<Pod>, .subresource = "status", .verbs = {"patch"}});
  needs.push_back(
      {.kind = kKind<Pod>, .subresource = "eviction", .body = "policy/v1", .verbs = {"create"}});
  needs.push_back({.kind = kKind<ConfigMap>, .verbs = {"create", "patch"}});
  if (leader_elect) needs.push_back({.kind = kKind<Lease>, .verbs = {"get", "create", "patch"}});
  return needs;
}

std::string remedy(const ResourceNeed& need) {
  if (need.kind.group == kKind<MIGLayout>.group)
    return "install the CRD miglayouts.gpu.berth.dev: kubectl apply -f crds/";
  return "berth needs Kubernetes 1.25 or newer, with this API switched on (kube-apiserver "
         "--runtime-config)";
}

Task<bool> wait_for_apis(ApiClient& client, Log& log, std::vector<ResourceNeed> needs,
                         std::chrono::nanoseconds limit, std::stop_token stop) {
  const MonotonicTime end = client.loop().now() + limit;
  std::set<std::string> told;
  while (true) {
    const DiscoveryReport report = co_await fetch_lacks(client, needs, stop);
    if (stop.stop_requested()) co_return false;
    for (const Error& error : report.unknown)
      if (told.insert(error.where).second)
        log.warn("cannot ask what the API server serves; assuming that it serves what berth needs",
                 {{"error", describe(error)}});
    if (report.lacks.empty()) co_return true;
    for (const Lack& lack : report.lacks) {
      const std::string what = describe(lack.need);
      if (!told.insert(what).second) continue;
      log.error("the API server does not serve what berth needs",
                {{"missing", what}, {"verbs", joined(lack.verbs)}, {"remedy", remedy(lack.need)}});
    }
    if (client.loop().now() >= end) {
      log.error("ending", {{"why", "still missing: " + describe(report.lacks.front().need) + "; " +
                                       remedy(report.lacks.front().need)}});
      co_return false;
    }
    co_await sleep_for(kAskAgain, stop);
  }
}

}  // namespace berth
