// SPDX-License-Identifier: Apache-2.0
// Discovery: asks an API server which resources and verbs it serves, and compares them with what
// berth needs. It asks group by group. If a group's aggregated server does not reply, Discovery
// assumes that the group serves what berth needs.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "apis/kinds/meta.h"
#include "controller/client/api_client.h"

namespace berth {

struct ResourceNeed {
  KindInfo kind;
  std::string_view subresource;  // "status", "eviction"; empty: the kind itself
  std::string_view body;  // apiVersion of a subresource's body, if it differs from the kind's
  std::vector<std::string_view> verbs;
};
// "miglayouts (gpu.berth.dev/v1alpha1)", "pods/eviction (policy/v1)".
std::string describe(const ResourceNeed& need);

// What one group version serves: verbs by "pods", "pods/status", or "pods/eviction (policy/v1)" if
// the body has another group version.
using ServedResources = std::map<std::string, std::set<std::string>, std::less<>>;
// Reads an APIResourceList.
Result<ServedResources> decode_served_resources(std::string_view json);

struct Lack {
  ResourceNeed need;
  std::vector<std::string> verbs;  // the missing ones; empty: the resource is not served at all
};
struct DiscoveryReport {
  std::vector<Lack> lacks;
  std::vector<Error> unknown;  // requests that failed
};
// Sends one GET for each group version, in the order of the needs. Stops at the first request that
// gets no reply from the server.
Task<DiscoveryReport> fetch_lacks(ApiClient& client, std::vector<ResourceNeed> needs,
                                  std::stop_token stop);

}  // namespace berth
