// SPDX-License-Identifier: Apache-2.0
// Rights: what an account could not read, told in one sentence with the line that grants it. The
// chart brings the roles: berth-why for those whose pods wait, berth-snapshot for those who run the
// cluster.
#pragma once

#include <string>
#include <vector>

#include "controller/core/settings.h"
#include "controller/dump/clues.h"

namespace berth {

// Who asks for what.
enum class RightsFor {
  kPod,      // why a pod waits: nodes, pods and berth's kinds
  kCluster,  // everything
};

struct MissingRights {
  std::vector<std::string> resources;  // "nodes", "pods outside namespace vision"
  std::string grant;                   // what an administrator types; empty: nothing is missing
};
MissingRights missing_rights(const std::vector<Unread>& unread, RightsFor whom,
                             const Settings& settings);

}  // namespace berth
