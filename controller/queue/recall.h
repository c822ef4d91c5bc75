// SPDX-License-Identifier: Apache-2.0
// Recall: that a gang which no Job makes is taken back whole. Its pods can't be gated again: they
// are evicted, and whoever comes in their place would follow them by their admission. So a mark in
// the ledger of admissions says which admission is over. It is written before the first pod goes;
// as long as it stands, nobody is let go by that admission, whichever leader finds it. The mark of
// a gang that was not ready in time also says how often in a row, and for how long it is left out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apis/time.h"
#include "controller/queue/facts.h"

namespace berth::queue {

// The ledger's room is for admissions. While so many marks stand, no further gang is taken back.
inline constexpr std::size_t kMostRecalls = 64;

// Of the ledger's keys.
std::string recall_key(std::string_view uid);
bool is_recall_key(std::string_view key);

// {"version", "workload", "since", "at", "age", "why", and of what was not ready "times", "until",
// "first"}.
std::string encode_recall(const RecallFact& recall);
// Nothing if that is none.
std::optional<RecallFact> decode_recall(std::string_view text);

// The next one of the gang. `before` is the mark that stands of it, if one does.
RecallFact recall_for_loss(const RecallFact* before, RecallFact next);
RecallFact recall_for_setback(const RecallFact* before, RecallFact next);

}  // namespace berth::queue
