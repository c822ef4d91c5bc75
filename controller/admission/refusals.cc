// SPDX-License-Identifier: Apache-2.0
// Outline: one function for each rule; each names the field, the rule and the line to write
// instead.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/nearest_name.h"
#include "controller/admission/pod_review.h"
#include "controller/core/plural.h"

namespace berth {
namespace {

constexpr std::size_t kNamed = 6;  // items of a list in a message

std::string list_names(const std::vector<std::string>& names) {
  std::vector<std::string> shortened;
  for (const std::string& name : names) shortened.push_back(shorten(name));
  return list_first(shortened, kNamed);
}

std::string field_of(const PodSlice& pod, const ContainerSlice& container,
                     const GpuAmount& amount) {
  return fmt::format("{}.resources.{}[{}]", pod.field(container),
                     amount.limit ? "limits" : "requests", shorten(amount.resource));
}

// Calls on_amount(container, amount) for each GPU resource that a container names.
template <class OnAmount>
void each_amount(const PodSlice& pod, OnAmount&& on_amount) {
  for (const ContainerSlice& container : pod.containers)
    for (const GpuAmount& amount : container.gpus) on_amount(container, amount);
}

// The first field that requests the resource, in a container that requests more than `above`.
std::string field_of(const PodSlice& pod, const GpuDemand& demand, std::int64_t above) {
  for (const ContainerSlice& container : pod.containers)
    for (const GpuAmount& amount : container.gpus)
      if (amount.resource == demand.resource && amount.asked() > Quantity::whole(above))
        return field_of(pod, container, amount);
  return pod.field("containers");
}

// The fault of the amount; empty: none.
std::string fault_of(const GpuAmount& amount) {
  if (amount.limit && amount.request && *amount.limit != *amount.request)
    return fmt::format(
        "the limit is {} and the request {}, and they must be equal; remove the request, and the "
        "limit counts for both",
        amount.limit->str(), amount.request->str());
  const Quantity count = amount.asked();
  if (count < Quantity())
    return fmt::format("{} is below zero; write how many the container needs, as 1", count.str());
  if (!count.as_whole())
    return fmt::format(
        "{} is not a whole number, and no GPU is handed out in parts; write 1, or "
        "ask for a MIG device or a .shared resource",
        count.str());
  return {};
}

void check_legacy(const PodSlice& pod, ReviewFindings& findings) {
  each_amount(pod, [&](const ContainerSlice& container, const GpuAmount& amount) {
    if (amount.resource == kLegacyGpu)
      findings.refuse(field_of(pod, container, amount),
                      fmt::format("this name ended with Kubernetes 1.11; write "
                                  "nvidia.com/gpu: {}",
                                  amount.asked().str()));
  });
}

void check_zero(const PodSlice& pod, ReviewFindings& findings) {
  each_amount(pod, [&](const ContainerSlice& container, const GpuAmount& amount) {
    if (amount.asked().is_zero() && amount.resource != kLegacyGpu)
      findings.warn(field_of(pod, container, amount),
                    "0 asks for no GPU, and some runtimes then show the container every GPU of the "
                    "node; remove the line");
  });
}

// berth admits a resource of the catalog although no node has it now: an autoscaler adds nodes only
// for pods that exist.
bool in_catalog(const GPUClusterPolicy& policy, std::string_view resource) {
  return std::ranges::any_of(policy.spec.resource_catalog,
                             [&](const CatalogEntry& entry) { return entry.resource == resource; });
}

void check_offered(const PodReview& review, ReviewFindings& findings) {
  constexpr std::size_t kMost = 8;  // each suggestion compares all names
  std::size_t told = 0;
  for (const GpuDemand& demand : review.placement.demands) {
    const GpuOffer* offer = review.offers.find(demand.resource);
    if (offer != nullptr && offer->is_known()) continue;
    if (told++ == kMost) return;
    const std::string field = field_of(review.pod, demand, 0);
    if (in_catalog(review.policy, demand.resource)) {
      findings.warn(field,
                    "is in the catalog, but no node offers it now; the pod waits until "
                    "one does");
      continue;
    }
    const std::vector<std::string> known = review.offers.resources();
    const std::string nearest = nearest_name(demand.resource, known);
    findings.refuse(field,
                    fmt::format("no node or MIGLayout offers {}{}; {}", shorten(demand.resource),
                                nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest),
                                known.empty() ? "no GPU is known in this cluster"
                                              : fmt::format("there are {}", list_names(known))));
  }
}

// The existing resources that the namespace may request.
std::string usable_resources(const PodReview& review) {
  const StringMap& labels = review.namespace_.meta.labels;
  const std::vector<PoolSpec>& pools = review.policy.spec.pools;
  std::vector<std::string> names;
  for (std::string& resource : review.offers.resources()) {
    const GpuOffer& offer = *review.offers.find(resource);
    if (offer.outside_pools || std::ranges::any_of(offer.pools, [&](PoolIndex pool) {
          return open_to(pools[pool].eligible_namespaces, labels);
        }))
      names.push_back(std::move(resource));
  }
  return names.empty() ? "nothing yet" : list_names(names);
}

void check_judged(const PodReview& review, ReviewFindings& findings) {
  if (!review.pools.judged)
    findings.warn(
        review.pod.field("affinity"),
        "has too many terms to compare with every node of this cluster, so berth compared it with "
        "the pools only; write fewer terms, or labels that many nodes share");
}

void check_pool_eligibility(const PodReview& review, ReviewFindings& findings) {
  const PodSlice& pod = review.pod;
  for (const PoolSpec* pool : review.pools.exposed) {
    if (open_to(pool->eligible_namespaces, review.namespace_.meta.labels)) continue;
    const std::vector<const PoolSpec*>& targets = review.pools.targets;
    const std::string instead =
        targets.empty()
            ? fmt::format("this namespace may ask for {}", usable_resources(review))
            : fmt::format("write nodeSelector {}: {}", names::kPoolLabel, targets.front()->name);
    return findings.refuse(
        pod.field("nodeSelector"),
        fmt::format("the pod may land in pool {}, which is only for namespaces with {}; {}",
                    pool->name, shorten(format(*pool->eligible_namespaces), 80), instead));
  }
}

// The pools that the pod names, each once, up to a limit that keeps the check cheap.
std::vector<std::string_view> pools_named(const PodSlice& pod) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string_view> named;
  const auto add = [&](const Text& pool) {
    if (named.size() < kMost && std::ranges::find(named, pool.view()) == named.end())
      named.push_back(pool.view());
  };
  if (const Text* selected = pod.node_selector.find(names::kPoolLabel)) add(*selected);
  for (const TermSlice& term : pod.terms)
    for (const SelectorRequirement& r : term.term.match_expressions)
      if (r.key == names::kPoolLabel && r.op == SelectorOperator::kIn)
        for (const Text& pool : r.values) add(pool);
  return named;
}

