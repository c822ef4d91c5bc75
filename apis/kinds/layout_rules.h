// SPDX-License-Identifier: Apache-2.0
// LayoutRules: the messages of MIGLayout's cross-field rules. The CRD's CEL rules have the same
// messages; a test compares them.
#pragma once

#include "apis/kinds/selector_rules.h"

namespace berth::rules {

inline constexpr char kNameTooLong[] =
    "the name may have at most 40 characters, because it becomes part of a node label's value";
inline constexpr char kNoSelector[] =
    "nodeSelector or productSelector is required; write nodeSelector: {} to mean every GPU node";
inline constexpr char kGpuTwice[] = "a GPU index is in two entries; list each GPU once";
inline constexpr char kTwoWithoutGpus[] =
    "only one entry may leave gpus out; it means every GPU that no other entry names";
inline constexpr char kOwnLabel[] =
    "the layout itself changes this label, so nodes would drop out during the rollout; select "
    "hardware "
    "with productSelector instead";
inline constexpr char kProductSuffix[] =
    "write the hardware's product without -MIG-… or -SHARED, which come and go with the layout";
inline constexpr char kRetiredAndKept[] =
    "a resource may not be both retired and kept by minAvailable; remove one of the two";

}  // namespace berth::rules
