// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/facts_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/queue/facts/capped.h"

namespace berth::queue {

namespace {

// Returns the amount that the record states for the charge.
std::int64_t recorded(const Charge& charge, const AdmissionFact& record, const Catalog& catalog) {
  const auto& [resource, pool] = catalog.key_parts(charge.key);
  if (catalog.pool_name(pool) != record.pool) return 0;
  for (const auto& [name, amount] : record.amounts)
    if (name == catalog.resource_name(resource)) return amount;
  return 0;
}

void add_charge(const Charge& charge, std::vector<Charge>& charges) {
  const auto same = std::ranges::find_if(charges, [&](const Charge& of) {
    return of.holder == charge.holder && of.key == charge.key;
  });
  if (same == charges.end()) {
    charges.push_back(charge);
    return;
  }
  same->total = capped_sum(same->total, charge.total);
  same->leaving = capped_sum(same->leaving, charge.leaving);
}

}  // namespace

bool ByPrecedence::operator()(const Workload* a, const Workload* b) const {
  const auto key = [](const Workload* of) {
    const Standing& standing = of->standing;
    return std::tuple(-std::int64_t{standing.priority}, standing.admission->since,
                      std::string_view(standing.admission->uid), std::string_view(*of->name));
  };
  return key(a) < key(b);
}

template <class Change>
void FactsIndex::edit(const std::string& name, Change change) {
  auto it = workloads_.try_emplace(name).first;
  Workload& workload = it->second;
  workload.name = &it->first;
  leave(workload);
  change(workload);
  if (workload.gone())
    workloads_.erase(it);
  else
    enter(workload);
}

void FactsIndex::enter(Workload& workload) {
  workload.standing = standing_of(workload, catalog_, room_);
  Standing& standing = workload.standing;
  if (standing.past_webhook) {
    charge_past_webhook(workload, standing.charges);
    past_webhook_.insert(&workload);
  }
  charge_beyond(standing);
  if (standing.past_webhook || standing.goes_by_worth) charged_as_is_.insert(&workload);
  for (const Charge& charge : standing.charges) usage_.add(charge, +1);
  claim(standing, +1);
  if (standing.pending) pending_.add(workload);
  if (standing.unbound_pins > 0) with_unbound_pins_.insert(&workload);
  count_admitted(standing, +1);
  list(workload);
}

void FactsIndex::leave(Workload& workload) {
  const Standing& standing = workload.standing;
  unlist(workload);
  if (standing.pending) pending_.remove(workload);
  claim(standing, -1);
  for (const Charge& charge : standing.charges) usage_.add(charge, -1);
  if (standing.past_webhook) past_webhook_.erase(&workload);
  if (standing.past_webhook || standing.goes_by_worth) charged_as_is_.erase(&workload);
  if (standing.unbound_pins > 0) with_unbound_pins_.erase(&workload);
  count_admitted(standing, -1);
  workload.standing = Standing();
}

void FactsIndex::list(const Workload& workload) {
  const Standing& standing = workload.standing;
  if (standing.leaves) leaving_.insert(&workload);
  if (standing.waits) waiting_for_others_.insert(&workload);
  if (standing.loses_pods) losing_pods_.insert(&workload);
  if (standing.uncovered) with_uncovered_.insert(&workload);
  if (standing.newer) with_newer_record_.insert(&workload);
  if (!standing.charges.empty()) charged_.insert(&workload);
  if (standing.admission != nullptr && !standing.charges.empty())
    running_[catalog_.holder_parts(standing.charges.front().holder).first].insert(&workload);
}

void FactsIndex::unlist(const Workload& workload) {
  const Standing& standing = workload.standing;
  if (standing.leaves) leaving_.erase(&workload);
  if (standing.waits) waiting_for_others_.erase(&workload);
  if (standing.loses_pods) losing_pods_.erase(&workload);
  if (standing.uncovered) with_uncovered_.erase(&workload);
  if (standing.newer) with_newer_record_.erase(&workload);
  if (!standing.charges.empty()) charged_.erase(&workload);
  if (standing.admission == nullptr || standing.charges.empty()) return;
  const auto of = running_.find(catalog_.holder_parts(standing.charges.front().holder).first);
  of->second.erase(&workload);
  if (of->second.empty()) running_.erase(of);
}

void FactsIndex::claim(const Standing& standing, std::int64_t sign) {
  for (const Claim& claim : standing.claims) {
    if (claim.node)
      room_.pin(room_.node(catalog_.node_name(*claim.node)), claim.shape, sign * claim.pods);
    else
      room_.claim(claim.pool, claim.shape, sign * claim.pods);
  }
}

void FactsIndex::refuse(const std::string& rules, const std::string& node, bool refused) {
  room_.refuse(catalog_.rules(rules), node, refused);
}

void FactsIndex::put(const NodeFact& fact) {
  const std::vector<std::int64_t> before = worths();
  if (room_.put(fact)) recharge(before != worths());
}

void FactsIndex::remove_node(const std::string& name) {
  const std::vector<std::int64_t> before = worths();
  if (room_.remove(name)) recharge(before != worths());
}

void FactsIndex::put(const PodFact& fact) {
  remove_pod(fact.uid);
  auto it = pods_.try_emplace(fact.uid).first;
  Member& member = it->second;
  member.workload = fact.workload;
  Pod& pod = member.pod;
  pod.uid = &it->first;
  pod.created = fact.created;
  pod.state = fact.state;
  pod.hangs_from = fact.hangs_from;
  pod.shape = catalog_.shape(fact.requests, fact.only_pools, fact.rules, fact.modelled);
  pod.wish = catalog_.wish(fact.topology);
  if (pod.on_node()) {
    pod.node = room_.node(fact.node);
    room_.take(pod.node, pod.shape, +1);
  }
  pod.queue = catalog_.queue(fact.queue);
  pod.priority = fact.priority;
  pod.group_size = fact.group_size;
  pod.maker = fact.maker;
  pod.role = fact.role;
  pod.stays = fact.stays;
  if (fact.fast) pod.fast = std::make_unique<FastStart>(FastStart{fact.role, fact.role_size});
  if (fact.admitted) pod.admitted = std::make_unique<AdmissionFact>(*fact.admitted);
  pod.checkpoint = fact.checkpoint;
  if (fact.workload.empty()) {
    if (pod.state == PodState::kLeaving) leaving_alone_.insert(&pod);
    return;
  }
  edit(fact.workload, [&](Workload& workload) { workload.add(pod); });
}

void FactsIndex::remove_pod(const std::string& uid) {
  auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const Pod& pod = it->second.pod;
  if (pod.on_node()) room_.take(pod.node, pod.shape, -1);
  leaving_alone_.erase(&pod);
  if (!it->second.workload.empty()) {
    edit(it->second.workload, [&](Workload& workload) { workload.remove(pod); });
  }
  pods_.erase(it);
}

void FactsIndex::put(const JobFact& fact) {
  edit(fact.workload,
       [&](Workload& workload) { workload.job = std::make_unique<Job>(job_of(fact, catalog_)); });
}

void FactsIndex::remove_job(const std::string& workload) {
  if (find(workload) != nullptr) edit(workload, [](Workload& of) { of.job = nullptr; });
}

void FactsIndex::put(const LedgerFact& fact) {
  std::unique_ptr<LedgerFact> old;
  edit(fact.workload, [&](Workload& workload) {
    old = std::exchange(workload.in_flight, std::make_unique<LedgerFact>(fact));
  });
  mark_ahead(old.get(), &fact);
}

void FactsIndex::remove_ledger(const std::string& workload) {
  if (find(workload) == nullptr) return;
  std::unique_ptr<LedgerFact> old;
  edit(workload, [&](Workload& of) { old = std::move(of.in_flight); });
  mark_ahead(old.get(), nullptr);
}

void FactsIndex::put(const RecallFact& fact) {
  remove_recall(fact.workload);
  edit(fact.workload, [&](Workload& of) {
    of.recall = std::make_unique<RecallFact>(fact);
    of.taken_back.insert(fact.since);
  });
}

void FactsIndex::remove_recall(const std::string& workload) {
  const Workload* standing = find(workload);
  if (standing == nullptr || !standing->recall) return;
  edit(workload, [](Workload& of) {
    of.taken_back.erase(of.taken_back.find(of.recall->since));
    of.recall = nullptr;
  });
}

void FactsIndex::put(const RestartFact& fact) {
  edit(fact.workload, [&](Workload& of) { of.restart = std::make_unique<RestartFact>(fact); });
}

void FactsIndex::remove_restart(const std::string& workload) {
  if (find(workload) != nullptr) edit(workload, [](Workload& of) { of.restart = nullptr; });
}

void FactsIndex::mark_ahead(const LedgerFact* old, const LedgerFact* now) {
  const auto each_evicted = [&](const LedgerFact* entry, auto change) {
    if (entry == nullptr) return;
    for (const AheadFact& ahead : entry->ahead) {
      if (!ahead.evicted) continue;
      edit(ahead.workload, [&](Workload& of) { change(of.taken_back, ahead.since); });
    }
  };
  each_evicted(now, [](auto& taken_back, std::int64_t since) { taken_back.insert(since); });
  each_evicted(old, [](auto& taken_back, std::int64_t since) {
    if (const auto found = taken_back.find(since); found != taken_back.end())
      taken_back.erase(found);
  });
}

void FactsIndex::put(const QueueFact& fact) {
  catalog_.queue(fact.name);
  catalog_.wish(fact.topology);
  for (const QuotaFact& quota : fact.quotas)
    catalog_.key(catalog_.resource(quota.resource), catalog_.pool(quota.pool));
  queues_[fact.name] = fact;
  recharge(false);
}

void FactsIndex::remove_queue(const std::string& name) {
  if (queues_.erase(name) > 0) recharge(false);
}

const Workload* FactsIndex::find(const std::string& workload) const {
  auto it = workloads_.find(workload);
  return it == workloads_.end() ? nullptr : &it->second;
}

bool FactsIndex::is_drained(const Workload& workload) const {
  if (!workload.standing.admitted || open_entry(workload) != nullptr) return false;
  const AdmissionFact* admission = admission_of(workload);
  const auto queue = admission == nullptr ? queues_.end() : queues_.find(admission->queue);
  return queue != queues_.end() && queue->second.drains;
}

// Counts by the queue that admitted the workload, whatever its label says now.
void FactsIndex::count_admitted(const Standing& standing, std::int64_t by) {
  if (!standing.admitted || standing.waits) return;
  const QueueId queue = standing.charges.empty()
                            ? standing.queue
                            : catalog_.holder_parts(standing.charges.front().holder).first;
  std::int64_t& count = admitted_[queue];
  count += by;
  if (count == 0) admitted_.erase(queue);
}

std::int64_t FactsIndex::admitted_of(QueueId queue) const {
  const auto found = admitted_.find(queue);
  return found == admitted_.end() ? 0 : found->second;
}

// Charges each pod in the pool where it is bound, to every quota of its queue that covers it. If
// the pool has no such quota, the pod is charged to those of any pool.
void FactsIndex::charge_past_webhook(const Workload& workload, std::vector<Charge>& charges) {
  auto of = queues_.find(catalog_.queue_name(workload.standing.queue));
  if (of == queues_.end()) return;
  const QueueFact& queue = of->second;
  const HolderId holder = catalog_.holder(workload.standing.queue, queue.cohort);
  const auto charge = [&](const Pod& pod, PoolId pool) {
    bool any = false;
    for (const QuotaFact& quota : queue.quotas) {
      if (catalog_.pool(quota.pool) != pool) continue;
      const ResourceId covers = catalog_.resource(quota.resource);
      std::int64_t amount = 0;
      for (const auto& [resource, asked] : catalog_.shape_requests(pod.shape)) {
        if (resource == covers) amount += asked;
        if (covers == Catalog::kClass && catalog_.counts_as_gpu(resource))
          amount = capped_sum(amount, capped_product(asked, room_.weight(pool, resource)));
      }
      if (amount == 0) continue;
      any = true;
      charges.push_back({holder, catalog_.key(covers, pool), amount,
                         pod.state == PodState::kLeaving ? amount : 0});
    }
    return any;
  };
  for (const Pod* pod : workload.pods->all) {
    if (!pod->on_node()) continue;
    const PoolId pool = room_.pool_of(pod->node);
    if (pool == Catalog::kAny || !charge(*pod, pool)) charge(*pod, Catalog::kAny);
  }
}

// Charges what the pods request beyond the record, in the record's pool, to each quota there of the
// record or the queue that covers the resource. If there is none, it uses the first other pool in
// which the queue has one, and the quotas of `*` before all others.
void FactsIndex::charge_beyond(Standing& standing) {
  const AdmissionFact* record = standing.record;
  if (record == nullptr) return;
  // A later berth's record may not even have a readable queue.
  const std::string& name =
      record->queue.empty() ? catalog_.queue_name(standing.queue) : record->queue;
  const auto of = queues_.find(name);
  static const QueueFact kDeleted;
  const QueueFact& queue = of == queues_.end() ? kDeleted : of->second;
  const auto covers = [&](const std::string& quota, ResourceId resource) {
    const ResourceId id = catalog_.resource(quota);
    return id == resource || (id == Catalog::kClass && catalog_.counts_as_gpu(resource));
  };
  const auto quotas_in = [&](const std::string& pool, ResourceId resource) {
    std::set<std::string> quotas;
    for (const QuotaFact& quota : queue.quotas)
      if (quota.pool == pool && covers(quota.resource, resource)) quotas.insert(quota.resource);
    if (pool != record->pool) return quotas;
    for (const auto& [quota, amount] : record->amounts)
      if (covers(quota, resource)) quotas.insert(quota);
    return quotas;
  };
  std::vector<std::string> pools = {record->pool, std::string(kAnyPool)};
  for (const QuotaFact& quota : queue.quotas) pools.push_back(quota.pool);
  const HolderId holder = catalog_.holder(catalog_.queue(name), record->cohort);
  for (const Beyond& beyond : standing.beyond) {
    const auto pool = std::ranges::find_if(
        pools, [&](const std::string& at) { return !quotas_in(at, beyond.resource).empty(); });
    if (pool == pools.end()) continue;
    const PoolId in = catalog_.pool(*pool);
    for (const std::string& quota : quotas_in(*pool, beyond.resource)) {
      const ResourceId resource = catalog_.resource(quota);
      const std::int64_t worth =
          resource == beyond.resource ? 1 : room_.weight(in, beyond.resource);
      add_charge({holder, catalog_.key(resource, in), capped_product(beyond.total, worth),
                  capped_product(beyond.leaving, worth)},
                 standing.charges);
    }
  }
  standing.holds_too_much = std::ranges::any_of(standing.charges, [&](const Charge& charge) {
    return charge.total > recorded(charge, *record, catalog_);
  });
}

// Returns what part of a GPU each GPU resource is in each pool, in millionths.
std::vector<std::int64_t> FactsIndex::worths() const {
  std::vector<std::int64_t> worths;
  if (charged_as_is_.empty()) return worths;
  for (ResourceId resource = 0; resource < catalog_.resources(); ++resource)
    for (PoolId pool = 0; catalog_.counts_as_gpu(resource) && pool < catalog_.pools(); ++pool)
      worths.push_back(room_.weight(pool, resource));
  return worths;
}

// Such workloads are rare. Their charges depend on the nodes' pools and weights and on the queues.
// For workloads within an earlier berth's record only the weights matter.
void FactsIndex::recharge(bool worth_changed) {
  const std::vector<Workload*> all(charged_as_is_.begin(), charged_as_is_.end());
  for (Workload* workload : all) {
    const Standing& standing = workload->standing;
    if (!worth_changed && !standing.past_webhook && standing.beyond.empty()) continue;
    leave(*workload);
    enter(*workload);
  }
}

}  // namespace berth::queue
