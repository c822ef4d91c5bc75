// SPDX-License-Identifier: Apache-2.0
// NodeSteps: the next step of one node that berth has taken or is about to take. One class in four
// files: what the phases share; a claimed or drained node; a node whose label is written; and lost
// records and failed nodes. Used within one reconcile: the situation and the plan must outlive it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/mig/situation.h"
#include "controller/mig/verification.h"

namespace berth {

class NodeSteps {
 public:
  NodeSteps(const Situation& s, Plan& plan) : s_(s), plan_(plan) {}
  void run();

 private:
  // Lost records, and nodes that stay unavailable.
  void overwrite_unreadable();
  void drop_foreign();
  void go_on_from(const NodeRollout& predecessor);
  void recall();
  NodeRollout recalled() const;
  bool has_just_recalled() const;
  bool ledger_may_know() const;
  bool has_written_since(Time time) const;
  void leave_kept_out();

  // Claimed and Cordoned.
  void cordon_claimed();
  std::optional<std::string> reason_to_drop_claim() const;
  void drop_claim(const std::string& why, std::string_view cause = {});
  void leave_cordoned();
  bool has_settled();
  // Represents any patch of the node by a rollout: all of them have the same question.
  Step any_patch() const;
  std::optional<Time> cordon_stood_at() const;
  Guard look_at_cordon() const;
  void apply();
  // With a cause (a reason), the node is tried again after a backoff.
  void restore(const std::string& why, std::string_view cause = {});

  // Applying, RollingBack and Failed.
  void leave_applying();
  void disown_cordon();
  void retry_failed_agent(const Verification& verification);
  bool superseded() const;
  void finish();
  void give_up(const std::string& why);
  void leave_failed();
  void release(const std::string& why);

  // Shared. reason_not_ours() says why a node, read live, is not the cordoned node with this
  // annotation that berth decided on.
  static std::optional<std::string> reason_not_ours(const Node& live, std::string_view uid,
                                                    const std::optional<std::string>& text);
  void write_label(NodeRollout next, const std::string& reason, const char* event);
  bool asks_for_another() const;
  void go_on_to_target();
  void fail(const std::string& why);
  const NodeRollout& now() const { return *s_.record.rollout; }
  NodeRollout next(RolloutPhase phase) const;
  // Returns true if it is earlier than `due`. Then the key is due again at that time.
  bool wait_until(Time due);
  // Returns the config that the node had when berth took it: the one that berth last applied, if
  // only its label had been changed by another user.
  std::string config_found() const { return now().reasserts > 0 ? now().config : now().previous; }
  Duration back_off(Duration base, std::int64_t attempt) const;
  void put_off(NodeRollout& idle, Duration base, const std::string& why,
               std::string_view cause) const;
  void tell(bool warning, const char* reason, const char* action, std::string note);

  const Situation& s_;
  Plan& plan_;
};

}  // namespace berth
