// SPDX-License-Identifier: Apache-2.0
// Rollout: a simulated cluster with berth on it, driven step by step: a scenario's YAML says what
// stands, act() what people, machines and agents do, and what is asked for is read from the store.
// The exploration's invariants watch every change and request; a breach fails the test.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "apis/kinds/mig_layout.h"
#include "controller/scenario/scenario_run.h"
#include "tests/explore/invariants.h"

namespace berth::test {

class Rollout {
 public:
  using Span = std::chrono::nanoseconds;

  // Nodes, workloads, objects and settings as scenarios have them (docs/simulation.md).
  explicit Rollout(const std::string& cluster);
  Rollout(const Rollout&) = delete;
  Rollout& operator=(const Rollout&) = delete;

  // --- what happens ---
  // An entry of a timeline without its moment: "cordon: n1", "agent-fault: n1, fault: lie".
  void act(const std::string& incident);
  // A layout for the nodes with the label tier=mig, every GPU cut in these profiles; `more` are
  // further fields of its spec: "priority: 1".
  void apply_layout(const std::string& name, const std::string& more = "",
                    const std::string& profiles = "1g.10gb: 7");
  // A merge patch of its spec.
  void edit_layout(const std::string& name, const std::string& spec);
  // JSON values: null takes away.
  void annotate(const std::string& node, const std::string& key, const std::string& value);
  void label(const std::string& node, const std::string& key, const std::string& value);

  void run_for(Span span);
  // False if the limit passes.
  bool run_until(const std::function<bool()>& done, Span limit = std::chrono::hours(1));
  bool run_until_ready(const std::string& layout);
  bool run_until_phase(const std::string& node, const std::string& phase);

  // --- what stands ---
  Node node(const std::string& name) const;
  bool cordoned(const std::string& node) const { return this->node(node).cordoned(); }
  std::string label_of(const std::string& node, const std::string& key) const;
  std::string phase(const std::string& node) const;  // of the annotation, "" if never set
  std::int64_t offered(const std::string& node, const std::string& resource) const;  // "gpu"
  std::vector<std::string> pods_on(const std::string& node) const;  // tenants' that have not ended
  bool exists(const std::string& plural, const std::string& name,
              const std::string& namespace_ = "") const;
  MIGLayout layout(const std::string& name) const;
  bool is_ready(const std::string& layout) const;        // of its present generation
  std::string details(const std::string& layout) const;  // "n1 Draining PodDisruptionBudget\n…"
  // "Draining PodDisruptionBudget: …"
  std::string detail(const std::string& layout, const std::string& node) const;
  // "reason: message"
  std::string condition(const std::string& layout, const std::string& type) const;
  std::string counts(const std::string& layout) const;  // "selected 8 updated 5 …"
  std::string ledger() const;                           // names of nodes that hold a slot
  std::vector<std::string> events() const;              // "Node/n1 Cordoned"
  // Of one object, in order of their times: "Cordoned cordoned for MIGLayout small: …".
  std::vector<std::string> told(const std::string& object) const;
  // What berth has said of its writes, in order: "jsonpatch Node/n1: cordon for … [done]".
  const std::vector<std::string>& writes() const { return writes_; }
  int count_writes(const std::string& part) const;
  // Writes from now on.
  void forget_writes() { writes_.clear(); }

  ScenarioRun& run() { return *run_; }

 private:
  void watch(BerthProcess& berth);
  void hear_log(const std::string& line);
  bool step(MonotonicTime end);

  std::unique_ptr<ScenarioRun> run_;
  std::unique_ptr<explore::Invariants> invariants_;
  std::size_t breaches_ = 0;  // that have failed the test
  std::vector<std::string> writes_;
};

// A workload for Rollout's YAML: pods of it find room on that node only.
std::string on_node(const std::string& node, const std::string& workload, int gpus = 1,
                    const std::string& more = "");

}  // namespace berth::test
