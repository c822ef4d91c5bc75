// SPDX-License-Identifier: Apache-2.0
// Outline: who leaves is gone; what runs ends in its time; after each end whoever fits begins, and
// ends in his.
#include "controller/queue/start_projection.h"

#include <algorithm>
#include <queue>

#include "controller/queue/cycle.h"

namespace berth::queue {
namespace {

// What ends soon after another ends with it: by a part of the time until then. So the number of
// rounds grows with how far it looks, and not with how much runs.
constexpr std::int64_t kTogether = 64;

struct RunEnd {
  std::int64_t at = 0;
  const Workload* running = nullptr;  // null: `admitted` of the cycle
  std::size_t admitted = 0;
  // A heap's top is the last in order; of those at once, whatever came first.
  bool operator<(const RunEnd& other) const { return at > other.at; }
};

class Projector {
 public:
  Projector(const FactsIndex& index, std::int64_t now, const RunTime& run_time, std::size_t tries)
      : index_(index), run_time_(run_time), now_(now), cycle_(index, LookingAhead{tries}) {}

  Projection run() {
    list_running();
    let_go_what_leaves();
    cycle_.run(index_.workloads().size());
    begin();
    for (std::int64_t at = now_; !ends_.empty() && cycle_.has_more();) {
      at = std::max(at, ends_.top().at);
      for (const std::int64_t until = at + (at - now_) / kTogether;
           !ends_.empty() && ends_.top().at <= until; ends_.pop()) {
        at = std::max(at, ends_.top().at);
        end(ends_.top());
      }
      at_ = at;
      cycle_.run_again();
      begin();
    }
    if (!cycle_.may_try()) out_.looked_until = at_;
    return std::move(out_);
  }

 private:
  void list_running() {
    std::vector<const Workload*> running;
    for (const auto& [queue, of] : index_.running())
      for (const Workload* workload : of) running.push_back(workload);
    running.insert(running.end(), index_.past_webhook().begin(), index_.past_webhook().end());
    std::ranges::sort(running, ByName());
    for (const Workload* workload : running) {
      if (workload->standing.leaves) continue;
      const bool begun = workload->job && workload->job->started > 0;
      const std::int64_t since = begun ? workload->job->started : now_;
      if (const auto lasts = run_time_(*workload, now_ - since))
        ends_.push({std::max(now_, since + *lasts), workload, 0});
      else
        out_.endless.push_back(workload);
    }
  }
  void let_go_what_leaves() {
    for (const Workload* workload : index_.leaving()) cycle_.end(*workload);
    for (const Pod* pod : index_.leaving_alone()) cycle_.end(*pod);
  }

  void end(const RunEnd& ending) {
    if (ending.running != nullptr)
      cycle_.end(*ending.running);
    else
      cycle_.end(ending.admitted);
  }

  // What was admitted is bound; beside it may be room that was kept as long as it was not.
  void begin() {
    while (begun_ < cycle_.admissions().size()) {
      bool spreads = false;
      for (; begun_ < cycle_.admissions().size(); ++begun_) {
        const Admission& admission = cycle_.admissions()[begun_];
        cycle_.bind(begun_);
        spreads = spreads || admission.nodes.size() > 1;
        out_.starts.emplace(admission.workload, at_);
        if (const auto lasts = run_time_(*admission.workload, 0))
          ends_.push({at_ + *lasts, nullptr, begun_});
        else
          out_.endless.push_back(admission.workload);
      }
      if (spreads) cycle_.run_again();
    }
  }

  const FactsIndex& index_;
  const RunTime& run_time_;
  std::int64_t now_;
  std::int64_t at_ = now_;
  Cycle cycle_;
  std::priority_queue<RunEnd> ends_;
  std::size_t begun_ = 0;
  Projection out_;
};

}  // namespace

Projection project_starts(const FactsIndex& index, std::int64_t now, const RunTime& run_time,
                          std::size_t tries) {
  return Projector(index, now, run_time, tries).run();
}

}  // namespace berth::queue
