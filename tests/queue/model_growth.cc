// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_growth.h"

#include <algorithm>

namespace berth::queue::test {

// As many as fit on the largest node of the pool, if it were empty.
std::int64_t ModelGrowth::on_one_node(const Role& role, const std::string& pool) const {
  std::int64_t most = 0;
  for (const NodeFact& node : facts.nodes) {
    if (node.pool != pool || facts.refusals.contains({std::get<std::string>(role), node.name}))
      continue;
    const Asks offers(node.offers.begin(), node.offers.end());
    std::int64_t pods = 0;
    const auto holds = [&](std::int64_t of) {
      return std::ranges::all_of(std::get<Amounts>(role), [&](const auto& ask) {
        const auto offer = offers.find(ask.first);
        return ask.second * of <= (offer == offers.end() ? 0 : offer->second);
      });
    };
    while (pods < 1000 && holds(pods + 1)) ++pods;
    most = std::max(most, pods);
  }
  return most;
}

// Only pods with equal requests share a node; their strictest rules decide how many.
std::int64_t ModelGrowth::nodes_for(const std::map<Role, std::int64_t>& roles,
                                    const std::string& pool) const {
  std::map<Amounts, std::pair<std::int64_t, std::int64_t>> alike;  // pods, and how many per node
  for (const auto& [role, pods] : roles) {
    const std::int64_t each = std::max<std::int64_t>(1, on_one_node(role, pool));
    auto& [all, least] = alike.try_emplace(std::get<Amounts>(role), 0, each).first->second;
    all += pods;
    least = std::min(least, each);
  }
  std::int64_t nodes = 0;
  for (const auto& [asks, of] : alike) nodes += (of.first + of.second - 1) / of.second;
  return nodes;
}

std::int64_t ModelGrowth::nodes_of(const std::string& pool) const {
  return std::ranges::count(facts.nodes, pool, &NodeFact::pool);
}

std::map<Role, std::int64_t> ModelGrowth::waiting_in(const std::string& pool) const {
  const auto found = waiting.find(pool);
  return found == waiting.end() ? std::map<Role, std::int64_t>() : found->second;
}

std::optional<std::int64_t> ModelGrowth::nodes_left(const std::string& pool) const {
  for (const auto& [name, most] : facts.elastic.max_nodes) {
    if (name != pool) continue;
    const std::int64_t to_come = std::max<std::int64_t>(0, most - nodes_of(pool));
    return std::max<std::int64_t>(0, to_come - nodes_for(waiting_in(pool), pool));
  }
  return std::nullopt;
}

bool ModelGrowth::holds(const std::map<Role, std::int64_t>& roles, const std::string& pool) const {
  for (const auto& [name, most] : facts.elastic.max_nodes) {
    if (name != pool) continue;
    std::map<Role, std::int64_t> all = waiting_in(pool);
    const bool has_nodes = nodes_of(pool) > 0;
    // In a pool without nodes nothing is known, so one workload is admitted, whatever its size.
    if (!has_nodes && all.empty()) return most > 0;
    for (const auto& [role, pods] : roles) {
      if (has_nodes && on_one_node(role, pool) == 0) return false;
      all[role] += pods;
    }
    return nodes_for(all, pool) <= most - nodes_of(pool);
  }
  return false;
}

}  // namespace berth::queue::test
