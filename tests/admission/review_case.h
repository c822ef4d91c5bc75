// SPDX-License-Identifier: Apache-2.0
// A cluster of three pools and its policy, requests in the form of the API server, and answers as
// it reads them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/admission/review.h"

namespace berth::test {

// The value at `path` of a JSON text, as text; "absent" if there is none.
std::string at(std::string_view json, std::string_view path);
// The text after the patch.
std::string apply_patch(std::string_view json, std::string_view patch);

// Pools: training (nvidia.com/gpu, tainted), inference (MIG), development (shared, for namespaces
// with team-risk=trusted). Namespaces: team-a and lab (trusted) are managed, shop is not.
ClusterState make_cluster(const std::function<void(GPUClusterPolicySpec&)>& change = {});
// Adds a node with these labels that offers so many of the resource.
void add_node(ClusterState& cluster, const std::string& name, const StringMap& labels,
              const std::string& resource, std::int64_t count);

struct Request {
  std::string object;  // JSON
  std::string old_object = "null";
  std::string group;
  std::string kind = "Pod";
  std::string ns = "team-a";
  std::string operation = "CREATE";
  std::string sub_resource;
  std::string user = "jane";
  std::string user_group = "developers";
  std::string str() const;
};
Request by_kubelet(Request request);
// {"metadata":{…},"spec":SPEC}, with a generateName only, like a pod of a Job or ReplicaSet.
Request pod(std::string_view spec);
// A Job with this pod spec, as `kubectl create` sends it: no metadata in its template.
Request job(std::string_view pod_spec);
// A container c with these resources.
std::string container(std::string_view resources);
std::string asks(std::string_view resource, int count);  // a spec with limit and request

struct Answer {
  int http_status = 0;
  std::string uid;
  bool allowed = false;
  int code = 0;
  std::string message;
  std::string causes;
  std::vector<std::string> warnings;
  std::string patch;   // JSON, decoded; empty if there is none
  std::string object;  // the object after the patch, unless the patch is huge
};
Answer ask(ReviewPath path, const Request& request, const ClusterState& cluster,
           const Settings& settings = {});

inline constexpr ReviewPath kMutate = ReviewPath::kMutate;
inline constexpr ReviewPath kValidate = ReviewPath::kValidate;

}  // namespace berth::test
