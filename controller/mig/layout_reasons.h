// SPDX-License-Identifier: Apache-2.0
// LayoutReason: what each reason of apis/reasons.h means for a MIGLayout and its nodes.
#pragma once

#include <span>
#include <string_view>

#include "apis/reasons.h"
#include "controller/core/conditions.h"

namespace berth {

// Where a node with this reason is counted, while it waits: status.nodes.blocked is what the
// layout's owner can do something about.
enum class Column { kBlocked, kPending, kUnderWay, kNone };

struct LayoutReason {
  std::string_view reason;
  Column column = Column::kNone;  // kNone: of the layout as a whole
  Outlook outlook = Outlook::kReconciling;
};
// Every reason of a node's standing and of a layout's conditions.
std::span<const LayoutReason> layout_reasons();
// Time, or the node's turn, will tell; every other reason is the layout owner's to solve.
bool only_pending(std::string_view reason);
Outlook outlook_of(std::string_view reason);

struct EventReason {
  std::string_view kind;  // of the object that it is about
  std::string_view reason;
};
// Every event that rollouts give rise to, but for WriteRefused, which any object may get.
std::span<const EventReason> rollout_event_reasons();

}  // namespace berth
