// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/admission_fact.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/queue/facts/catalog.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {
namespace {

// Gives each waiting member one of the nodes for its shape, the oldest first. Members that do not
// exist yet get none.
void name_nodes(const Admission& admission, const Catalog& catalog, AdmissionFact& fact) {
  const auto& pods = admission.workload->pods;
  if (admission.workload->job || (pods->all.size() == 1 && admission.pods == 1)) {
    for (const auto& [shape, node] : admission.nodes) fact.nodes.push_back(catalog.node_name(node));
    return;
  }
  std::map<ShapeId, std::vector<NodeId>> nodes;
  for (const auto& [shape, node] : admission.nodes) nodes[shape].push_back(node);
  for (auto& [shape, of_shape] : nodes) std::ranges::reverse(of_shape);
  for (const Pod* pod : pods->all) {
    if (pod->state != PodState::kWaiting || nodes[pod->shape].empty()) continue;
    fact.members.push_back(member_key(*pod->uid));
    fact.nodes.push_back(catalog.node_name(nodes[pod->shape].back()));
    nodes[pod->shape].pop_back();
  }
}

// Records the kinds of the gang's members, because a replacement must be of the same kind as the
// member. A gang that starts before all its members exist does not show the kinds of the others.
void name_seats(const Admission& admission, const Catalog& catalog, AdmissionFact& fact) {
  const auto& pods = admission.workload->pods;
  if (admission.workload->job || !pods || std::ssize(pods->all) != admission.pods) return;
  const auto waits = [](const Pod* pod) { return pod->state == PodState::kWaiting; };
  if (!std::ranges::all_of(pods->all, waits)) return;
  std::map<std::string, std::int64_t> seats;
  for (const Pod* pod : pods->all) ++seats[seat_of(*pod, catalog)];
  if (seats.size() > 1) fact.seats.assign(seats.begin(), seats.end());
}

class Shapes {
 public:
  explicit Shapes(const Catalog& catalog) : catalog_(catalog) {}
  void add(const std::string& seat, ShapeId shape, std::int64_t pods) {
    std::map<std::string, std::int64_t> asks;
    for (const auto& [resource, amount] : catalog_.shape_requests(shape))
      if (catalog_.is_extended(resource)) asks[catalog_.resource_name(resource)] = amount;
    pods_[{seat, Amounts(asks.begin(), asks.end())}] += pods;
  }
  std::vector<SeatShape> take() const {
    std::vector<SeatShape> shapes;
    for (const auto& [of, pods] : pods_) shapes.push_back({of.first, pods, of.second});
    return shapes;
  }

 private:
  const Catalog& catalog_;
  std::map<std::pair<std::string, Amounts>, std::int64_t> pods_;  // by seat and requests
};

// Records the requests of the admitted class. With names of seats if all members exist.
void write_shapes(const Admission& admission, const Catalog& catalog, AdmissionFact& fact) {
  Shapes shapes(catalog);
  if (fact.seats.empty()) {
    const ClassKey& asks = catalog.class_key(admission.workload->standing.workload_class);
    for (const auto& [shape, pods] : asks.roles) shapes.add("", shape, pods);
  } else {
    for (const Pod* pod : admission.workload->pods->all)
      shapes.add(seat_of(*pod, catalog), pod->shape, 1);
  }
  fact.shapes = shapes.take();
}

}  // namespace

AdmissionFact admission_fact(const Admission& admission, const FactsIndex& index) {
  const Catalog& catalog = index.catalog();
  AdmissionFact fact;
  fact.uid = *admission.workload->standing.uid;
  fact.queue = catalog.queue_name(admission.workload->standing.queue);
  if (const auto queue = index.queues().find(fact.queue); queue != index.queues().end())
    fact.cohort = queue->second.cohort;
  fact.pool = catalog.pool_name(admission.pool);
  fact.pods = admission.pods;
  for (const auto& [key, amount] : admission.amounts)
    fact.amounts.emplace_back(catalog.resource_name(catalog.key_parts(key).first), amount);
  std::ranges::sort(fact.amounts);
  name_nodes(admission, catalog, fact);
  name_seats(admission, catalog, fact);
  write_shapes(admission, catalog, fact);
  return fact;
}

}  // namespace berth::queue
