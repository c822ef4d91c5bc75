// SPDX-License-Identifier: Apache-2.0
// explain: berth's answer about any subject.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"
#include "controller/explain/subject.h"

namespace berth {

// `subject` must be in the snapshot.
Explanation explain(const Snapshot& snapshot, const Subject& subject, const Clues& clues);

}  // namespace berth
