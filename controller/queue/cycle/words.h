// SPDX-License-Identifier: Apache-2.0
// Words: the sentences for verdicts.
#pragma once

#include <string>
#include <string_view>

#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/catalog.h"

namespace berth::queue {

// Returns "pool training" or "any pool".
std::string name_place(PoolId pool, const Catalog& catalog);

// Returns why the workload waits, with the numbers, and the consequence.
std::string describe(const Verdict& verdict, const Catalog& catalog);
// Whether that sentence names every workload in full, "Job/NAMESPACE/NAME", so that a reader knows
// its namespace. Returns false for an unknown reason.
bool names_in_full(std::string_view reason);
// Returns what suffices for the workload, and where.
std::string describe(const Admission& admission, const Catalog& catalog);

}  // namespace berth::queue
