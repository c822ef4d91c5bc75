// SPDX-License-Identifier: Apache-2.0
// RandomPair: a pod and a node that it may or may not run on, as JSON that the API server could
// have sent. In each pair one rule is tried hard, and the others are mostly kept.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace berth::oracle {

struct Pair {
  nlohmann::json node;
  nlohmann::json pods = nlohmann::json::array();  // that run there
  nlohmann::json pod;
};

class RandomPair {
 public:
  explicit RandomPair(std::uint64_t seed) : random_(seed) {}
  Pair next();

 private:
  enum Rule { kResources, kCount, kSelector, kAffinity, kTaints, kCordon, kRules };
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  bool chance(int percent) { return below(100) < percent; }
  // Whether the rule is to be tried.
  bool tries(Rule rule) { return chance(rule == tried_ ? 70 : 6); }
  const std::string& one_of(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(below(static_cast<int>(words.size())))];
  }

  nlohmann::json make_node();
  nlohmann::json make_pod(const std::string& name);
  nlohmann::json requests(bool large);
  nlohmann::json container(const std::string& name, bool large);
  nlohmann::json term(const nlohmann::json& labels);
  nlohmann::json expression(const nlohmann::json& labels);
  nlohmann::json toleration();
  void select(const nlohmann::json& node, nlohmann::json& pod);

  std::mt19937_64 random_;
  Rule tried_ = kResources;
};

}  // namespace berth::oracle
