// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/record_cover.h"

#include <algorithm>
#include <utility>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts/capped.h"

namespace berth::queue {
namespace {

// Sorted by resource name, so that equal records give equal shapes in any order.
Amounts cover_of_amounts(const Amounts& amounts) {
  Amounts cover = amounts;
  const auto is_class = [](const auto& entry) { return entry.first == kGpuClass; };
  if (std::ranges::none_of(amounts, is_class)) return cover;
  std::erase_if(cover, [](const auto& entry) { return is_gpu_resource(entry.first); });
  return cover;
}

// Sums the requests of the pods that are not gated, by resource.
Vector asked_by(const PodsOfWorkload& living, bool with_leaving, const Catalog& catalog) {
  std::map<ResourceId, std::int64_t> sums;
  for (const auto& [shape, members] : living.shapes) {
    const std::int64_t pods =
        members.released + members.bound + (with_leaving ? members.leaving : 0);
    if (pods == 0) continue;
    for (const auto& [resource, amount] : catalog.shape_requests(shape)) {
      std::int64_t& sum = sums[resource];
      sum = capped_sum(sum, capped_product(amount, pods));
    }
  }
  return {sums.begin(), sums.end()};
}

PoolId pool_of(const AdmissionFact& admission, const Catalog& catalog) {
  const PoolId* pool = catalog.find_pool(admission.pool);
  return pool == nullptr ? Catalog::kAny : *pool;
}

std::int64_t amount_in(const Vector& amounts, ResourceId resource) {
  const auto found = std::ranges::find(amounts, resource, &Vector::value_type::first);
  return found == amounts.end() ? 0 : found->second;
}

}  // namespace

bool is_newer(const AdmissionFact& admission) { return admission.version > kRecordVersion; }

std::optional<std::int64_t> newer_version(const Workload& workload) {
  std::int64_t latest = 0;
  const auto look_at = [&](const AdmissionFact* admission) {
    if (admission != nullptr) latest = std::max(latest, admission->version);
  };
  if (workload.job) look_at(workload.job->admitted.get());
  if (workload.pods)
    for (const Pod* pod : workload.pods->admitted) look_at(pod->admitted.get());
  if (workload.in_flight) look_at(&workload.in_flight->admission);
  if (workload.restart) look_at(&workload.restart->admission);
  if (workload.recall) latest = std::max(latest, workload.recall->version);
  return latest > kRecordVersion ? std::optional(latest) : std::nullopt;
}

Amounts total_of(const AdmissionFact& admission) {
  if (admission.shapes.empty()) return cover_of_amounts(admission.amounts);
  std::map<std::string, std::int64_t> sums;
  for (const SeatShape& shape : admission.shapes)
    for (const auto& [resource, amount] : shape.asks) {
      std::int64_t& sum = sums[resource];
      sum = capped_sum(sum, capped_product(amount, shape.pods));
    }
  return {sums.begin(), sums.end()};
}

bool goes_by_worth(const AdmissionFact& admission) {
  return admission.shapes.empty() && std::ranges::any_of(admission.amounts, [](const auto& entry) {
           return entry.first == kGpuClass;
         });
}

CoverLeft::CoverLeft(const Amounts& asks, bool has_shapes, std::int64_t pods, std::int64_t of,
                     PoolId pool, const Catalog& catalog, const NodeRoom& room)
    : has_shapes_(has_shapes), pool_(pool), catalog_(catalog), room_(room) {
  for (const auto& [name, amount] : asks) {
    const ResourceId* resource = catalog.find_resource(name);
    if (resource == nullptr) continue;  // no pod requests it
    std::int64_t& left = left_[*resource];
    left = capped_sum(left, amount);
  }
  for (auto& [resource, left] : left_) left = part_of(left, pods, of);
}

// Returns the GPU resources in `asks` as millionths of a GPU.
std::int64_t CoverLeft::worth(const Vector& asks) const {
  std::int64_t worth = 0;
  for (const auto& [resource, amount] : asks)
    if (catalog_.counts_as_gpu(resource))
      worth = capped_sum(worth, capped_product(amount, room_.weight(pool_, resource)));
  return worth;
}

Vector CoverLeft::lacking(const Vector& asks) const {
  Vector lacking;
  const auto of_class = left_.find(Catalog::kClass);
  if (of_class != left_.end()) {
    const std::int64_t asked = worth(asks), lack = asked - of_class->second;
    if (asked > 0 && lack > 0) lacking.emplace_back(Catalog::kClass, lack);
  }
  for (const auto& [resource, amount] : asks) {
    if (!catalog_.is_extended(resource)) continue;
    if (catalog_.counts_as_gpu(resource) && of_class != left_.end()) continue;
    const auto left = left_.find(resource);
    if (left == left_.end() && !has_shapes_ && !catalog_.counts_as_gpu(resource)) continue;
    const std::int64_t lack = amount - (left == left_.end() ? 0 : left->second);
    if (lack > 0) lacking.emplace_back(resource, lack);
  }
  return lacking;
}

void CoverLeft::take(const Vector& asks) {
  const auto of_class = left_.find(Catalog::kClass);
  if (of_class != left_.end()) of_class->second -= worth(asks);
  for (const auto& [resource, amount] : asks)
    if (const auto left = left_.find(resource); left != left_.end()) left->second -= amount;
}

SeatsLeft::SeatsLeft(const AdmissionFact& admission, const Catalog& catalog, const NodeRoom& room)
    : admission_(admission),
      catalog_(catalog),
      together_(total_of(admission), /*has_shapes=*/false, 1, 1, pool_of(admission, catalog),
                catalog, room) {
  if (admission.seats.empty()) seats_[""].pods = admission.pods;
  for (const auto& [seat, pods] : admission.seats) seats_[seat].pods = pods;
  for (const SeatShape& shape : admission.shapes) {
    const auto seat = seats_.find(shape.seat);
    if (seat == seats_.end()) continue;
    Places& places = seat->second.places.emplace_back(Places{{}, shape.pods});
    for (const auto& [resource, amount] : shape.asks)
      if (const ResourceId* id = catalog.find_resource(resource))
        places.asks.emplace_back(*id, amount);
  }
}

SeatsLeft::Seat* SeatsLeft::find(const Pod& pod) {
  const auto found = seats_.find(admission_.seats.empty() ? "" : seat_of(pod, catalog_));
  return found == seats_.end() || found->second.pods <= 0 ? nullptr : &found->second;
}

bool SeatsLeft::covers(const Places& places, const Vector& asks) const {
  return places.pods > 0 && std::ranges::all_of(asks, [&](const auto& ask) {
           return !catalog_.is_extended(ask.first) ||
                  ask.second <= amount_in(places.asks, ask.first);
         });
}

void SeatsLeft::take(Seat& seat, Places* places, const Vector& asks) {
  --seat.pods;
  if (places != nullptr) --places->pods;
  together_.take(asks);
}

void SeatsLeft::occupy(const Pod& pod) {
  Seat* seat = find(pod);
  if (seat == nullptr) return;
  const Vector& asks = catalog_.shape_requests(pod.shape);
  Places* last = nullptr;
  for (Places& places : seat->places) {
    if (covers(places, asks)) return take(*seat, &places, asks);
    if (places.pods > 0) last = &places;
  }
  take(*seat, last, asks);
}

bool SeatsLeft::seat(const Pod& pod) {
  Seat* seat = find(pod);
  if (seat == nullptr) return false;
  const Vector& asks = catalog_.shape_requests(pod.shape);
  const auto places =
      std::ranges::find_if(seat->places, [&](const Places& of) { return covers(of, asks); });
  const bool covered =
      admission_.shapes.empty() ? together_.lacking(asks).empty() : places != seat->places.end();
  if (!covered && !seeded(SeededBug::kReleaseUncovered)) return false;
  take(*seat, places == seat->places.end() ? nullptr : &*places, asks);
  return true;
}

std::vector<Beyond> beyond_record(const AdmissionFact& admission, std::int64_t pods,
                                  std::int64_t leaving, const PodsOfWorkload& living,
                                  Catalog& catalog, const NodeRoom& room) {
  const Amounts asks = total_of(admission);
  const PoolId pool = catalog.pool(admission.pool);
  const std::int64_t of = std::max<std::int64_t>(1, admission.pods);
  const auto lacking = [&](std::int64_t covered, bool with_leaving) {
    const CoverLeft cover(asks, !admission.shapes.empty(), covered, of, pool, catalog, room);
    return cover.lacking(asked_by(living, with_leaving, catalog));
  };
  const Vector total = lacking(pods, true);
  std::vector<Beyond> beyond;
  if (total.empty()) return beyond;
  const Vector stays = leaving == 0      ? total
                       : leaving >= pods ? Vector()
                                         : lacking(pods - leaving, false);
  for (const auto& [resource, amount] : total)
    beyond.push_back({resource, amount, amount - std::min(amount, amount_in(stays, resource))});
  return beyond;
}

}  // namespace berth::queue
