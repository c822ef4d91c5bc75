// SPDX-License-Identifier: Apache-2.0
// AdmissionFact of an Admission: what a cycle has decided, as a record keeps it.
#pragma once

#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

AdmissionFact admission_fact(const Admission& admission, const FactsIndex& index);

}  // namespace berth::queue
