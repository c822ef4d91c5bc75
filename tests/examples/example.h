// SPDX-License-Identifier: Apache-2.0
// The manifests under examples/, as their readers have them: documents, and what the comments above
// each of them claim.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apis/codec/manifest.h"
#include "controller/core/cluster_state.h"

namespace berth::test {

struct Example {
  ManifestDocument document;
  // "# refused: …" and the like, with the lines that go on behind three spaces.
  std::map<std::string, std::string> claims;
  std::string claim(const std::string& word) const;
};

// Of one file, by its path under examples/. Whatever does not parse fails the test that reads it.
std::vector<Example> read_examples(const std::string& path);

// A cluster on which the policies, layouts, queues and namespaces of these files stand.
ClusterState cluster_of(const std::vector<std::string>& paths);

// A node that the policy's pool `pool` has: its labels and taints are there, and it offers this.
// An empty pool: one that nobody selects.
void add_pool_node(ClusterState& cluster, const std::string& name, const std::string& pool,
                   const std::string& resource, std::int64_t count);

}  // namespace berth::test
