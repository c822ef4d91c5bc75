// SPDX-License-Identifier: Apache-2.0
// QueuePlace: where an admission puts a workload, by node and by domain, and what kept it from a
// narrower one. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/facts_index.h"
#include "controller/queue/verdict.h"

namespace berth {

struct DomainName {
  std::string level;  // a label of nodes
  std::string value;
};

struct NarrowerDomains {  // those of the next level, of which none holds the workload
  std::string level;
  std::int64_t room = 0;  // the most of its pods for which one has room
  std::int64_t pods = 0;  // that it has
};

struct QueuePlace {
  std::vector<std::string> nodes;    // that it is pinned to, by name; empty: to none
  std::optional<DomainName> domain;  // the narrowest that all of them are in
  std::optional<NarrowerDomains> narrower;
  bool nodes_to_come = false;  // it is let go for an autoscaler to see
};

QueuePlace place_of(const queue::Admission& admission, const queue::FactsIndex& facts);
// Of what was admitted before.
QueuePlace place_of(const queue::AdmissionFact& admission, const queue::FactsIndex& facts);

// "on n1, n2, in rack r7": empty where kube-scheduler chooses.
std::string where(const QueuePlace& place);
// "the best rack has room for 12 of its 16 pods"; empty where there is nothing to tell.
std::string why_not_narrower(const QueuePlace& place);

}  // namespace berth
