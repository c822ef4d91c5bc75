// SPDX-License-Identifier: Apache-2.0
// The reference model of rule 11: what is reserved for heads that have waited long. It ends the
// running workloads one after the other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/queue/model_preemption.h"

namespace berth::queue::test {

struct Kept {
  std::string head, queue, cohort;
  const Pool* pool = nullptr;
  std::optional<std::int64_t> from;  // nullopt: unknown
  std::map<Key, std::int64_t> quota;
  Holding room;  // on nodes or in the pool
};

class ModelReservation {
 public:
  // place(candidate, pool) returns a Holding with what the candidate then holds.
  using Place = std::function<Holding(const Candidate&, const Pool&)>;
  ModelReservation(ModelFacts& model, const ModelPreemption& preemption, std::int64_t now,
                   ModelPreemption::Fits fits, Place place);

  // Null if it is not its queue's head, has not waited long enough, or can never fit.
  const Kept* reserve(const Candidate& c, bool is_head);
  const std::vector<Kept>& all() const { return kept_; }
  void hold(const Kept& kept, std::int64_t sign);

 private:
  std::optional<Kept> soonest(const Candidate& c, const Pool& pool);
  std::vector<const Holding*> endings(const Candidate& c) const;

  ModelFacts& model_;
  const ModelPreemption& preemption_;
  std::int64_t now_;
  ModelPreemption::Fits fits_;
  Place place_;
  std::vector<Kept> kept_;
};

}  // namespace berth::queue::test
