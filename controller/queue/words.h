// SPDX-License-Identifier: Apache-2.0
// The sentences of verdicts.
#pragma once

#include <string>
#include <string_view>

#include "controller/queue/catalog.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

// "pool training", "any pool".
std::string name_place(PoolId pool, const Catalog& catalog);

// Why it waits, with the numbers, and what that means for it.
std::string describe(const Verdict& verdict, const Catalog& catalog);
// Whether that sentence names each workload in full, "Job/NAMESPACE/NAME", so that its namespace is
// known. False for a reason that no verdict has.
bool names_in_full(std::string_view reason);
// What suffices for it, and where.
std::string describe(const Admission& admission, const Catalog& catalog);

}  // namespace berth::queue
