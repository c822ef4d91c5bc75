// SPDX-License-Identifier: Apache-2.0
// The adversarial binder: after each decision, an adversary binds pods one by one, in any order,
// each to any node that its pin, its rules and the free capacity allow, while more is decided and
// work ends. Every pod must always find a node, and every gang with a required domain must be in
// one domain.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "tests/queue/cases.h"
#include "tests/queue/units.h"

namespace berth::queue::test {
namespace {

class Binder {
 public:
  explicit Binder(std::uint64_t seed) : random_(seed) {
    index_.put(TopologyFact{{"zone", "rack"}});
    for (int i = 0, n = 2 + below(6); i < n; ++i) add_node(i);
    for (int i = 0; i < 8; ++i) {
      const std::pair refusal{fmt::format("s{}", below(3)), fmt::format("n{}", below(8))};
      refused_.insert(refusal);
      index_.refuse(refusal.first, refusal.second, true);
    }
    QueueFact queue{.name = "q"};
    for (const char* pool : {"train", "inf", "*"})
      for (const char* resource : {kGpu, kMig})
        if (chance(80)) queue.quotas.push_back({resource, pool, 2 + below(30), {}, {}});
    index_.put(queue);
  }

  // Returns how many workloads were admitted.
  int run(int steps) {
    for (int step = 0; step < steps; ++step) {
      if (chance(35)) arrive();
      if (chance(30)) decide();
      if (chance(25)) end_one();
      for (int i = below(4); i > 0; --i) bind_one();
      if (::testing::Test::HasFailure()) break;
    }
    while (!released_.empty() && !::testing::Test::HasFailure()) bind_one();
    return admitted_;
  }

 private:
  struct Work {
    JobFact job;  // for a Job
    std::vector<PodFact> pods;
    bool is_job = false;
    bool required = false;
    std::size_t level = 0;
  };

  void add_node(int i) {
    NodeFact node{.name = fmt::format("n{}", i), .pool = chance(70) ? "train" : "inf"};
    node.offers = {{"cpu", 1000 * (4 + below(30))}, {kGpu, below(9)}, {kMig, below(8)}};
    node.domains = {fmt::format("z{}", below(2)), fmt::format("r{}", below(3))};
    nodes_[node.name] = node;
    index_.put(node);
  }

  Amounts requests() {
    Amounts amounts{{"cpu", 1000 * (1 + below(3))}};
    if (chance(75)) amounts.emplace_back(kGpu, 1 + below(4));
    if (amounts.size() == 1 || chance(15)) amounts.emplace_back(kMig, 1 + below(3));
    return amounts;
  }

  TopologyWish wish() {
    if (chance(50)) return {};
    return {chance(50) ? "zone" : "rack", chance(60)};
  }

  void arrive() {
    const std::string id = std::to_string(made_++);
    Work work{.is_job = chance(45)};
    const TopologyWish wants = wish();
    work.required = wants.required;
    work.level = wants.level == "rack" ? 1 : 0;
    const std::string rules = fmt::format("s{}", below(4));
    const int pods = 1 + below(chance(60) ? 3 : 9);
    if (work.is_job) {
      work.job = {.workload = "Job/ns/" + id,
                  .uid = id + "-job",
                  .queue = "q",
                  .created = made_,
                  .requests = requests(),
                  .parallelism = pods,
                  .rules = rules,
                  .topology = wants};
      index_.put(work.job);
      waiting_[work.job.workload] = work;
      return;
    }
    for (int i = 0; i < pods; ++i) {
      if (i == 0 || chance(30)) last_requests_ = requests();
      work.pods.push_back({.uid = fmt::format("{}-{}", id, i),
                           .workload = "PodGroup/ns/" + id,
                           .queue = "q",
                           .created = made_,
                           .group_size = pods,
                           .rules = rules,
                           .topology = wants,
                           .requests = last_requests_});
      index_.put(work.pods.back());
    }
    waiting_["PodGroup/ns/" + id] = work;
  }

  void decide() {
    std::vector<LedgerFact> entries;
    {
      Cycle cycle(index_);
      cycle.run(1 + static_cast<std::size_t>(below(5)));
      for (const Admission& admission : cycle.admissions())
        entries.push_back({*admission.workload->name, admission_fact(admission, index_)});
    }
    for (LedgerFact& entry : entries) {
      entry.admission.since = ++clock_;
      index_.put(entry);
    }
    for (const LedgerFact& entry : entries) let_go(entry);
  }

