// SPDX-License-Identifier: Apache-2.0
// Dump: what `berth plan` needs of a cluster, in one JSON document that can be kept, sent and read
// back years later. Objects stand in it as the API server wrote them, cut down to the fields that
// berth reads: no environment, arguments, images or foreign annotations, and never a Secret.
//
// The live `berth plan` goes through the same text, so that a plan from a dump and a plan from the
// cluster it was taken of cannot differ.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

#include "apis/meta.h"
#include "apis/result.h"
#include "controller/core/cluster_state.h"
#include "controller/dump/clues.h"

namespace berth {

inline constexpr char kDumpApiVersion[] = "snapshot.gpu.berth.dev/v1";
inline constexpr char kDumpKind[] = "Snapshot";

class DumpWriter {
 public:
  // `kept_namespace`: whose pods and Jobs are kept, whatever they ask for.
  explicit DumpWriter(std::string kept_namespace = {})
      : kept_namespace_(std::move(kept_namespace)) {}
  // One page of a list, as the API server sent it; returns its continue token, empty for the last.
  // Nodes come before pods, and pods before jobs: of pods only those on GPU nodes, those that use
  // GPUs and those that carry a label of berth's are kept, of jobs only their owners and those that
  // have not ended and ask for GPUs or carry such a label.
  Result<std::string> add_list(const KindInfo& kind, std::string_view list_body);
  // One object.
  Result<void> add_object(const KindInfo& kind, std::string_view body);

  void add_unread(const Unread& unread);

  std::size_t objects() const { return objects_; }
  // The ConfigMaps that the ClusterPolicies added so far name for NVIDIA's agents.
  const std::set<std::string, std::less<>>& files_of_agents() const { return files_of_agents_; }
  std::string str(Time taken_at) const;

 private:
  Result<void> add(const KindInfo& kind, const nlohmann::json& object);

  bool keeps(const nlohmann::json& object) const;

  std::string kept_namespace_;
  std::string items_;   // one JSON object a line
  std::string unread_;  // the same
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

// Errors say which item of the document is wrong, and how.
Result<Dump> load_dump(std::string_view text);

}  // namespace berth
