// SPDX-License-Identifier: Apache-2.0
// PodTrouble: what a pod's status says of what keeps it from running, and where it is reached,
// until the whole pod is read: init containers may stand before or after containers, and the status
// before the labels.
#pragma once

#include <string>
#include <string_view>

#include "apis/core.h"

namespace berth {

struct PodTrouble {
  std::string reason;        // the status' own
  std::string init_waiting;  // why the first init container waits that does not just begin
  std::string waiting;       // the same of containers
  std::string_view address;  // status.podIP, in the document

  void keep_in(Pod& pod) &&;
};

// A container's state; the first one is kept.
void note_waiting(std::string_view reason, std::string& first);

}  // namespace berth
