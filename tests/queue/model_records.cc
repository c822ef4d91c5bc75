// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_records.h"

#include <algorithm>

namespace berth::queue::test {
namespace {

bool is_extended(const std::string& resource) { return resource.find('/') != resource.npos; }

// A record of an earlier version has only amounts. Any GPU resources may make up an amount of
// `gpu`.
ResourceSums total_in(const AdmissionFact& record) {
  ResourceSums total;
  for (const SeatShape& shape : record.shapes)
    for (const auto& [resource, amount] : shape.asks) total[resource] += amount * shape.pods;
  if (!record.shapes.empty()) return total;
  bool of_class = false;
  for (const auto& [resource, amount] : record.amounts) of_class = of_class || resource == "gpu";
  for (const auto& [resource, amount] : record.amounts)
    if (!of_class || !is_gpu_resource(resource)) total[resource] += amount;
  return total;
}

// The part of `asks` above `cover`. A record without shapes does not limit resources that no quota
// covers.
ResourceSums more_than(const AdmissionFact& record, const ResourceSums& cover,
                       const ResourceSums& asks, const Worth& worth) {
  ResourceSums more;
  const auto of_class = cover.find("gpu");
  std::int64_t gpus = 0;
  for (const auto& [resource, amount] : asks) {
    if (is_gpu_resource(resource)) gpus += amount * worth(resource);
    if (is_gpu_resource(resource) && of_class != cover.end()) continue;
    const auto found = cover.find(resource);
    if (found == cover.end() && record.shapes.empty() && !is_gpu_resource(resource)) continue;
    const std::int64_t covered = found == cover.end() ? 0 : found->second;
    if (amount > covered) more[resource] = amount - covered;
  }
  if (of_class != cover.end() && gpus > of_class->second) more["gpu"] = gpus - of_class->second;
  return more;
}

void add(ResourceSums& sums, const Amounts& requests) {
  for (const auto& [resource, amount] : requests)
    if (is_extended(resource) && amount > 0) sums[resource] += amount;
}

// A pod without a role has its GPU requests as its role.
std::string kind_of(const PodFact& pod) {
  if (!pod.role.empty()) return pod.role;
  std::string text;
  for (const auto& [resource, amount] : pod.requests)
    if (is_gpu_resource(resource) && amount > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(amount) + " " + resource;
  return text.empty() ? "no GPU" : text;
}

}  // namespace

ResourceSums asked_beyond(const AdmissionFact& record, std::int64_t counted,
                          const std::vector<const PodFact*>& pods, bool with_leaving,
                          const Worth& worth) {
  const std::int64_t of = std::max<std::int64_t>(1, record.pods);
  ResourceSums cover = total_in(record), asks;
  for (auto& [resource, amount] : cover) amount = (amount * counted + of - 1) / of;
  for (const PodFact* pod : pods) {
    if (pod->state == PodState::kWaiting) continue;
    if (with_leaving || pod->state != PodState::kLeaving) add(asks, pod->requests);
  }
  return more_than(record, cover, asks, worth);
}

namespace {

// The places of one role: each place's requests, in the admission's order.
using Places = std::vector<ResourceSums>;

bool fits(const PodFact& pod, const ResourceSums& place) {
  ResourceSums asks;
  add(asks, pod.requests);
  return std::ranges::all_of(asks, [&](const auto& ask) {
    const auto found = place.find(ask.first);
    return found != place.end() && ask.second <= found->second;
  });
}

// Takes the first place that requests at least as much.
bool take_first(const PodFact& pod, Places& places) {
  const auto place =
      std::ranges::find_if(places, [&](const ResourceSums& of) { return fits(pod, of); });
  if (place == places.end()) return false;
  places.erase(place);
  return true;
}

}  // namespace

std::vector<const PodFact*> covered_by(const AdmissionFact& record,
                                       const std::vector<const PodFact*>& pods,
                                       const std::vector<const PodFact*>& ended, std::int64_t size,
                                       const Worth& worth) {
  const bool alike = record.seats.empty();
  const auto seat_of = [&](const PodFact& pod) { return alike ? "" : kind_of(pod); };
  std::map<std::string, std::int64_t> seats(record.seats.begin(), record.seats.end());
  if (alike) seats[""] = record.pods;
  std::map<std::string, Places> places;
  for (const SeatShape& shape : record.shapes)
    for (std::int64_t i = 0; i < shape.pods; ++i) {
      ResourceSums& place = places[shape.seat].emplace_back();
      for (const auto& [resource, amount] : shape.asks) place[resource] += amount;
    }
  ResourceSums together;  // of seated pods
  const auto sit = [&](const PodFact* pod) {
    --seats[seat_of(*pod)];
    add(together, pod->requests);
  };
  const auto occupy = [&](const PodFact* pod) {
    const std::string seat = seat_of(*pod);
    if (!seats.contains(seat) || seats[seat] <= 0) return;
    if (!take_first(*pod, places[seat]) && !places[seat].empty()) places[seat].pop_back();
    sit(pod);
  };
  const auto shows = [&](const PodFact* pod) {
    return pod->admitted && pod->admitted->since == record.since;
  };
  std::int64_t living = 0;
  for (const PodFact* pod : pods) {
    if (pod->state == PodState::kWaiting) continue;
    ++living;
    if (!alike || shows(pod)) occupy(pod);
  }
  for (const PodFact* pod : ended)
    if (shows(pod)) occupy(pod);

  std::vector<const PodFact*> covered;
  for (const PodFact* pod : pods) {
    if (pod->state != PodState::kWaiting || (alike && living >= size)) continue;
    const std::string seat = seat_of(*pod);
    if (!seats.contains(seat) || seats[seat] <= 0) continue;
    if (record.shapes.empty()) {
      // Living pods may exceed the amounts in resources that this pod does not request.
      ResourceSums own, with = together;
      add(own, pod->requests);
      for (const auto& [resource, amount] : own) with[resource] += amount;
      const ResourceSums more = more_than(record, total_in(record), with, worth);
      const bool fits_in = std::ranges::all_of(own, [&](const auto& ask) {
        return !more.contains(ask.first) && !(is_gpu_resource(ask.first) && more.contains("gpu"));
      });
      if (!fits_in) continue;
    } else if (!take_first(*pod, places[seat])) {
      continue;
    }
    sit(pod);
    ++living;
    covered.push_back(pod);
  }
  return covered;
}

}  // namespace berth::queue::test
