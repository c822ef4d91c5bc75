// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/queue_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/preview/words.h"

namespace berth {
namespace {

using queue::Catalog;

std::optional<DomainName> shared_domain(const std::vector<queue::NodeId>& nodes,
                                        const queue::FactsIndex& facts) {
  const queue::NodeRoom& room = facts.room();
  for (std::size_t level = room.levels().size(); level-- > 0;) {
    const auto domain_of = [&](queue::NodeId node) {
      const auto& domains = room.node_at(node).domains;
      return level < domains.size() ? domains[level] : Catalog::kNoDomain;
    };
    const queue::DomainId first = domain_of(nodes.front());
    const auto is_first = [&](queue::NodeId node) { return domain_of(node) == first; };
    if (first != Catalog::kNoDomain && std::ranges::all_of(nodes, is_first))
      return DomainName{room.levels()[level], facts.catalog().domain_path(first).back()};
  }
  return std::nullopt;
}

void put_nodes(std::vector<queue::NodeId> nodes, const queue::FactsIndex& facts, QueuePlace& out) {
  std::ranges::sort(nodes);
  const auto twice = std::ranges::unique(nodes);
  nodes.erase(twice.begin(), twice.end());
  if (nodes.empty()) return;
  for (const queue::NodeId node : nodes) out.nodes.push_back(facts.room().node_name(node));
  std::ranges::sort(out.nodes);
  out.domain = shared_domain(nodes, facts);
}

}  // namespace

QueuePlace place_of(const queue::Admission& admission, const queue::FactsIndex& facts) {
  QueuePlace out{.nodes_to_come = admission.to_come};
  std::vector<queue::NodeId> nodes;
  for (const auto& [shape, node] : admission.nodes) nodes.push_back(node);
  put_nodes(std::move(nodes), facts, out);
  if (admission.narrower)
    out.narrower = {facts.room().levels()[admission.narrower->level], admission.narrower->room,
                    admission.pods};
  return out;
}

QueuePlace place_of(const queue::AdmissionFact& admission, const queue::FactsIndex& facts) {
  QueuePlace out;
  std::vector<queue::NodeId> nodes;
  for (const queue::NodeId node : facts.room().in_order())
    if (std::ranges::find(admission.nodes, facts.room().node_name(node)) != admission.nodes.end())
      nodes.push_back(node);
  put_nodes(std::move(nodes), facts, out);
  return out;
}

std::string where(const QueuePlace& place) {
  if (place.nodes_to_come) return "on nodes that the pool is yet to get";
  if (place.nodes.empty()) return "";
  return fmt::format(
      "on {}{}", name_some(place.nodes),
      place.domain ? fmt::format(", in {} {}", place.domain->level, place.domain->value) : "");
}

std::string why_not_narrower(const QueuePlace& place) {
  if (!place.narrower) return "";
  return fmt::format("the best {} has room for {} of its {} pods", place.narrower->level,
                     place.narrower->room, place.narrower->pods);
}

}  // namespace berth
