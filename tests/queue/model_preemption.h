// SPDX-License-Identifier: Apache-2.0
// The reference model of rule 9: which workloads are preempted for a workload that fits nowhere. It
// tries every victim one by one.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/queue/model_facts.h"

namespace berth::queue::test {

// While it exists, the model lacks what these workloads hold.
class ThoughtAway {
 public:
  ThoughtAway(ModelFacts& model, std::int64_t now, std::vector<const Holding*> gone);
  ThoughtAway(const ThoughtAway&) = delete;
  ThoughtAway& operator=(const ThoughtAway&) = delete;
  ~ThoughtAway();

 private:
  void move(const Holding& holding, std::int64_t sign);
  void move_nobodies(std::int64_t sign);
  ModelFacts& model_;
  std::int64_t now_;
  std::vector<const Holding*> gone_;
  std::map<Key, std::int64_t> largest_;
};

class ModelPreemption {
 public:
  // fits(candidate, pool): whether the pool now has quota and free capacity for the candidate.
  using Fits = std::function<bool(const Candidate&, const Pool&)>;
  ModelPreemption(ModelFacts& model, std::int64_t now, Fits fits);

  struct Way {
    const Pool* pool = nullptr;
    std::vector<const Holding*> victims;  // least loss first
    std::vector<const Holding*> awaited;  // leaving work that must end first
    std::vector<const Holding*> gone;     // all of these
  };
  std::optional<Way> find(const Candidate& c);
  // The leaving workloads at the start, and `more`.
  std::vector<const Holding*> gone(const std::vector<const Holding*>& more = {}) const;

  // Running workloads that do not leave and did not start in this cycle.
  std::vector<const Holding*> running() const;

  void admitted(const Candidate& c, const Pool& pool);
  void displaced(const std::vector<const Holding*>& victims);

 private:
  struct Funded {  // a queue's running work, and its part within the nominal quota
    std::vector<const Holding*> all;
    std::set<const Holding*> funded;
  };
  Way waiting(const Candidate& c, Way way) {
    await(c, way);
    return way;
  }
  void await(const Candidate& c, Way& way);
  Funded funding(const std::string& queue) const;
  bool would_fund(const Candidate& c, const Pool& pool) const;
  std::int64_t nominal(const std::string& queue, const Key& key) const;
  bool is_within_nominal(const Candidate& c, const Pool& pool) const;
  bool may_go(const Holding& holding, std::int64_t after) const;
  std::vector<const Holding*> own(const Candidate& c, const Pool& pool) const;
  // late: the workloads that budgets protect for a time; else all others.
  std::vector<const Holding*> others(const Candidate& c, bool late) const;
  bool is_late(const Holding& of) const { return model_.facts.kept.contains(of.name); }
  bool suffices(const Candidate& c, const Pool& pool, const std::vector<const Holding*>& victims);
  std::vector<const Holding*> victims_for(const Candidate& c, const Pool& pool);
  bool is_less_loss(const std::string& queue, const Holding& a, const Holding& b) const;

  ModelFacts& model_;
  std::int64_t now_;
  Fits fits_;
  std::vector<Holding> fresh_;
  std::set<const Holding*> displaced_;
};

}  // namespace berth::queue::test
