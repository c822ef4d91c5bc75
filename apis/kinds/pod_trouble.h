// SPDX-License-Identifier: Apache-2.0
// PodTrouble: what a pod's status says about why it does not run, and its address, until the whole
// pod has been read: init containers may come before or after containers, and the status before the
// labels.
#pragma once

#include <string>
#include <string_view>

#include "apis/kinds/core.h"

namespace berth {

struct PodTrouble {
  std::string reason;        // status.reason
  std::string init_waiting;  // why the first init container waits, unless it is just starting
  std::string waiting;       // the same for containers
  std::string_view address;  // status.podIP, in the document

  void keep_in(Pod& pod) &&;
};

// For each container's state; it keeps the first one.
void note_waiting(std::string_view reason, std::string& first);

}  // namespace berth
