// SPDX-License-Identifier: Apache-2.0
// Outline: what comes; what ends, saves its work or has left; what the cycle decides; who is let
// go.
#include "bench/day.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/priority_only.h"
#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/recall/displaced.h"

namespace berth::queue {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr int kNodes = 64, kGpusPerNode = 8, kGpus = kNodes * kGpusPerNode;
constexpr std::int64_t kBegin = 1'790'000'000'000'000;
constexpr std::int64_t kMinute = 60'000'000;
constexpr int kMinutes = 24 * 60;

struct Work {
  JobFact job;
  std::int64_t gpus = 0;
  std::int64_t left = 0;         // minutes
  std::int64_t saves_every = 0;  // minutes; 0: never
  std::int64_t unsaved = 0;      // minutes
  std::int64_t since = 0;
  std::vector<std::string> nodes;  // of its pods, while they are bound
  bool runs = false;
};

class Day {
 public:
  explicit Day(const DayRules& rules) : rules_(rules), random_(rules.seed) {
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = fmt::format("node-{:02}", i);
      free_[name] = kGpusPerNode;
      index_.put(NodeFact{.name = name,
                          .pool = "training",
                          .offers = {{kGpu, kGpusPerNode}},
                          .gpu_weights = {{kGpu, kWholeGpu}}});
    }
    add_queue("inference", kGpus / 2);
    add_queue("vision", rules.rivals ? kGpus / 4 : kGpus / 2);
    if (rules.rivals) add_queue("nlp", kGpus / 4);
  }

  DayFigures play() {
    for (minute_ = 0; minute_ < kMinutes; ++minute_) {
      arrive();
      pass(/*work=*/true);
    }
    const std::size_t before = figures_.displaced;
    for (int i = 0; i < 200 && !figures_.rests; ++i, ++minute_) figures_.rests = !pass(false);
    figures_.late_displaced = figures_.displaced - before;
    return figures_;
  }

 private:
  void add_queue(const std::string& name, std::int64_t nominal) {
    index_.put(QueueFact{.name = name,
                         .cohort = "research",
                         .quotas = {{.resource = kGpu, .pool = "training", .nominal = nominal}},
                         .preemption = {.own = rules_.within_queue, .others = Reclaims::kAny}});
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::int64_t now() const { return kBegin + minute_ * kMinute; }

  // --- What comes ---

  // Servers by the hour of the day, up to all that their queue is entitled to; training at all
  // hours, so that both together ask what the load says.
  void arrive() {
    const double hour = minute_ / 60.0;
    const double wave = 0.6 - 0.4 * std::cos(hour / 12 * std::numbers::pi);
    inference_due_ += std::min(1.0, wave) * rules_.load * kGpus * 0.45 / kServes;
    training_due_ += rules_.load * kGpus * 0.73;
    while (inference_due_ >= 1)
      inference_due_ -= add("inference", 100, 1 + below(2), 1, kServes, 0);
    while (training_due_ >= 1) {
      const std::int64_t gpus = std::int64_t{1} << below(4), pods = below(3) > 0 ? 1 : 1 + below(8);
      const std::int64_t minutes = 60 + below(360);
      add(below(2) > 0 && rules_.rivals ? "nlp" : "vision", below(3), gpus, pods, minutes,
          15 + below(60));
      training_due_ -= static_cast<double>(gpus * pods * minutes);
    }
  }

  double add(const std::string& team, int priority, std::int64_t gpus, std::int64_t pods,
             std::int64_t minutes, std::int64_t saves_every) {
    const std::string name = fmt::format("Job/{}/{:05}", team, made_++);
    Work& work = work_[name];
    work.gpus = gpus * pods;
    work.left = minutes, work.saves_every = saves_every;
    work.job = {.workload = name,
                .uid = name,
                .queue = team,
                .priority = priority,
                .created = now(),
                .requests = {{kGpu, gpus}},
                .parallelism = pods};
    index_.put(work.job);
    return static_cast<double>(work.gpus);
  }

  // --- A minute ---

  // Whether anything happened in it. Without `work` nobody comes any further.
  bool pass(bool work) {
    bool happened = leave();
    if (work) run_all();
    happened = settle() || happened;
    return (rules_.by_the_rules ? decide() : decide_by_priority()) || happened;
  }

  bool leave() {
    for (const std::string& name : std::exchange(leaving_, {})) drop_pods(work_.at(name));
    return std::exchange(left_, false);
  }

  void run_all() {
    std::vector<std::string> done;
    for (auto& [name, work] : work_) {
      if (!work.runs) continue;
      figures_.done_gpu_minutes += work.gpus;
      ++work.unsaved;
      if (--work.left == 0) done.push_back(name);
      if (work.saves_every == 0 || work.unsaved < work.saves_every) continue;
      work.unsaved = 0;
      work.job.checkpoint = now();
      index_.put(work.job);
    }
    for (const std::string& name : done) {
      drop_pods(work_.at(name));
      index_.remove_job(name);
      work_.erase(name);
    }
  }

  void drop_pods(Work& work) {
    for (std::size_t i = 0; i < work.nodes.size(); ++i) {
      free_[work.nodes[i]] += work.gpus / work.job.parallelism;
      index_.remove_pod(fmt::format("{}-{}", work.job.uid, i));
    }
    work.nodes.clear();
    work.runs = false;
  }

  void stop(const std::string& name) {
    Work& work = work_.at(name);
    if (work.job.suspended) return;
    ++figures_.displaced;
    figures_.lost_gpu_minutes += work.unsaved * work.gpus;
    figures_.done_gpu_minutes -= work.unsaved * work.gpus;
    work.left += std::exchange(work.unsaved, 0);
    work.runs = false;
    work.job.suspended = true;
    index_.put(work.job);
    leaving_.push_back(name);
    left_ = true;
  }

  bool decide() {
    std::vector<LedgerFact> entries;
    {
      Cycle cycle(index_, PreemptionTerms{.now = now()});
      cycle.run(512);
      for (const Admission& admission : cycle.admissions()) {
        LedgerFact entry{.workload = *admission.workload->name,
                         .admission = admission_fact(admission, index_)};
        entry.admission.since = now();
        for (const Ahead& ahead : admission.ahead) entry.ahead.push_back(ahead_fact(ahead));
        entries.push_back(std::move(entry));
      }
    }
    for (const LedgerFact& entry : entries) {
      index_.put(entry);
      ledger_[entry.workload] = entry;
    }
    for (const LedgerFact& entry : entries)
      for (const AheadFact& ahead : entry.ahead)
        if (ahead.evicted) stop(ahead.workload);
    return !entries.empty();
  }

  // --- Who is let go ---

  bool settle() {
    for (const auto& [name, nodes] : nominated_) start(work_.at(name), nodes);
    const bool placed = !std::exchange(nominated_, {}).empty();
    std::vector<std::string> gone;
    for (auto& [name, entry] : ledger_) {
      const auto holds = [&](const AheadFact& ahead) { return still_holds(index_, ahead); };
      if (std::ranges::any_of(entry.ahead, holds)) continue;
      const bool displaced = std::ranges::any_of(entry.ahead, &AheadFact::evicted);
      entry.admission.since = now();
      gone.push_back(name);
      if (!let_go(work_.at(name), entry.admission) && displaced) ++figures_.unplaced;
    }
    for (const std::string& name : gone) {
      ledger_.erase(name);
      index_.remove_ledger(name);
    }
    return placed || !gone.empty();
  }

  // Whether all its pods find a node.
  bool let_go(Work& work, const AdmissionFact& admission) {
    work.job.admitted = admission;
    std::vector<std::string> nodes;
    std::map<std::string, std::int64_t> left;
    for (const std::string& node : admission.nodes) left[node] = free_[node];
    const std::int64_t asks = work.gpus / work.job.parallelism;
    for (int i = 0; i < work.job.parallelism; ++i) {
      const auto node =
          std::ranges::find_if(left, [&](const auto& of) { return of.second >= asks; });
      if (node == left.end()) return false;
      node->second -= asks;
      nodes.push_back(node->first);
    }
    start(work, nodes);
    return true;
  }

  void start(Work& work, const std::vector<std::string>& nodes) {
    work.job.suspended = false;
    work.since = now();
    work.runs = true;
    work.nodes = nodes;
    index_.put(work.job);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      free_[nodes[i]] -= work.gpus / work.job.parallelism;
      index_.put(PodFact{.uid = fmt::format("{}-{}", work.job.uid, i),
                         .workload = work.job.workload,
                         .requests = work.job.requests,
                         .state = PodState::kBound,
                         .node = nodes[i]});
    }
  }

