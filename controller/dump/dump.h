// SPDX-License-Identifier: Apache-2.0
// Dump: what `berth plan` needs of a cluster, in one JSON document that users can keep, send and
// read years later. It has the objects as the API server wrote them, reduced to the fields that
// berth reads: no environment, arguments, images or foreign annotations, and never a Secret.
//
// The live `berth plan` reads the same text, so that a plan from a dump equals the plan from the
// cluster at that time.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "apis/kinds/meta.h"
#include "controller/core/cluster_state.h"
#include "controller/dump/clues.h"

namespace berth {

inline constexpr char kDumpApiVersion[] = "snapshot.gpu.berth.dev/v1";
inline constexpr char kDumpKind[] = "Snapshot";

class DumpWriter {
 public:
  // `kept_namespace`: all of its pods and Jobs are kept, whatever they request.
  explicit DumpWriter(std::string kept_namespace = {})
      : kept_namespace_(std::move(kept_namespace)) {}
  // Adds one page of a list, as the API server sent it. Returns its continue token, empty for the
  // last page. The order is nodes, pods, Jobs. Pods are kept if they are on GPU nodes, use GPUs or
  // carry a label of berth. Jobs are kept if they own a kept pod, or if they have not finished and
  // request GPUs or carry such a label.
  Result<std::string> add_list(const KindInfo& kind, std::string_view list_body);
  // Adds one object.
  Result<void> add_object(const KindInfo& kind, std::string_view body);

  void add_unread(const Unread& unread);

  std::size_t objects() const { return objects_; }
  // ConfigMaps of NVIDIA's node components that the ClusterPolicies added so far name.
  const std::set<std::string, std::less<>>& files_of_agents() const { return files_of_agents_; }
  std::string str(Time taken_at) const;

 private:
  Result<void> add(const KindInfo& kind, const nlohmann::json& object);

  bool keeps(const nlohmann::json& object) const;

  std::string kept_namespace_;
  std::string items_;   // one JSON object a line
  std::string unread_;  // as items_
  std::size_t objects_ = 0;
  std::set<std::string, std::less<>> gpu_nodes_;
  std::set<std::string, std::less<>> files_of_agents_;
  std::set<std::string, std::less<>> job_uids_;
};

struct Dump {
  ClusterState cluster;
  Time taken_at{};
  Clues clues;
};

// An error names the item of the document and what is wrong with it.
Result<Dump> load_dump(std::string_view text);

}  // namespace berth
