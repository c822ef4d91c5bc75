// SPDX-License-Identifier: Apache-2.0
// explain: what berth says of whatever somebody asks about.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"
#include "controller/explain/subject.h"

namespace berth {

// `subject` is one of the snapshot's.
Explanation explain(const Snapshot& snapshot, const Subject& subject, const Clues& clues);

}  // namespace berth
