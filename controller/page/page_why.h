// SPDX-License-Identifier: Apache-2.0
// PageWhy: the page's explanation of one node, pod or Job, equal to `berth why -o json`.
#pragma once

#include <map>
#include <string>

#include "apis/base/result.h"
#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/page/viewer_rights.h"

namespace berth {

// `subject` is the argument of `berth why`: "node/n1", "pod/team-a/train-0".
Result<std::string> page_why(const Snapshot& snapshot, const Clues& clues,
                             const std::string& subject);
// For a viewer with these rights. An object that the viewer may not list counts as missing.
Result<std::string> page_why(const Snapshot& all, const ViewerRights& rights,
                             const std::string& subject);

// Explanations by "Node/n1" of the first hundred nodes that are out of service or in a rollout.
std::map<std::string, std::string> why_out_of_service(const Snapshot& snapshot, const Clues& clues);

}  // namespace berth
