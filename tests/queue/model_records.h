// SPDX-License-Identifier: Apache-2.0
// What a record covers (rule 1), as the page says it: which gated members follow by it, and what
// the living pods ask beyond it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/queue/facts.h"

namespace berth::queue::test {

using ResourceSums = std::map<std::string, std::int64_t>;  // by resource; "gpu" is the class
// How much of a GPU one piece of the resource is.
using Worth = std::function<std::int64_t(const std::string&)>;

// Of the extended resources that the pods which are not gated ask, what `counted` of the record's
// pods do not make up.
ResourceSums asked_beyond(const AdmissionFact& record, std::int64_t counted,
                          const std::vector<const PodFact*>& pods, bool with_leaving,
                          const Worth& worth);

// The gated members that the record covers, of `pods` by age. `ended`: those that have ended for
// good; `size`: how many are still to be there.
std::vector<const PodFact*> covered_by(const AdmissionFact& record,
                                       const std::vector<const PodFact*>& pods,
                                       const std::vector<const PodFact*>& ended, std::int64_t size,
                                       const Worth& worth);

}  // namespace berth::queue::test
