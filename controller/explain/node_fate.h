// SPDX-License-Identifier: Apache-2.0
// NodeFate: the obstacle that decides whether one node takes a pod.
#pragma once

#include <string_view>

namespace berth {

// In the order of the report: the smallest obstacle first.
enum class NodeFate {
  kFits,
  kFull,
  kComing,   // out of service for a layout, or not yet partitioned: will take the pod afterwards
  kTainted,  // has taints that the pod could tolerate
  kNotSelected,  // excluded by the pod's nodeSelector or node affinity
  kNotEligible,  // in a pool that the pod's namespace may not use
  kLeaving,      // out of service for a layout that will not offer the pod's resource
  kTooSmall,     // has less in total than the pod requests
  kTroubled,     // has taints of Kubernetes itself: pressure, no network, shutdown
  kCordoned,     // not by berth
  kNotReady,
  kLacksGpu,
};
const char* to_string(NodeFate fate);         // the reason, for scripts
std::string_view short_words(NodeFate fate);  // "full", for counts

}  // namespace berth
