// SPDX-License-Identifier: Apache-2.0
// Which gated members an admission record covers (rule 1), and what living pods request beyond it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/queue/facts/facts.h"

namespace berth::queue::test {

using ResourceSums = std::map<std::string, std::int64_t>;  // by resource; "gpu" is the class
// The part of a GPU that one device of the resource is.
using Worth = std::function<std::int64_t(const std::string&)>;

// The requests for extended resources of ungated pods, beyond what `counted` pods of the record
// cover.
ResourceSums asked_beyond(const AdmissionFact& record, std::int64_t counted,
                          const std::vector<const PodFact*>& pods, bool with_leaving,
                          const Worth& worth);

// The gated members among `pods` (by age) that the record covers. `ended`: members that have ended
// finally; `size`: how many members are still expected.
std::vector<const PodFact*> covered_by(const AdmissionFact& record,
                                       const std::vector<const PodFact*>& pods,
                                       const std::vector<const PodFact*>& ended, std::int64_t size,
                                       const Worth& worth);

}  // namespace berth::queue::test
