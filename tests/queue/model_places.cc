// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_places.h"

#include <algorithm>

#include "tests/queue/model_facts.h"

namespace berth::queue::test {
namespace {

std::string device_of(const Amounts& requests) {
  for (const auto& [resource, amount] : requests)
    if (is_gpu_resource(resource)) return resource;
  for (const auto& [resource, amount] : requests)
    if (resource.find('/') != std::string::npos) return resource;
  return "";
}

std::int64_t device_amount(const Role& role) {
  return amount_of(std::get<Amounts>(role), device_of(std::get<Amounts>(role)));
}

}  // namespace

std::int64_t ModelPlaces::free_on(const NodeFact& node, const std::string& resource) const {
  if (!node.in_service) return 0;
  const auto of = taken.find(node.name);
  const std::int64_t gone =
      of == taken.end() || !of->second.contains(resource) ? 0 : of->second.at(resource);
  return std::max<std::int64_t>(0, amount_of(node.offers, resource) - gone);
}

void ModelPlaces::take(const std::string& node, const Amounts& requests, std::int64_t pods) {
  for (const auto& [resource, amount] : requests) taken[node][resource] += amount * pods;
}

bool ModelPlaces::allows(const NodeFact& node, const Role& role) const {
  return !facts.refusals.contains({std::get<std::string>(role), node.name});
}

bool ModelPlaces::has_room(const NodeFact& node, const Role& role) const {
  return allows(node, role) &&
         std::ranges::all_of(std::get<Amounts>(role), [&](const auto& request) {
           return free_on(node, request.first) >= request.second;
         });
}

std::vector<const NodeFact*> ModelPlaces::nodes_of(const std::string& pool) const {
  std::vector<const NodeFact*> nodes;
  for (const NodeFact& node : facts.nodes)
    if (node.in_service && (pool == "*" || node.pool == pool)) nodes.push_back(&node);
  return nodes;
}

// For a Job: the nodes with free capacity for all its pods, or that no other pod may still come to.
std::vector<const NodeFact*> ModelPlaces::nodes_for(const Ordered& roles, const std::string& pool,
                                                    bool of_job) const {
  std::vector<const NodeFact*> nodes = nodes_of(pool);
  if (!of_job) return nodes;
  ModelPlaces without_pins(*this);
  without_pins.taken = bound;
  const auto& [role, pods] = roles.front();
  std::erase_if(nodes, [&, &role = role, &pods = pods](const NodeFact* node) {
    const bool alone = std::ranges::all_of(std::get<Amounts>(role), [&](const auto& request) {
      return free_on(*node, request.first) == without_pins.free_on(*node, request.first);
    });
    return !alone && room({{}, {node}}, role) < pods;
  });
  return nodes;
}

// For a pod with several devices, nodes with a single NUMA node come first.
bool ModelPlaces::may_split(const NodeFact& node, const Role& role) {
  return device_amount(role) > 1 && !node.one_numa_node;
}

// The roles with the most devices come first.
ModelPlaces::Ordered ModelPlaces::in_order(const std::map<Role, std::int64_t>& roles) {
  Ordered ordered(roles.begin(), roles.end());
  std::ranges::stable_sort(ordered, std::greater(),
                           [](const auto& entry) { return device_amount(entry.first); });
  return ordered;
}

std::size_t ModelPlaces::level(const std::string& name) const {
  return static_cast<std::size_t>(std::ranges::find(facts.topology.levels, name) -
                                  facts.topology.levels.begin());
}

bool ModelPlaces::knows(const std::string& name) const {
  return level(name) < facts.topology.levels.size();
}

std::vector<ModelPlaces::Domain> ModelPlaces::domains_of(const std::vector<const NodeFact*>& nodes,
                                                         std::size_t level) const {
  std::map<std::vector<std::string>, Domain> by_path;
  for (const NodeFact* node : nodes) {
    std::vector<std::string> path(node->domains.begin(),
                                  node->domains.begin() + static_cast<std::ptrdiff_t>(level) + 1);
    if (path.back().empty()) path.clear();
    by_path[path].path = path;
    by_path[path].nodes.push_back(node);
  }
  std::vector<Domain> domains;
  for (auto& [path, domain] : by_path) domains.push_back(std::move(domain));
  return domains;
}

// How many pods of the role fit in the domain.
std::int64_t ModelPlaces::room(const Domain& domain, const Role& role) const {
  ModelPlaces copy(*this);
  std::int64_t pods = 0;
  for (const NodeFact* node : domain.nodes)
    for (; copy.has_room(*node, role); ++pods) copy.take(node->name, std::get<Amounts>(role), 1);
  return pods;
}

std::string ModelPlaces::first_device(const std::map<Role, std::int64_t>& roles) {
  return device_of(std::get<Amounts>(in_order(roles).front().first));
}

// Each pod goes to the node with the least free devices. Among equal nodes, those that do not split
// its request come first, then by name.
ModelPlaces::Stands ModelPlaces::fill(const Ordered& roles, const std::vector<Domain>& domains) {
  ModelPlaces copy(*this);
  Stands stands;
  for (const auto& [role, pods] : roles) {
    const std::string device = device_of(std::get<Amounts>(role));
    for (std::int64_t pod = 0; pod < pods; ++pod) {
      const NodeFact* best = nullptr;
      for (const Domain& domain : domains) {
        if (best != nullptr) break;
        for (const NodeFact* node : domain.nodes) {
          if (!copy.has_room(*node, role)) continue;
          const auto order = [&](const NodeFact* n) {
            return std::tuple(copy.free_on(*n, device), may_split(*n, role), n->name);
          };
          if (best == nullptr || order(node) < order(best)) best = node;
        }
      }
      if (best == nullptr) break;
      copy.take(best->name, std::get<Amounts>(role), 1);
      stands.emplace_back(role, best->name);
    }
  }
  return stands;
}

std::optional<ModelPlaces::Stands> ModelPlaces::find(const std::map<Role, std::int64_t>& roles,
                                                     const std::string& pool,
                                                     const TopologyWish& wish, bool of_job) {
  const Ordered ordered = in_order(roles);
  std::size_t pods = 0;
  for (const auto& [role, count] : roles) pods += static_cast<std::size_t>(count);
  const auto nodes = nodes_for(ordered, pool, of_job);
  const auto all_of_it = [&](const std::vector<Domain>& domains) -> std::optional<Stands> {
    Stands stands = fill(ordered, domains);
    return stands.size() == pods ? std::optional(stands) : std::nullopt;
  };
  if (pods == 1 && !wish.required) return all_of_it({{{}, nodes}});
  std::vector<const NodeFact*> best_first = nodes;
  const std::string device = device_of(std::get<Amounts>(ordered.front().first));
  std::ranges::sort(best_first, {}, [&](const NodeFact* node) {
    return std::tuple(free_on(*node, device), may_split(*node, ordered.front().first), node->name);
  });
  for (const NodeFact* node : best_first) {
    if (wish.required && node->domains[level(wish.level)].empty()) continue;
    if (auto stands = all_of_it({{{}, {node}}})) return stands;
  }
  const std::size_t widest = wish.required ? level(wish.level) : 0;
  for (std::size_t at = facts.topology.levels.size(); at-- > widest;) {
    std::vector<Domain> domains = domains_of(nodes, at);
    std::ranges::stable_sort(
        domains, {}, [&](const Domain& domain) { return room(domain, ordered.front().first); });
    for (const Domain& domain : domains) {
      if (domain.path.empty()) continue;
      if (auto stands = all_of_it({domain})) return stands;
    }
  }
  if (wish.required) return std::nullopt;
  if (wish.level.empty() || !knows(wish.level)) return all_of_it({{{}, nodes}});
  std::vector<Domain> domains = domains_of(nodes, level(wish.level));
  std::ranges::stable_sort(domains, {}, [&](const Domain& domain) {
    return std::pair(domain.path.empty(), -room(domain, ordered.front().first));
  });
  return all_of_it(domains);
}

std::int64_t ModelPlaces::most(const std::map<Role, std::int64_t>& roles, const std::string& pool,
                               const TopologyWish& wish, bool of_job) {
  const auto nodes = nodes_for(in_order(roles), pool, of_job);
  if (!wish.required) return std::ssize(fill(in_order(roles), {{{}, nodes}}));
  std::int64_t most = 0;
  for (const Domain& domain : domains_of(nodes, level(wish.level)))
    if (!domain.path.empty())
      most = std::max<std::int64_t>(most, std::ssize(fill(in_order(roles), {domain})));
  return most;
}

bool ModelPlaces::is_allowed(const std::map<Role, std::int64_t>& roles,
                             const std::string& pool) const {
  const auto nodes = nodes_of(pool);
  return std::ranges::all_of(roles, [&](const auto& entry) {
    return std::ranges::any_of(nodes,
                               [&](const NodeFact* node) { return allows(*node, entry.first); });
  });
}

}  // namespace berth::queue::test
