// SPDX-License-Identifier: Apache-2.0
// Outline: what each owner's pods hold; how much of it they utilized by the ledger; what suffices.
#include "controller/advise/right_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/advise/model_memory.h"
#include "controller/advise/shared_pool.h"
#include "controller/cost/cost_meter.h"
#include "controller/cost/fleet_cost.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/geometry.h"
#include "controller/fleet/gpu_weight.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"

namespace berth::advise {
namespace {

using cost::Micros;

constexpr std::chrono::days kLooksBack{30};
// Means hide peaks: twice the mean has to fit, or the peak where that is known and less.
constexpr std::int64_t kRoom = 2;
constexpr Micros kLeastMeasured = 24 * cost::kSecondsOfHour;  // seconds

// The common properties of one owner's pods.
struct Holding {
  std::string resource;
  std::int64_t each = 0;
  const Product* product = nullptr;
  std::int64_t pods = 0;
  bool alike = true;  // all hold the same number of whole GPUs
};

void add_pod(const Pod& pod, const Node& node, const Product* product, Holding& holding) {
  std::string resource;
  std::int64_t each = 0;
  for (const auto& [name, quantity] : gpus_in(pod.shape->requests)) {
    if (!resource.empty()) holding.alike = false;
    resource = name.str();
    each = quantity.rounded_up();
  }
  if (gpu_weight(node, resource) != kWholeGpu) holding.alike = false;
  const bool first = holding.pods++ == 0;
  if (!first && std::tie(resource, each, product) !=
                    std::tie(holding.resource, holding.each, holding.product))
    holding.alike = false;
  std::tie(holding.resource, holding.each, holding.product) = std::tie(resource, each, product);
}

std::map<std::string, Holding> holdings_of(const Snapshot& snapshot,
                                           const GPUClusterPolicy& policy) {
  std::map<std::string, Holding> holdings;
  for (const auto& node : snapshot.cluster.nodes()) {
    if (!has_gpus(*node) || pool_of(policy, *node) == nullptr) continue;
    const std::optional<Inventory> inventory = inventory_of(*node);
    const Product* product =
        inventory ? find_product(inventory->product, inventory->memory_mib) : nullptr;
    for (const Occupant& occupant : snapshot.cluster.occupants_of(node->meta.name)) {
      if (!occupant.uses_gpu) continue;
      const Pod& pod = *occupant.pod;
      add_pod(pod, *node, product, holdings[owner_key(pod)]);
    }
  }
  return holdings;
}

// Whether the owner may have had an unrecorded peak on that day. Older versions of berth recorded
// no peaks, and the ledger keeps none for its cheapest owners.
bool hides_peak(const cost::Spendings& day, const std::string& owner) {
  if (day.peaks.contains(owner)) return false;
  const auto spent = day.owners.find(owner);
  if (spent == day.owners.end()) return day.owners.contains(cost::kOthers);
  return spent->second.used > 0 || spent->second.idle > 0;
}

// The ledger's sums in one currency. A peak counts only if every day recorded its peak.
cost::Spendings ledger_of(const Snapshot& snapshot, const std::string& currency) {
  cost::Spendings sums;
  std::vector<const cost::Spendings*> days;
  const cost::CostLedger ledger = costs_in(snapshot.cluster, snapshot.settings);
  const std::string first = format_time(snapshot.now - kLooksBack).substr(0, 10);
  for (auto day = ledger.days.lower_bound(first); day != ledger.days.end(); ++day) {
    const auto found = day->second.find(currency);
    if (found == day->second.end()) continue;
    sums.add(found->second, 1);
    days.push_back(&found->second);
  }
  std::erase_if(sums.peaks, [&](const auto& peak) {
    return std::ranges::any_of(
        days, [&](const cost::Spendings* day) { return hides_peak(*day, peak.first); });
  });
  return sums;
}

bool suffices(std::int64_t bytes, const std::optional<std::int64_t>& peak_mib) {
  return !peak_mib || *peak_mib <= bytes >> 20;
}
std::int64_t whole_gpu_bytes(const Product& product) {
  return usable_bytes(product, product.memory_units);
}

const Profile* smallest_profile(const Product& product, std::int64_t percent,
                                const std::optional<std::int64_t>& peak_mib) {
  const Profile* best = nullptr;
  const auto size = [](const Profile& p) { return std::pair(p.compute_slices, p.memory_units); };
  for (const Profile& profile : product.profiles) {
    if (!profile.attributes.empty() || profile.memory_units == product.memory_units) continue;
    if (profile.compute_slices * 100 < percent * product.compute_slices) continue;
    if (!suffices(usable_bytes(product, profile.memory_units), peak_mib)) continue;
    if (best == nullptr || size(profile) < size(*best)) best = &profile;
  }
  return best;
}

// Sets the saving if `remain` of `of` parts of the cost remain.
void settle(Micros month, std::int64_t remain, std::int64_t of, OwnerAdvice& advice) {
  advice.month = month - cost::share_of(month, remain, of);
}

void decide(const Holding& holding, Micros month, OwnerAdvice& advice) {
  const std::int64_t room = room_for(advice);
  const Product* product = holding.product;
  if (holding.each > 1) {
    std::int64_t fewer = std::max<std::int64_t>(1, (holding.each * room + 99) / 100);
    // The memory that several GPUs hold now must fit on fewer.
    std::optional<std::int64_t> all_mib = advice.memory_mib;
    if (all_mib) *all_mib *= holding.each;
    while (product != nullptr && fewer < holding.each &&
           !suffices(whole_gpu_bytes(*product) * fewer, all_mib))
      ++fewer;
    if (fewer >= holding.each) return;
    advice.verdict = Verdict::kFewerGpus;
    advice.instead_each = fewer;
    advice.part = fewer * 100 / holding.each;
    advice.memory_gb = product == nullptr ? 0 : static_cast<int>(product->memory_gb * fewer);
    return settle(month, fewer, holding.each, advice);
  }
  const Profile* profile =
      product == nullptr ? nullptr : smallest_profile(*product, room, advice.memory_mib);
  if (profile == nullptr) return;
  advice.verdict = Verdict::kProfile;
  advice.profile = profile->name;
  advice.instead = mig_resource_name(profile->name);
  advice.memory_gb = product->memory_gb * profile->memory_units / product->memory_units;
  advice.part = profile->compute_slices * 100 / product->compute_slices;
  settle(month, profile_weight(*product, *profile), kWholeGpu, advice);
}

// Advises a part of a shared GPU if that saves more than the present advice.
void consider_sharing(const PoolSpec* pool, const Product* product, Micros month,
                      OwnerAdvice& advice) {
  if (pool == nullptr || advice.each != 1) return;
  if (product != nullptr &&
      !suffices(whole_gpu_bytes(*product) / pool->sharing.replicas, advice.memory_mib))
    return;
  const Micros saved = month - cost::share_of(month, 1, pool->sharing.replicas);
  if (saved <= advice.month) return;
  advice.verdict = Verdict::kShare;
  advice.profile.clear();
  advice.instead = pool->sharing.rename_by_default ? kSharedGpuResource : kGpuResource;
  advice.pool = fmt::format("{}, {} by {}", pool->name, to_string(pool->sharing.strategy),
                            pool->sharing.replicas);
  advice.memory_gb = 0;
  advice.part = 100;  // while the other pods are idle
  advice.month = saved;
}

// An owner's measurements, and whether they cover at least one day.
struct Counted {
  std::optional<int> used;  // percent
  bool enough = false;
};

Counted count(Micros hourly, const cost::Spending& spending) {
  const Micros measured = cost::capped_sum(spending.used, spending.idle);
  if (measured == 0) return {};
  return {.used = static_cast<int>((cost::share_of(spending.used, 1000, measured) + 5) / 10),
          .enough = measured >= cost::capped_product(hourly, kLeastMeasured)};
}

OwnerAdvice undecided(const std::string& owner, const Holding& holding, const Counted& counted) {
  OwnerAdvice advice{.owner = owner,
                     .holds = holding.resource,
                     .each = holding.alike ? holding.each : 0,
                     .pods = holding.pods,
                     .used = counted.used};
  if (!holding.alike) {
    advice.verdict = Verdict::kMixed;
    return advice;
  }
  advice.instead = holding.resource;
  advice.instead_each = holding.each;
  advice.verdict = counted.enough ? Verdict::kKeep : Verdict::kTooLittle;
  return advice;
}

}  // namespace

std::string owner_key(const Pod& pod) {
  return pod.meta.namespace_.str() + "/" + cost::owner_of(pod);
}

std::int64_t room_for(const OwnerAdvice& advice) {
  const std::int64_t room = kRoom * *advice.used;
  return advice.peak ? std::min(room, *advice.peak) : room;
}

std::string provided(const OwnerAdvice& advice) {
  std::vector<std::string> terms;
  if (advice.memory_gb > 0 && !advice.memory_mib)
    terms.push_back(fmt::format("{} GB suffice", advice.memory_gb));
  if (advice.peak && *advice.peak > advice.part)
    terms.push_back(fmt::format("bursts to {}% may take longer", *advice.peak));
  return terms.empty() ? "" : fmt::format(", if {}", fmt::join(terms, ", and "));
}

std::vector<OwnerAdvice> advise_owners(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                       Isolation isolation) {
  std::vector<OwnerAdvice> out;
  const std::map<std::string, Holding> holdings = holdings_of(snapshot, policy);
  for (const auto& [currency, hourly] : cost::hourly_cost(snapshot, policy)) {
    const cost::Spendings known = ledger_of(snapshot, currency);
    for (const auto& [owner, spending] : hourly.owners) {
      const Holding& holding = holdings.at(owner);
      const auto found = known.owners.find(owner);
      const Counted counted =
          found == known.owners.end() ? Counted{} : count(spending.total(), found->second);
      OwnerAdvice& advice = out.emplace_back(undecided(owner, holding, counted));
      advice.currency = currency;
      if (const auto peak = known.memory.find(owner); peak != known.memory.end())
        advice.memory_mib = peak->second;
      if (const auto peak = known.peaks.find(owner); peak != known.peaks.end())
        advice.peak = peak->second;
      if (advice.verdict != Verdict::kKeep) continue;
      const Micros month = cost::capped_product(spending.total(), cost::kHoursOfMonth);
      advice.costs = month;
      decide(holding, month, advice);
      if (isolation == Isolation::kMayWeaken)
        consider_sharing(smallest_shared_pool(snapshot, policy, owner.substr(0, owner.find('/')),
                                              room_for(advice)),
                         holding.product, month, advice);
    }
  }
  std::ranges::stable_sort(out, std::greater(), &OwnerAdvice::month);
  return out;
}

}  // namespace berth::advise
