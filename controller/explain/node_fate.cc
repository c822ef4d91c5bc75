// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/node_fate.h"

#include "apis/base/reasons.h"

namespace berth {

const char* to_string(NodeFate fate) {
  switch (fate) {
    case NodeFate::kFits:
      return "Fits";
    case NodeFate::kFull:
      return "Full";
    case NodeFate::kComing:
      return reasons::kLayoutInProgress;
    case NodeFate::kTainted:
      return "Tainted";
    case NodeFate::kNotSelected:
      return reasons::kNotSelected;
    case NodeFate::kNotEligible:
      return reasons::kNotEligible;
    case NodeFate::kLeaving:
      return reasons::kOfferEnds;
    case NodeFate::kTooSmall:
      return reasons::kTooSmall;
    case NodeFate::kTroubled:
      return reasons::kNodeTroubled;
    case NodeFate::kCordoned:
      return "Cordoned";
    case NodeFate::kNotReady:
      return reasons::kNodeNotReady;
    case NodeFate::kLacksGpu:
      return reasons::kResourceNotOffered;
  }
  return "?";
}

std::string_view short_words(NodeFate fate) {
  switch (fate) {
    case NodeFate::kFits:
      return "with room";
    case NodeFate::kFull:
      return "full";
    case NodeFate::kComing:
      return "being repartitioned";
    case NodeFate::kTainted:
      return "tainted";
    case NodeFate::kNotSelected:
      return "not selected";
    case NodeFate::kNotEligible:
      return "of a pool it may not use";
    case NodeFate::kLeaving:
      return "being repartitioned into something else";
    case NodeFate::kTooSmall:
      return "too small";
    case NodeFate::kTroubled:
      return "unhealthy";
    case NodeFate::kCordoned:
      return "cordoned";
    case NodeFate::kNotReady:
      return "not ready";
    case NodeFate::kLacksGpu:
      return "without the resource";
  }
  return "?";
}

}  // namespace berth
