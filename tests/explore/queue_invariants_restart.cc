// SPDX-License-Identifier: Apache-2.0
// A gang keeps its GPUs while its controller re-creates all of its pods. The simulation does not
// serve the controller's kind, so the controller's object always exists; a scenario re-creates the
// pods.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/explore/look.h"
#include "tests/explore/queue_invariants.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

// The time for berth to restart and write its mark, from the beginning of the deletion of a gang's
// last pod.
constexpr Time::duration kNoticed = 30s;
// By the rules, thirty seconds from when berth sees that the last pod is gone.
constexpr Time::duration kAwaited = 25s;

bool is_terminating(const json* pod) {
  return at(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

}  // namespace

void QueueInvariants::take_round(const sim::Change& change, bool by_berth, Time wall,
                                 std::chrono::nanoseconds news_takes) {
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const json& pod = gone ? *change.before : *change.after;
  const std::string group = group_of(pod);
  if (group.empty()) return;
  Round& round = rounds_[group];
  const std::string& uid = text_at(&pod, {"metadata", "uid"});
  const bool over = gone || has_ended(pod);
  if (change.before == nullptr && round.gone && owner_uid(pod) != round.owner) round = {};
  if (!over && !is_gated(pod)) {
    const auto record = record_of(pod);
    if (!record) return;
    if (round.live.empty()) round = {.cohort = cohort_of(*record), .owner = owner_uid(pod)};
    round.live[uid] = gpus_of(*at(&pod, {"spec"}));
    std::int64_t gpus = 0;
    for (const auto& [member, asked] : round.live) gpus += asked;
    round.gpus = std::max(round.gpus, gpus);
    if (is_terminating(&pod) && !is_terminating(change.before.get())) {
      round.leaves = wall;
      round.taken_back = round.taken_back || by_berth;
    }
    return;
  }
  if (!over || round.live.erase(uid) == 0 || !round.live.empty()) return;
  const auto late = std::chrono::duration_cast<Time::duration>(news_takes);
  const bool noticed = is_terminating(&pod) && wall - round.leaves >= late + kNoticed;
  if (noticed && !round.owner.empty() && !round.taken_back) round.gone = wall;
}

std::int64_t QueueInvariants::awaited(const std::string& cohort, const std::string& but,
                                      Time wall) const {
  std::int64_t gpus = 0;
  for (const auto& [group, round] : rounds_) {
    const bool judged = round.gone && wall - *round.gone <= kAwaited && edited_ < round.leaves &&
                        !(ledger_edited_ && *ledger_edited_ >= round.leaves);
    if (judged && group != but && round.cohort == cohort) gpus += round.gpus;
  }
  return gpus;
}

// A gang with all of its missing pods, while its cohort holds nothing.
std::string QueueInvariants::gang_left_behind() const {
  struct Gang {
    std::int64_t waiting = 0, gpus = 0, ended = 0, size = 0;
    std::string owner, cohort;
    bool odd = false;
  };
  std::map<std::string, Gang> gangs;
  for (const auto& [name, pod] : pods_) {
    const std::string group = group_of(*pod);
    if (group.empty()) continue;
    Gang& gang = gangs[group];
    gang.size = size_of_group(*pod);
    const std::string owner = owner_uid(*pod);
    gang.odd = gang.odd || owner.empty() || (!gang.owner.empty() && owner != gang.owner);
    gang.owner = owner;
    if (text_at(pod.get(), {"status", "phase"}) == "Succeeded") {
      ++gang.ended;
    } else if (is_gated(*pod)) {
      ++gang.waiting;
      gang.gpus += gpus_of(*at(pod.get(), {"spec"}));
      const auto home = namespaces_.find("/" + text_at(pod.get(), {"metadata", "namespace"}));
      for (const auto& [each, queue] : queues_)
        if (home != namespaces_.end() && queue.is_default && !queue.held &&
            selects(queue.selected, *home->second))
          gang.cohort = queue.cohort;
    } else {
      gang.odd = true;
    }
  }
  for (const auto& [group, gang] : gangs)
    if (!gang.odd && gang.ended > 0 && gang.waiting > 0 && gang.waiting + gang.ended == gang.size &&
        !gang.cohort.empty() && held(gang.cohort) == 0 && gang.gpus <= promised(gang.cohort))
      return fmt::format(
          "gang {} waits, although {} of its {} pods have succeeded and all others "
          "are there",
          group, gang.ended, gang.size);
  return "";
}

}  // namespace berth::explore
