// SPDX-License-Identifier: Apache-2.0
// NodeHealthSteps: the next step for one node's health. No other code writes a node for its health.
// Each patch tests the node's uid, a user's hold, and the exact text of the node's records of
// health and rollout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/json_patch.h"
#include "controller/core/plan.h"
#include "controller/disruption/disruption_budgets.h"
#include "controller/health/survey.h"

namespace berth {

// A node to cordon. Its patches wait for its claim (health_claims.h).
struct Cordoning {
  const Node* node = nullptr;
  std::vector<Step> steps;
};

class NodeHealthSteps {
 public:
  // `health` without a pool: no pool selects the node any more.
  NodeHealthSteps(const Snapshot& snapshot, const HealthSpec& spec, const NodeHealth& health,
                  Plan& plan, std::vector<Cordoning>& cordons)
      : snapshot_(snapshot),
        spec_(spec),
        health_(health),
        node_(*health.node),
        plan_(plan),
        cordons_(cordons) {}

  // `too_many`: why its pool may lose no further node.
  void step(const std::optional<Cause>& too_many, DisruptionBudgets& budgets);
  // Undoes what berth did to the node: the policy or the node's pool is gone.
  void retreat();

 private:
  enum class Cordon { kKeep, kSet, kRemove };

  void begin(const std::optional<Cause>& too_many, DisruptionBudgets& budgets);
  void cordon(DisruptionBudgets& budgets);
  void overrule();
  void accept(const std::optional<Cause>& too_many, DisruptionBudgets& budgets);
  void keep_out(DisruptionBudgets& budgets);
  void recover();
  bool is_proven();
  void tell_failed_proof(const std::string& why);
  void forget_in_time();
  void refresh();
  void drain(DisruptionBudgets& budgets);

  bool is_left_alone() const;
  bool is_in_a_rollout() const;
  bool is_watched() const;
  bool is_news() const;
  std::optional<std::string> why_not(const std::optional<Cause>& too_many,
                                     DisruptionBudgets& budgets) const;
  // How long berth must find nothing before it uncordons the node. Each cordon and each failed
  // validation Job doubles it, up to a day.
  Duration wait_after(const HealthRecord& record) const;
  HealthRecord next(HealthPhase phase) const;
  void write(const std::optional<HealthRecord>& record, Cordon cordon, std::string reason);
  void tell(bool warning, const char* reason, const char* action, std::string note);

  const Snapshot& snapshot_;
  const HealthSpec& spec_;
  const NodeHealth& health_;
  const Node& node_;
  Plan& plan_;
  std::vector<Cordoning>& cordons_;
};

}  // namespace berth
