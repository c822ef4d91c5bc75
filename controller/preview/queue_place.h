// SPDX-License-Identifier: Apache-2.0
// QueuePlace: where an admission puts a workload, by node and by domain, and what prevented a
// narrower domain. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/facts_index.h"

namespace berth {

struct DomainName {
  std::string level;  // a node label
  std::string value;
};

struct NarrowerDomains {  // domains of the next level, none of which holds the workload
  std::string level;
  std::int64_t room = 0;  // the most of its pods that one of them holds
  std::int64_t pods = 0;  // the number of its pods
};

struct QueuePlace {
  std::vector<std::string> nodes;    // nodes to which it is pinned, by name; empty: not pinned
  std::optional<DomainName> domain;  // the narrowest domain with all of them
  std::optional<NarrowerDomains> narrower;
  bool nodes_to_come = false;  // it is admitted so that an autoscaler adds nodes
};

QueuePlace place_of(const queue::Admission& admission, const queue::FactsIndex& facts);
// For an earlier admission.
QueuePlace place_of(const queue::AdmissionFact& admission, const queue::FactsIndex& facts);

// "on n1, n2, in rack r7"; empty if kube-scheduler chooses.
std::string where(const QueuePlace& place);
// "the best rack has room for 12 of its 16 pods"; empty if there is nothing to report.
std::string why_not_narrower(const QueuePlace& place);

}  // namespace berth
