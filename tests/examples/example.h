// SPDX-License-Identifier: Apache-2.0
// The manifests under examples/: documents, and the claims in the comments above them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apis/codec/manifest.h"
#include "controller/core/cluster_state.h"

namespace berth::test {

struct Example {
  ManifestDocument document;
  // "# refused: …" and similar, with continuation lines after three spaces.
  std::map<std::string, std::string> claims;
  std::string claim(const std::string& word) const;
};

// The documents of one file, by its path under examples/. A parse error fails the reading test.
std::vector<Example> read_examples(const std::string& path);

// A cluster with the policies, layouts, queues and namespaces of these files.
ClusterState cluster_of(const std::vector<std::string>& paths);

// Adds a node of the policy's pool `pool` that has the pool's labels and taints and offers this. An
// empty pool means a node that no pool selects.
void add_pool_node(ClusterState& cluster, const std::string& name, const std::string& pool,
                   const std::string& resource, std::int64_t count);

}  // namespace berth::test