  // --- By priority alone ---

  bool decide_by_priority() {
    std::vector<Work*> waiting;
    std::vector<BoundPod> bound;
    for (auto& [name, work] : work_) {
      if (work.job.suspended && work.nodes.empty()) waiting.push_back(&work);
      for (const std::string& node : work.nodes)
        if (work.runs)
          bound.push_back(
              {name, node, work.gpus / work.job.parallelism, work.job.priority, work.since});
    }
    std::ranges::sort(waiting, {}, [](const Work* work) {
      return std::tuple(-work->job.priority, work->job.created, work->job.uid);
    });
    std::map<std::string, std::int64_t> free = free_;
    bool decided = false;
    for (Work* work : waiting) {
      const JobFact& job = work->job;
      const auto found =
          nominate(job.priority, job.parallelism, work->gpus / job.parallelism, free, bound);
      if (!found) continue;
      decided = true;
      for (const std::string& victim : found->victims) stop(victim);
      for (const BoundPod& pod : bound)
        if (found->victims.contains(pod.workload)) free[pod.node] += pod.gpus;
      std::erase_if(bound,
                    [&](const BoundPod& pod) { return found->victims.contains(pod.workload); });
      for (const std::string& node : found->nodes) free[node] -= work->gpus / job.parallelism;
      nominated_[job.workload] = found->nodes;
    }
    return decided;
  }

  static constexpr int kServes = 90;  // minutes

  DayRules rules_;
  std::mt19937 random_;
  FactsIndex index_;
  DayFigures figures_;
  std::map<std::string, std::int64_t> free_;  // GPUs by node
  std::map<std::string, Work> work_;          // by workload
  std::map<std::string, LedgerFact> ledger_;
  std::map<std::string, std::vector<std::string>> nominated_;  // by workload, its nodes
  std::vector<std::string> leaving_;
  bool left_ = false;
  double inference_due_ = 0, training_due_ = 0;
  int made_ = 0, minute_ = 0;
};

}  // namespace

DayFigures play_day(const DayRules& rules) { return Day(rules).play(); }

}  // namespace berth::queue
