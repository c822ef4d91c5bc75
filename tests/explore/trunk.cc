// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/trunk.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tests/explore/crew.h"

namespace berth::explore {
namespace {

bool branches_at(const Branch& branch, std::string_view counter, int number) {
  return std::ranges::any_of(branch.schedule.faults, [&](const Fault& fault) {
    return fault.number() == number && fault.counter() == counter;
  });
}

class Trunk {
 public:
  Trunk(std::vector<Branch> branches, const TrunkHooks& hooks)
      : branches_(std::move(branches)), hooks_(hooks) {}

  // In a branch's process: its schedule.
  std::optional<Schedule> reach(std::string_view counter, int number) {
    for (std::size_t i = 0; !self_ && i < branches_.size();) {
      if (!branches_at(branches_[i], counter, number)) {
        ++i;
        continue;
      }
      const Branch branch = std::move(branches_[i]);
      branches_.erase(branches_.begin() + static_cast<std::ptrdiff_t>(i));
      if (!hooks_.goes_on()) std::_Exit(0);
      if (play(branch)) return branch.schedule;
    }
    if (!self_ && branches_.empty() && !hooks_.on_trunk) std::_Exit(0);
    return std::nullopt;
  }

  void end(const RunReport& report) {
    if (self_) {
      hooks_.on_end(*self_, report);
      std::_Exit(0);
    }
    for (const Branch& branch : branches_) hooks_.on_unreached(branch);
    if (hooks_.on_trunk) hooks_.on_trunk(report);
  }

 private:
  // True in the branch's process.
  bool play(const Branch& branch) {
    const pid_t child = fork_bound();
    if (child == 0) {
      self_ = branch;
      return true;
    }
    if (const std::string how = wait_for_end(child); !how.empty()) hooks_.on_death(branch, how);
    return false;
  }

  std::vector<Branch> branches_;  // not yet reached
  const TrunkHooks& hooks_;
  std::optional<Branch> self_;  // unset in the trunk
};

}  // namespace

void play_trunk(const Scenario& scenario, const Schedule& common, std::vector<Branch> branches,
                const RunOptions& options, const TrunkHooks& hooks) {
  Trunk trunk(std::move(branches), hooks);
  RunOptions own = options;
  own.branch = [&trunk](std::string_view counter, int number) {
    return trunk.reach(counter, number);
  };
  own.on_end = [&trunk](const RunReport& report) { trunk.end(report); };
  explore(scenario, common, own);
}

}  // namespace berth::explore
