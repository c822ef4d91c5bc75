// SPDX-License-Identifier: Apache-2.0
// Rights: what an account could not read, in one sentence, with the command that grants it. The
// chart has the roles: berth-why for users whose pods wait, berth-snapshot for administrators.
#pragma once

#include <string>
#include <vector>

#include "controller/core/settings.h"
#include "controller/dump/clues.h"

namespace berth {

// The purpose of the request.
enum class RightsFor {
  kPod,      // why a pod waits: nodes, pods and berth's kinds
  kCluster,  // everything
};

struct MissingRights {
  std::vector<std::string> resources;  // "nodes", "pods outside namespace vision"
  std::string grant;                   // a command for an administrator; empty: no right is missing
};
MissingRights missing_rights(const std::vector<Unread>& unread, RightsFor whom,
                             const Settings& settings);

}  // namespace berth
