// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_why.h"

#include <nlohmann/json.hpp>

#include "controller/disruption/nodes_out.h"
#include "controller/explain/explain.h"
#include "controller/explain/explain_node.h"
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
  std::map<std::string, std::string> out;
  for (const Node* node : nodes_out(snapshot.cluster)) {
    if (out.size() == kToldInFull) break;
    out["Node/" + node->meta.name] = print(explain_node(snapshot, *node, clues));
  }
  return out;
}

}  // namespace berth
