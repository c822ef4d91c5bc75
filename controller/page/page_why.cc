// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_why.h"

#include <nlohmann/json.hpp>

#include "controller/disruption/rollout_annotation.h"
#include "controller/explain/explain.h"
#include "controller/explain/explain_node.h"
#include "controller/fleet/node_facts.h"
#include "controller/page/page_text.h"
#include "controller/page/viewed_cluster.h"

namespace berth {
namespace {

// A file with the explanation of every node would be too large to send.
constexpr std::size_t kToldInFull = 100;

std::string print(const Explanation& explanation) {
  return compact(nlohmann::ordered_json::parse(print_json(explanation)));
}

}  // namespace

Result<std::string> page_why(const Snapshot& snapshot, const Clues& clues,
                             const std::string& subject) {
  const Result<SubjectName> name = parse_subject({subject}, "default");
  if (!name) return name.error();
  const Result<Subject> found = find_subject(snapshot.cluster, clues, *name);
  if (!found) return found.error();
  return print(explain(snapshot, *found, clues));
}

Result<std::string> page_why(const Snapshot& all, const ViewerRights& rights,
                             const std::string& subject) {
  const ViewedCluster viewed(all, rights);
  return page_why(viewed.snapshot(), viewed.clues(), subject);
}

std::map<std::string, std::string> why_out_of_service(const Snapshot& snapshot,
                                                      const Clues& clues) {
  std::map<std::string, const Node*> out_of_service;
  for (const auto& node : snapshot.cluster.nodes())
    if (has_gpus(*node) && (!in_service(*node) || !read_rollout(*node).idle()))
      out_of_service[node->meta.name] = node.get();
  std::map<std::string, std::string> out;
  for (const auto& [name, node] : out_of_service) {
    if (out.size() == kToldInFull) break;
    out["Node/" + name] = print(explain_node(snapshot, *node, clues));
  }
  return out;
}

}  // namespace berth
