// SPDX-License-Identifier: Apache-2.0
// Discovery: asks an API server which resources and verbs it serves, and compares them with what
// one needs. Group by group: one that fails (its aggregated server is down) says nothing about the
// others, and is taken to serve what is needed.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "apis/meta.h"
#include "apis/result.h"
#include "controller/client/api_client.h"

namespace berth {

struct ResourceNeed {
  KindInfo kind;
  std::string_view subresource;  // "status", "eviction"; empty: the kind itself
  std::string_view body;         // apiVersion of what a subresource takes, if not the kind's
  std::vector<std::string_view> verbs;
};
// "miglayouts (gpu.berth.dev/v1alpha1)", "pods/eviction (policy/v1)".
std::string describe(const ResourceNeed& need);

// What one group version serves: verbs by "pods", "pods/status"; "pods/eviction (policy/v1)" where
// the body is of another group version.
using ServedResources = std::map<std::string, std::set<std::string>, std::less<>>;
// From an APIResourceList.
Result<ServedResources> decode_served_resources(std::string_view json);

struct Lack {
  ResourceNeed need;
  std::vector<std::string> verbs;  // the missing ones; empty: the resource is not served at all
};
struct DiscoveryReport {
  std::vector<Lack> lacks;
  std::vector<Error> unknown;  // what could not be asked
};
// One GET for each group version, in the order of the needs. A server that can't be reached is
// asked no further.
Task<DiscoveryReport> fetch_lacks(ApiClient& client, std::vector<ResourceNeed> needs,
                                  std::stop_token stop);

}  // namespace berth
