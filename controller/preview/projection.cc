// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/projection.h"

#include <algorithm>

namespace berth {

const char* to_string(PodMove::Fate fate) {
  switch (fate) {
    case PodMove::Fate::kFits:
      return "Fits";
    case PodMove::Fate::kFitsLater:
      return "FitsLater";
    case PodMove::Fate::kPending:
      return "Pending";
    case PodMove::Fate::kEnds:
      return "Ends";
    case PodMove::Fate::kNotRecreated:
      return "NotRecreated";
    case PodMove::Fate::kRequeued:
      return "Requeued";
  }
  return "?";
}

const char* to_string(NodeChange::Outcome outcome) {
  switch (outcome) {
    case NodeChange::Outcome::kRepartitioned:
      return "Repartitioned";
    case NodeChange::Outcome::kPutBack:
      return "PutBack";
    case NodeChange::Outcome::kUnfinished:
      return "Unfinished";
  }
  return "?";
}

const char* to_string(LayoutSummary::Change change) {
  switch (change) {
    case LayoutSummary::Change::kCreated:
      return "Created";
    case LayoutSummary::Change::kEdited:
      return "Edited";
    case LayoutSummary::Change::kUnchanged:
      return "Unchanged";
    case LayoutSummary::Change::kDeleted:
      return "Deleted";
  }
  return "?";
}

const char* to_string(PodConcern::Kind kind) {
  switch (kind) {
    case PodConcern::Kind::kHoldsMoreThanExists:
      return "HoldsMoreThanExists";
    case PodConcern::Kind::kNotTolerant:
      return "NotTolerant";
    case PodConcern::Kind::kNotEligible:
      return "NotEligible";
  }
  return "?";
}

bool PolicySummary::changes() const {
  return change != LayoutSummary::Change::kUnchanged ||
         std::ranges::any_of(pools, [](const PoolSummary& pool) {
           return !pool.enter.empty() || !pool.leave.empty() || !pool.edits.empty();
         });
}

bool Projection::changes() const {
  const bool goes_on = std::ranges::any_of(under_way, [](const NodeChange& node) {
    return node.outcome != NodeChange::Outcome::kUnfinished;
  });
  return goes_on || !nodes.empty() || !objects.empty() || (policy && policy->changes()) ||
         (queues && queues->changes()) ||
         std::ranges::any_of(layouts, [](const LayoutSummary& layout) {
           return layout.change != LayoutSummary::Change::kUnchanged;
         });
}

bool Projection::invalid_spec() const {
  if (queues && queues->invalid()) return true;
  return std::ranges::any_of(refusals, [&](const Refusal& refusal) {
    auto layout = std::ranges::find(layouts, refusal.layout, &LayoutSummary::name);
    return refusal.spec && layout != layouts.end() && layout->given;
  });
}

}  // namespace berth
