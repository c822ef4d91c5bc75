// SPDX-License-Identifier: Apache-2.0
// MemoryCluster: the objects and the clock of a cluster in memory. Tests change and read it, berth
// takes its snapshots of it, and the played parts of a RolloutWorld move it on. What went wrong is
// noted here too, so that each of them can say so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth::test {

class MemoryCluster {
 public:
  // --- what happens to it ---
  // As stored by an API server: under the next resourceVersion.
  template <class T>
  void put(T object) {
    object.meta.resource_version = next_version();
    cluster.upsert(std::move(object), now);
  }
  std::string next_version() { return std::to_string(++version_); }
  void remove_pod(const std::string& name);
  void delete_layout(const std::string& name);  // as kubectl does: finalizers hold it
  void change_node(const std::string& name, const std::function<void(Node&)>& change);
  void change_layout(const std::string& name, const std::function<void(MIGLayoutSpec&)>& change);
  void change_budget(const std::string& name, int allowed);

  // --- what it shows ---
  Snapshot snapshot() { return {cluster, answers, settings, now, epoch, false}; }
  const Node& node(const std::string& name) const;
  const MIGLayout* layout(const std::string& name) const;
  std::string label(const std::string& node, const std::string& key) const;
  std::string phase(const std::string& node) const;      // of the annotation, "" if never set
  std::string details(const std::string& layout) const;  // "n1 Draining PodDisruptionBudget\n…"
  std::string detail(const std::string& layout, const std::string& node) const;  // with message
  std::string condition(const std::string& layout,
                        const std::string& type) const;  // reason: message
  bool is_ready(const std::string& layout) const;
  std::string counts(const std::string& layout) const;  // "selected 8 updated 5 …"
  std::string ledger() const;                           // node names that hold a slot
  std::int64_t offered(const std::string& node, const std::string& resource) const;

  // Something that must never be: fails the test, and the run goes on.
  void breach(const std::string& what);

  std::vector<std::string> broken;  // breaches, with what broke them
  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now;
  std::int64_t epoch = 1;

 private:
  std::int64_t version_ = 100;
};

}  // namespace berth::test
