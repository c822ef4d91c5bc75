// SPDX-License-Identifier: Apache-2.0
// The annotation gpu.berth.dev/admitted: what a workload was admitted with, as JSON {queue, cohort,
// pool, pods, amounts}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/queue/facts_index.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

// What a cycle over the index has decided, as it is recorded.
AdmissionFact admission_fact(const Admission& admission, const FactsIndex& index);

std::string encode_admission(const AdmissionFact& admission);

// Nothing if that is no such record: amounts and pods are from 0 to kMostOfAnything.
std::optional<AdmissionFact> decode_admission(std::string_view text);

}  // namespace berth::queue
