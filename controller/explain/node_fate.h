// SPDX-License-Identifier: Apache-2.0
// NodeFate: what becomes of one pod on one node, by the obstacle that decides.
#pragma once

#include <string_view>

namespace berth {

// In the order in which they are told: what is nearest to a place comes first.
enum class NodeFate {
  kFits,
  kFull,
  kComing,       // out, or not cut yet, for a layout: will take the pod once that is done
  kTainted,      // with taints that the pod could tolerate
  kNotSelected,  // by its nodeSelector or node affinity
  kNotEligible,  // of a pool that the pod's namespace may not use
  kLeaving,      // out for a layout, and will not offer what the pod asks for
  kTooSmall,     // has less in all than the pod asks for
  kTroubled,     // Kubernetes' own taints: pressure, no network, shut down
  kCordoned,     // not by berth
  kNotReady,
  kLacksGpu,
};
const char* to_string(NodeFate fate);         // the reason, for scripts
std::string_view short_words(NodeFate fate);  // "full", for counts

}  // namespace berth
