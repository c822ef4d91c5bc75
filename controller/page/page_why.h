// SPDX-License-Identifier: Apache-2.0
// PageWhy: what the page says of one node or pod, as `berth why -o json` does.
#pragma once

#include <map>
#include <string>

#include "apis/result.h"
#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/page/viewer_rights.h"

namespace berth {

// `subject` as one writes it after `berth why`: "node/n1", "pod/team-a/train-0".
Result<std::string> page_why(const Snapshot& snapshot, const Clues& clues,
                             const std::string& subject);
// To somebody with these rights: what he may not list is not there.
Result<std::string> page_why(const Snapshot& all, const ViewerRights& rights,
                             const std::string& subject);

// By "Node/n1": of the nodes that are out of service or in a rollout, the first hundred.
std::map<std::string, std::string> why_out_of_service(const Snapshot& snapshot, const Clues& clues);

}  // namespace berth
