// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_records.h"

#include <algorithm>

namespace berth::queue::test {
namespace {

bool is_extended(const std::string& resource) { return resource.find('/') != resource.npos; }

// "A record of an earlier berth says amounts alone. Of the class, any GPU resources may make it
// up."
std::vector<SeatShape> shapes_in(const AdmissionFact& record) {
  if (!record.shapes.empty()) return record.shapes;
  bool of_class = false;
  for (const auto& [resource, amount] : record.amounts) of_class = of_class || resource == "gpu";
  SeatShape all{.seat = "", .pods = record.pods, .asks = {}};
  for (const auto& [resource, amount] : record.amounts)
    if (!of_class || !is_gpu(resource)) all.asks.emplace_back(resource, amount);
  return {all};
}

// What of `asks` is more than `cover`. "Of what no quota covered a record without shapes says
// nothing."
ResourceSums more_than(const AdmissionFact& record, const ResourceSums& cover,
                       const ResourceSums& asks, const Worth& worth) {
  ResourceSums more;
  const auto of_class = cover.find("gpu");
  std::int64_t gpus = 0;
  for (const auto& [resource, amount] : asks) {
    if (is_gpu(resource)) gpus += amount * worth(resource);
    if (is_gpu(resource) && of_class != cover.end()) continue;
    const auto found = cover.find(resource);
    if (found == cover.end() && record.shapes.empty() && !is_gpu(resource)) continue;
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

// "Without a role, the GPUs that it asks are its role."
std::string kind_of(const PodFact& pod) {
  if (!pod.role.empty()) return pod.role;
  std::string text;
  for (const auto& [resource, amount] : pod.requests)
    if (is_gpu(resource) && amount > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(amount) + " " + resource;
  return text.empty() ? "no GPU" : text;
}

}  // namespace

ResourceSums asked_beyond(const AdmissionFact& record, std::int64_t counted,
                          const std::vector<const PodFact*>& pods, bool with_leaving,
                          const Worth& worth) {
  const std::int64_t of = std::max<std::int64_t>(1, record.pods);
  ResourceSums cover, asks;
  for (const SeatShape& shape : shapes_in(record))
    for (const auto& [resource, amount] : shape.asks) cover[resource] += amount;
  for (auto& [resource, amount] : cover) amount = (amount * counted + of - 1) / of;
  for (const PodFact* pod : pods) {
    if (pod->state == PodState::kWaiting) continue;
    if (with_leaving || pod->state != PodState::kLeaving) add(asks, pod->requests);
  }
  return more_than(record, cover, asks, worth);
}

std::vector<const PodFact*> covered_by(const AdmissionFact& record,
                                       const std::vector<const PodFact*>& pods,
                                       const std::vector<const PodFact*>& ended, std::int64_t size,
                                       const Worth& worth) {
  const bool alike = record.seats.empty();
  const auto seat_of = [&](const PodFact& pod) { return alike ? "" : kind_of(pod); };
  std::map<std::string, std::vector<const PodFact*>> seated;
  const auto shows = [&](const PodFact* pod) {
    return pod->admitted && pod->admitted->since == record.since;
  };
  std::int64_t living = 0;
  for (const PodFact* pod : pods) {
    if (pod->state == PodState::kWaiting) continue;
    ++living;
    if (!alike || shows(pod)) seated[seat_of(*pod)].push_back(pod);
  }
  for (const PodFact* pod : ended)
    if (shows(pod)) seated[seat_of(*pod)].push_back(pod);

  // Several seats may have one cover, as of a record without shapes.
  const std::vector<SeatShape> shapes = shapes_in(record);
  const auto cover_name = [&](const std::string& seat) {
    return std::ranges::any_of(shapes, [&](const SeatShape& of) { return of.seat == seat; }) ? seat
                                                                                             : "";
  };
  std::map<std::string, std::int64_t> seats(record.seats.begin(), record.seats.end());
  if (alike) seats[""] = record.pods;
  std::vector<const PodFact*> covered;
  for (const PodFact* pod : pods) {
    if (pod->state != PodState::kWaiting || (alike && living >= size)) continue;
    const std::string seat = seat_of(*pod);
    if (!seats.contains(seat) || std::ssize(seated[seat]) >= seats[seat]) continue;
    ResourceSums cover, asks;
    bool any = false;
    for (const SeatShape& shape : shapes) {
      if (shape.seat != cover_name(seat)) continue;
      any = true;
      for (const auto& [resource, amount] : shape.asks) cover[resource] += amount;
    }
    for (const auto& [other, members] : seated) {
      if (!seats.contains(other) || cover_name(other) != cover_name(seat)) continue;
      for (const PodFact* member : members) add(asks, member->requests);
    }
    // What lives may exceed the cover in what this one does not ask.
    ResourceSums own;
    add(own, pod->requests);
    ResourceSums with = asks;
    for (const auto& [resource, amount] : own) with[resource] += amount;
    const ResourceSums more = more_than(record, cover, with, worth);
    const bool fits = std::ranges::all_of(own, [&](const auto& ask) {
      return !more.contains(ask.first) && !(is_gpu(ask.first) && more.contains("gpu"));
    });
    if (!any || !fits) continue;
    seated[seat].push_back(pod);
    ++living;
    covered.push_back(pod);
  }
  return covered;
}

}  // namespace berth::queue::test