void check_pool_names(const PodReview& review, ReviewFindings& findings) {
  std::vector<std::string> known;
  for (const PoolSpec& pool : review.policy.spec.pools) known.push_back(pool.name);
  for (const std::string_view name : pools_named(review.pod)) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    const bool selected = review.pod.node_selector.get(names::kPoolLabel) == name;
    findings.warn(review.pod.field(selected ? "nodeSelector" : "affinity"),
                  fmt::format("there is no pool {}; {}", shorten(name),
                              !near.empty()   ? fmt::format("did you mean {}?", near)
                              : known.empty() ? "the policy has none"
                                              : "there are " + list_names(known)));
  }
}

// If the pool has nodes, check_pool_eligibility refuses the pod. An empty pool needs this check,
// because an autoscaler may add a node for the pending pod, after its review.
void check_selected_pool(const PodReview& review, ReviewFindings& findings) {
  const Text* selected = review.pod.node_selector.find(names::kPoolLabel);
  if (selected == nullptr) return;
  for (const PoolSpec& pool : review.policy.spec.pools) {
    if (pool.name != selected->view() ||
        open_to(pool.eligible_namespaces, review.namespace_.meta.labels) ||
        std::ranges::find(review.pools.exposed, &pool) != review.pools.exposed.end())
      continue;
    findings.refuse(
        review.pod.field("nodeSelector"),
        fmt::format("pool {} is only for namespaces with {}; this namespace may ask for {}",
                    pool.name, shorten(format(*pool.eligible_namespaces), 80),
                    usable_resources(review)));
  }
}

std::string orderable_entries(const PodReview& review) {
  std::vector<std::string> entries;
  for (const CatalogEntry& entry : review.policy.spec.resource_catalog)
    if (open_to(entry.eligible_namespaces, review.namespace_.meta.labels))
      entries.push_back(fmt::format("{} ({})", entry.name, entry.resource));
  return entries.empty() ? "nothing" : list_names(entries);
}

void check_catalog_eligibility(const PodReview& review, ReviewFindings& findings) {
  for (const GpuDemand& demand : review.placement.demands) {
    const CatalogEntry* closed =
        closing_entry(review.policy, demand.resource, review.namespace_.meta.labels);
    if (closed == nullptr) continue;
    findings.refuse(
        field_of(review.pod, demand, 0),
        fmt::format("catalog entry {} is only for namespaces with {}; this one may ask for {}",
                    closed->name, shorten(format(*closed->eligible_namespaces), 80),
                    orderable_entries(review)));
  }
}

void check_above_one(const PodReview& review, ReviewFindings& findings) {
  for (const GpuDemand& demand : review.placement.demands) {
    if (demand.most <= Quantity::whole(1)) continue;
    for (const PoolSpec* pool : review.pools.exposed) {
      if (!fails_above_one(*pool, demand.resource)) continue;
      findings.refuse(
          field_of(review.pod, demand, 1),
          fmt::format("pool {} shares its GPUs and fails a container that asks for more "
                      "than one: two shares are no greater share; write {}: 1",
                      pool->name, demand.resource));
      break;
    }
  }
}

void check_shared_memory(const PodReview& review, ReviewFindings& findings) {
  if (review.policy.spec.admission.defaults.shared_memory || review.pod.host_ipc) return;
  for (const ContainerSlice& container : review.pod.containers)
    if (wants_shared_memory(container))
      findings.warn(review.pod.field(container) + ".volumeMounts",
                    "several GPUs, and a /dev/shm of 64Mi, where training with several processes "
                    "often fails; mount an emptyDir with medium: Memory at /dev/shm");
}

}  // namespace

void check_amounts(const PodSlice& pod, ReviewFindings& findings) {
  each_amount(pod, [&](const ContainerSlice& container, const GpuAmount& amount) {
    if (amount.resource == kLegacyGpu) return;
    if (std::string fault = fault_of(amount); !fault.empty())
      findings.refuse(field_of(pod, container, amount), std::move(fault));
  });
}

void check_pod(const PodReview& review, ReviewFindings& findings) {
  check_amounts(review.pod, findings);
  check_legacy(review.pod, findings);
  check_zero(review.pod, findings);
  check_offered(review, findings);
  check_judged(review, findings);
  check_pool_eligibility(review, findings);
  check_pool_names(review, findings);
  check_selected_pool(review, findings);
  check_catalog_eligibility(review, findings);
  check_above_one(review, findings);
  check_shared_memory(review, findings);
  check_cuda(review, findings);
  check_memory(review, findings);
  check_device_access(review.pod, findings);
}

}  // namespace berth
