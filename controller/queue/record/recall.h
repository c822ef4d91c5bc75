// SPDX-License-Identifier: Apache-2.0
// Recall: berth takes back a gang without a Job as a whole. It can't gate the gang's pods again, so
// it evicts them. Pods that replace them would then be released by the gang's admission. So a mark
// in the admission ledger says that this admission has ended. berth writes it before it evicts the
// first pod. While the mark exists, no leader releases pods by that admission. The mark of a gang
// that was not ready in time also says how often in a row, and how long the gang is left out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/time.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {

// The ledger's space is for admissions. If there are this many marks, berth takes back no further
// gang.
inline constexpr std::size_t kMostRecalls = 64;

// The ledger keys of such marks.
std::string recall_key(std::string_view uid);
bool is_recall_key(std::string_view key);

// A mark is {"version", "workload", "since", "at", "age", "why"}. The mark of a gang that was not
// ready in time also has "times", "until" and "first".
std::string encode_recall(const RecallFact& recall);
// Returns nothing if the text is not a mark.
std::optional<RecallFact> decode_recall(std::string_view text);

// Returns the next mark of the gang. `before` is its current mark, or null.
RecallFact recall_for_loss(const RecallFact* before, RecallFact next);
RecallFact recall_for_setback(const RecallFact* before, RecallFact next);

}  // namespace berth::queue
