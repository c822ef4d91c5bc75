// SPDX-License-Identifier: Apache-2.0
// Outline: leaving workloads are gone; running ones end in time; after each end and arrival,
// workloads that fit start and end in their time.
#include "controller/queue/starts/start_projection.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "controller/queue/cycle/cycle.h"
#include "controller/queue/facts/leaving.h"

namespace berth::queue {
namespace {

// Ends that follow soon after another one are handled together: within this part of the time up to
// it. So the number of rounds depends on how far it looks, and not on how many workloads run.
constexpr std::int64_t kTogether = 64;

struct RunEnd {
  std::int64_t at = 0;
  const Workload* running = nullptr;  // null: `admitted` of the cycle
  std::size_t admitted = 0;
  // For a heap: the first end is on top. If ends are at the same time, running workloads come
  // first, by name.
  bool operator<(const RunEnd& other) const {
    if (at != other.at) return at > other.at;
    if (running != nullptr && other.running != nullptr) return ByName()(other.running, running);
    return running != other.running ? running == nullptr : admitted > other.admitted;
  }
};

class Projector {
 public:
  Projector(const FactsIndex& index, std::int64_t now, const RunTime& run_time,
            Arrivals::Stream& arrivals, std::size_t tries)
      : index_(index),
        run_time_(run_time),
        arrivals_(arrivals),
        now_(now),
        tries_(tries),
        may_come_(tries),
        cycle_(index, LookingAhead{tries}) {}

  Projection run() {
    list_running();
    let_go_what_leaves();
    cycle_.run(index_.workloads().size());
    begin();
    const std::size_t waiting = count_waiting();
    while (!ends_.empty() && cycle_.has_more() && may_come_ > 0 && out_.starts.size() < waiting) {
      at_ = std::max(at_, next_at());
      for (const std::int64_t until = at_ + (at_ - now_) / kTogether;
           !ends_.empty() && may_come_ > 0 && cycle_.may_try() && next_at() <= until;) {
        at_ = std::max(at_, next_at());
        if (next_at() < ends_.top().at) {
          cycle_.arrive(arrivals_.take());
          --may_come_;
        } else {
          end_first();
        }
      }
      cycle_.run_again();
      begin();
    }
    if (!cycle_.may_try() || may_come_ == 0) out_.looked_until = at_;
    out_.work = 2 * tries_ - cycle_.tries_left() - may_come_;
    return std::move(out_);
  }

 private:
  std::int64_t next_at() const {
    const std::int64_t comes = arrivals_.next_at();
    return comes <= known_until_ ? std::min(comes, ends_.top().at) : ends_.top().at;
  }
  std::size_t count_waiting() {
    std::size_t waiting = 0;
    for (const auto& [id, pending] : index_.pending().by_queue()) {
      const QueueQuotas* queue = cycle_.quotas().find(id);
      if (queue == nullptr || queue->fact->held) continue;
      for (const auto& [workloads, same] : pending.ready) waiting += same.in_order.size();
    }
    return waiting;
  }

  void list_running() {
    std::vector<RunEnd> ends;
    const auto list = [&](const Workload* workload) {
      if (workload->standing.leaves) return;
      const bool begun = workload->job && workload->job->started > 0;
      const std::int64_t since = begun ? workload->job->started : now_;
      if (const auto lasts = run_time_(*workload, now_ - since))
        ends.push_back({std::max(now_, since + *lasts), workload, 0});
      else
        out_.endless.push_back(workload);
    };
    for (const auto& [queue, of] : index_.running()) std::ranges::for_each(of, list);
    std::ranges::for_each(index_.past_webhook(), list);
    std::ranges::sort(out_.endless, ByName());
    for (const RunEnd& end : ends) known_until_ = std::max(known_until_, end.at);
    ends_ = std::priority_queue(std::less<RunEnd>(), std::move(ends));
  }
  void let_go_what_leaves() {
    for (const Workload* workload : index_.leaving())
      if (!hangs(*workload, now_)) cycle_.end(*workload);
    for (const Pod* pod : index_.leaving_alone())
      if (!hangs(*pod, now_)) cycle_.end(*pod);
  }

  void end_first() {
    cycle_.spend_try();
    const RunEnd& ending = ends_.top();
    if (ending.running != nullptr)
      cycle_.end(*ending.running);
    else
      cycle_.end(ending.admitted);
    ends_.pop();
  }

  // Binds admitted pods. Once a Job's pods are bound, the room that was kept for them on its other
  // nodes is free.
  void begin() {
    while (begun_ < cycle_.admissions().size()) {
      bool spreads = false;
      for (; begun_ < cycle_.admissions().size(); ++begun_) {
        const Admission& admission = cycle_.admissions()[begun_];
        cycle_.bind(begun_);
        spreads = spreads || admission.nodes.size() > 1;
        const bool known = !arrivals_.has_brought(*admission.workload);
        if (known) out_.starts.emplace(admission.workload, at_);
        if (const auto lasts = run_time_(*admission.workload, 0)) {
          ends_.push({at_ + *lasts, nullptr, begun_});
          if (known) known_until_ = std::max(known_until_, at_ + *lasts);
        } else {
          out_.endless.push_back(admission.workload);
        }
      }
      if (spreads) cycle_.run_again();
    }
  }

  const FactsIndex& index_;
  const RunTime& run_time_;
  Arrivals::Stream& arrivals_;
  std::int64_t now_;
  std::int64_t at_ = now_;
  std::size_t tries_;
  std::size_t may_come_;
  Cycle cycle_;
  std::priority_queue<RunEnd> ends_;
  std::int64_t known_until_ = now_;  // the last end of a workload that exists now
  std::size_t begun_ = 0;
  Projection out_;
};

}  // namespace

Projection project_starts(const FactsIndex& index, std::int64_t now, const RunTime& run_time,
                          Arrivals::Stream& arrivals, std::size_t tries) {
  return Projector(index, now, run_time, arrivals, tries).run();
}

}  // namespace berth::queue