  void let_go(const LedgerFact& entry) {
    ++admitted_;
    Work work = waiting_.extract(entry.workload).mapped();
    if (work.is_job) {
      work.job.suspended = false;
      work.job.admitted = entry.admission;
      index_.put(work.job);
      for (int i = 0; i < work.job.parallelism; ++i)
        work.pods.push_back({.uid = fmt::format("{}-{}", work.job.uid, i),
                             .workload = entry.workload,
                             .queue = "q",
                             .rules = work.job.rules,
                             .requests = work.job.requests});
    }
    for (PodFact& pod : work.pods) {
      pod.state = PodState::kReleased;
      if (!work.is_job) {
        const std::string_view node = node_of(entry.admission, pod.uid);
        pod.admitted = entry.admission;
        pod.admitted->uid = pod.uid;
        pod.admitted->nodes = {std::string(node)};
        pod.admitted->members.clear();
        ASSERT_FALSE(node.empty()) << pod.uid;
      }
      index_.put(pod);
      released_.emplace_back(entry.workload, pod.uid);
    }
    index_.remove_ledger(entry.workload);
    running_[entry.workload] = work;
  }

  bool has_room(const NodeFact& node, const PodFact& pod) {
    if (refused_.contains({pod.rules, node.name})) return false;
    return std::ranges::all_of(pod.requests, [&](const auto& request) {
      const auto offer = std::ranges::find(node.offers, request.first,
                                           &std::pair<std::string, std::int64_t>::first);
      return offer != node.offers.end() &&
             offer->second - taken_[node.name][request.first] >= request.second;
    });
  }

  void take(const PodFact& pod, std::int64_t sign) {
    for (const auto& [resource, amount] : pod.requests) taken_[pod.node][resource] += sign * amount;
  }

  void bind_one() {
    if (released_.empty()) return;
    const auto at = released_.begin() + below(static_cast<int>(released_.size()));
    Work& work = running_.at(at->first);
    PodFact& pod = *std::ranges::find(work.pods, at->second, &PodFact::uid);
    const auto& pinned = work.is_job ? work.job.admitted->nodes : pod.admitted->nodes;
    std::vector<const NodeFact*> open;
    for (const std::string& name : pinned)
      if (has_room(nodes_.at(name), pod)) open.push_back(&nodes_.at(name));
    ASSERT_FALSE(open.empty()) << pod.uid << " of " << at->first << " fits on none of "
                               << fmt::format("{}", fmt::join(pinned, ", "));
    pod.node = open[static_cast<std::size_t>(below(static_cast<int>(open.size())))]->name;
    pod.state = PodState::kBound;
    take(pod, +1);
    index_.put(pod);
    released_.erase(at);
    check_domain(work);
  }

  void check_domain(const Work& work) {
    if (!work.required) return;
    std::set<std::vector<std::string>> domains;
    for (const PodFact& pod : work.pods) {
      if (pod.node.empty()) continue;
      const auto& of = nodes_.at(pod.node).domains;
      domains.emplace(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(work.level) + 1);
    }
    ASSERT_LE(domains.size(), 1u) << work.pods.front().workload;
  }

  void end_one() {
    if (running_.empty()) return;
    auto it = running_.begin();
    std::advance(it, below(static_cast<int>(running_.size())));
    const auto unbound = [&](const auto& entry) { return entry.first == it->first; };
    if (std::ranges::any_of(released_, unbound)) return;
    if (it->second.is_job) index_.remove_job(it->first);
    for (const PodFact& pod : it->second.pods) {
      take(pod, -1);
      index_.remove_pod(pod.uid);
    }
    running_.erase(it);
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  std::mt19937_64 random_;
  FactsIndex index_;
  std::map<std::string, NodeFact> nodes_;
  std::set<std::pair<std::string, std::string>> refused_;
  std::map<std::string, std::map<std::string, std::int64_t>> taken_;  // by bound pods, by node
  std::map<std::string, Work> waiting_, running_;
  std::vector<std::pair<std::string, std::string>> released_;  // workload and uid of unbound pods
  Amounts last_requests_;
  std::int64_t clock_ = 0;
  int made_ = 0, admitted_ = 0;
};

TEST(Binder, EveryPodThatIsLetGoFindsItsNodeWhateverTheOrder) {
  int admitted = 0;
  for (std::uint64_t seed = 0; admitted < cases(25'000); ++seed) {
    SCOPED_TRACE(seed);
    admitted += Binder(seed).run(100);
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace berth::queue::test
