// SPDX-License-Identifier: Apache-2.0
// LayoutReason: what each reason in apis/base/reasons.h means for a MIGLayout and its nodes.
#pragma once

#include <span>
#include <string_view>

#include "apis/base/reasons.h"
#include "controller/core/conditions.h"

namespace berth {

// In which column of status.nodes a waiting node with this reason counts. `blocked` counts nodes
// for which the layout's owner can do something.
enum class Column { kBlocked, kPending, kUnderWay, kNone };

struct LayoutReason {
  std::string_view reason;
  Column column = Column::kNone;  // kNone: a reason of the whole layout
  Outlook outlook = Outlook::kReconciling;
};
// Every reason of a node or of a layout's conditions.
std::span<const LayoutReason> layout_reasons();
// Whether time, or the node's turn, resolves the reason. Every other reason is for the layout's
// owner.
bool only_pending(std::string_view reason);
Outlook outlook_of(std::string_view reason);

struct EventReason {
  std::string_view kind;  // kind of the object that the event is about
  std::string_view reason;
};
// Every event of rollouts except WriteRefused, which any object may get.
std::span<const EventReason> rollout_event_reasons();

}  // namespace berth
