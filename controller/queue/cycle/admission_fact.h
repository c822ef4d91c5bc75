// SPDX-License-Identifier: Apache-2.0
// Returns what to record for an admission that a cycle over the index decided.
#pragma once

#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

AdmissionFact admission_fact(const Admission& admission, const FactsIndex& index);

}  // namespace berth::queue
