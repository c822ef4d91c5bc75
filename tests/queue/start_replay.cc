// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/start_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "tests/queue/start_laws.h"
#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

constexpr std::int64_t kEvery = 5 * kMinute;  // between forecasts for pending Jobs
constexpr int kAgain = 3;                     // every so many times also samples earlier forecasts

}  // namespace

StartReplay::StartReplay(std::uint64_t seed, const ReplayedCluster& cluster)
    : random_(seed), cluster_(cluster) {
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = fmt::format("n{:02}", i);
    index_.put(NodeFact{.name = name, .pool = "p", .offers = {{kGpu, kGpusOfNode}}});
    free_[name] = kGpusOfNode;
  }
  const auto add = [&](const std::string& name, std::int64_t nominal) {
    index_.put(QueueFact{.name = name,
                         .cohort = "all",
                         .quotas = {{kGpu, "p", nominal, {}, {}}},
                         .strict_fifo = cluster.strict_fifo});
  };
  if (cluster.one_queue) add(queue_of(kTeams.front(), true), kNodes * kGpusOfNode);
  for (const Team& team : kTeams)
    if (!cluster.one_queue) add(queue_of(team, false), team.nominal);
}

double StartReplay::chance() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

template <class T>
const T& StartReplay::any_of(const std::vector<T>& of) {
  return of[static_cast<std::size_t>(chance() * static_cast<double>(of.size()))];
}

StartReplay::Run StartReplay::next(int number) {
  const Team& team = any_of(kTeams);
  const GangSize& size = any_of(kSizes);
  const std::int64_t declared = any_of(kDeclared);
  Run run{.fact = job_of(team, size, declared, fmt::format("j{:04}", number), cluster_.one_queue),
          .namespace_ = team.name};
  run.fact.created = now_;
  const double share = draw_share(team, [this] { return chance(); });
  run.takes = static_cast<std::int64_t>(share * static_cast<double>(run.fact.lasts));
  return run;
}

double StartReplay::mean_gpu_time() {
  StartReplay other(1, cluster_);
  double sum = 0;
  constexpr int kMany = 10'000;
  for (int i = 0; i < kMany; ++i) {
    const Run run = other.next(i);
    sum += static_cast<double>(run.takes * run.fact.parallelism * run.fact.requests.front().second);
  }
  return sum / kMany;
}

std::vector<ToldStart> StartReplay::run(int jobs) {
  const double between = mean_gpu_time() / (kNodes * kGpusOfNode * cluster_.load);
  if (cluster_.knowing != Knowing::kWhatItSees)
    oracle_.emplace(index_, cluster_.one_queue, between);
  std::int64_t arrives = 0, looks = kEvery;
  for (int made = 0; made < jobs || !ends_.empty();) {
    const bool more = made < jobs;
    const std::int64_t ends = ends_.empty() ? INT64_MAX : ends_.begin()->first;
    now_ = std::min({more ? arrives : INT64_MAX, ends, looks});
    if (now_ == looks) {
      looks += kEvery;
      if (more) tell(cluster_.looks_again && looks / kEvery % kAgain == 0);
      continue;
    }
    if (now_ == ends) {
      end(std::string(ends_.begin()->second));
    } else {
      arrive(next(made++));
      arrives = now_ + static_cast<std::int64_t>(-std::log(1 - chance()) * between);
    }
    decide();
  }
  std::ranges::stable_sort(out_, {}, &ToldStart::told);
  return std::move(out_);
}

void StartReplay::arrive(Run run) {
  index_.put(run.fact);
  const std::string name = run.fact.workload;
  runs_.emplace(name, std::move(run));
}

// Workloads that span nodes are bound, which may leave free capacity for others.
void StartReplay::decide() {
  for (bool again = true; again;) {
    std::vector<AdmissionFact> admitted;
    std::vector<std::string> names;
    Cycle cycle(index_, PreemptionTerms{.now = now_});
    cycle.run(1000);
    for (const Admission& admission : cycle.admissions()) {
      names.push_back(*admission.workload->name);
      admitted.push_back(admission_fact(admission, index_));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      runs_.at(names[i]).fact.admitted = admitted[i];
      begin(names[i]);
    }
    again = !names.empty();
  }
}

void StartReplay::begin(const std::string& workload) {
  Run& run = runs_.at(workload);
  run.fact.admitted->since = run.fact.started = now_;
  run.fact.suspended = false;
  run.ends = now_ + run.takes;
  index_.put(run.fact);
  bind(run);
  ends_.emplace(run.ends, workload);
  for (ToldStart& told : run.told) {
    told.started = now_;
    out_.push_back(std::move(told));
  }
}

void StartReplay::bind(const Run& run) {
  const std::int64_t gpus = run.fact.requests.front().second;
  for (int i = 0; i < run.fact.parallelism; ++i) {
    const auto& nodes = run.fact.admitted->nodes;
    const auto node = std::ranges::find_if(
        nodes, [&](const std::string& name) { return free_.at(name) >= gpus; });
    if (node == nodes.end()) throw std::logic_error(run.fact.workload + " finds no room");
    PodFact pod{.uid = fmt::format("{}-{}", run.fact.uid, i),
                .workload = run.fact.workload,
                .requests = run.fact.requests,
                .state = PodState::kBound,
                .node = *node};
    free_[*node] -= gpus;
    stands_[pod.uid] = {*node, gpus};
    pods_[run.fact.workload].push_back(pod.uid);
    index_.put(pod);
  }
}

void StartReplay::end(const std::string& workload) {
  Run& run = runs_.at(workload);
  const auto pods = pods_.extract(workload);
  for (const std::string& pod : pods.mapped()) {
    const auto& [node, gpus] = stands_.at(pod);
    free_[node] += gpus;
    stands_.erase(pod);
    index_.remove_pod(pod);
  }
  run.fact.parallelism = 0;  // the state of a finished Job
  index_.put(run.fact);
  berth::Job finished;
  finished.meta.namespace_ = run.namespace_;
  finished.active_deadline_seconds = run.fact.lasts / 1'000'000;
  finished.start_time = Time(std::chrono::microseconds(run.fact.started));
  finished.finished_at = Time(std::chrono::microseconds(now_));
  shares_.follow({.now = &finished});
  ends_.erase(ends_.begin());
  runs_.erase(workload);
}

void StartReplay::tell(bool again) {
  std::vector<Run*> due;
  for (auto& [name, run] : runs_)
    if (run.fact.suspended && (again || run.told.empty()) && now_ - run.fact.created >= kMinute)
      due.push_back(&run);
  if (due.empty()) return;
  const StartEstimates all = estimates();
  for (Run* run : due) {
    const auto found = all.find(*index_.find(run->fact.workload));
    if (!found) continue;
    const StartEstimate estimate = coarse(*found, now_);
    const bool first = run->told.empty();
    const bool stands = !first && still_tells(run->told.back().estimate, estimate);
    run->told.push_back({run->fact.workload, first, again, now_,
                         stands ? run->told.back().estimate : estimate, run->fact.created, 0});
  }
}

StartEstimates StartReplay::estimates() const {
  if (!oracle_) return StartEstimates(index_, shares_, now_, StartEstimates::kFewTries);
  std::map<std::string, std::int64_t> run_times;
  if (cluster_.knowing == Knowing::kRunTimes)
    for (const auto& [name, run] : runs_) run_times[name] = run.takes;
  return oracle_->estimates(now_, run_times);
}

}  // namespace berth::queue::test
