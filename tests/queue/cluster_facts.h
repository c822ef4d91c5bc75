// SPDX-License-Identifier: Apache-2.0
// ClusterFacts: the facts of a small cluster as plain lists, for the index and the reference model.
// Outcome: what either of them decides, as text.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/queue/cycle/preemption.h"
#include "controller/queue/facts/facts.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue::test {

struct ClusterFacts {
  std::vector<NodeFact> nodes;
  std::vector<PodFact> pods;
  std::vector<JobFact> jobs;
  std::vector<QueueFact> queues;
  std::vector<LedgerFact> ledger;
  std::vector<RestartFact> restarts;
  TopologyFact topology;
  ElasticFact elastic;
  std::set<std::pair<std::string, std::string>> refusals;  // (rules, node) pairs
  std::set<std::string> kept;                              // workloads, by budgets, for a time
};

struct Outcome {
  std::vector<std::string> admitted;           // in order: "workload pool resource/pool=amount …"
  std::map<std::string, std::string> waiting;  // workload → "reason resource pool needs free most"
  bool operator==(const Outcome&) const = default;
};
std::string print(const Outcome& outcome);
std::string print(const ClusterFacts& facts);

void fill(const ClusterFacts& facts, FactsIndex& index);
// Without `now` it preempts nothing.
Outcome decide(const FactsIndex& index, std::size_t window,
               std::optional<std::int64_t> now = std::nullopt,
               const std::set<std::string>& kept = {});
// Terms under which budgets protect the workloads in `kept` for a time.
PreemptionTerms terms_of(std::int64_t now, std::set<std::string> kept);

// Everything that the index derives, by name and sorted, so that equal indexes have equal texts.
std::string text_of(const FactsIndex& index);

}  // namespace berth::queue::test
