// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts/capped.h"
#include "controller/queue/facts/record_cover.h"

namespace berth::queue {
namespace {

struct Counts {
  std::int64_t live = 0;
  std::int64_t waiting = 0;
  std::int64_t released = 0;
  std::int64_t bound = 0;
  std::int64_t leaving = 0;
};

Counts counts_of(const Workload& workload) {
  Counts counts;
  if (!workload.pods) return counts;
  for (const auto& [shape, members] : workload.pods->shapes) {
    counts.live += members.live();
    counts.waiting += members.waiting;
    counts.released += members.released;
    counts.bound += members.bound;
    counts.leaving += members.leaving;
  }
  return counts;
}

std::int64_t wanted_pods(const JobFact& job) {
  if (!job.completions) return job.succeeded == 0 ? job.parallelism : 0;
  const std::int64_t left = *job.completions - job.succeeded - job.failed_indexes;
  return std::max<std::int64_t>(0, std::min(job.parallelism, left));
}

bool is_group(const Workload& workload) { return workload.name->starts_with("PodGroup/"); }

// Whether berth takes this admission back. Until its pods are gone the workload stays charged.
bool is_taken_back(const Workload& workload, const AdmissionFact& admission) {
  return workload.taken_back.contains(admission.since);
}

// The controller of such a gang may re-create all of its pods, which need their quota again. So its
// leaving is never counted on.
constexpr std::int64_t kNotCountedOn = 1;

// How long an incomplete gang may block its StrictFIFO queue, in microseconds.
constexpr std::int64_t kHeadsUnready = 60'000'000;
constexpr std::int64_t kHeadsForEver = std::numeric_limits<std::int64_t>::max();

// When the first of its existing pods begins to hang.
std::int64_t hangs_from(const Workload& workload) {
  std::int64_t first = 0;
  if (!workload.pods) return first;
  const std::int64_t of_job = workload.job ? workload.job->hangs_from : 0;
  for (const Pod* pod : workload.pods->all) {
    if (pod->state == PodState::kEnded) continue;
    const std::int64_t own = pod->state == PodState::kLeaving ? pod->hangs_from : of_job;
    if (own != 0) first = first == 0 ? own : std::min(first, own);
  }
  return first;
}

bool waits_for_others(const Workload& workload) {
  return open_entry(workload) != nullptr && !workload.in_flight->ahead.empty();
}

// Charges the part of the admission for `pods` pods, and says how much of it `leaving` pods free.
void charge(const AdmissionFact& admission, std::int64_t pods, std::int64_t leaving,
            Catalog& catalog, std::vector<Charge>& charges) {
  const PoolId pool = catalog.pool(admission.pool);
  const HolderId holder = catalog.holder(catalog.queue(admission.queue), admission.cohort);
  const std::int64_t of = std::max<std::int64_t>(1, admission.pods);
  for (const auto& [resource, amount] : admission.amounts) {
    const std::int64_t total = part_of(amount, pods, of);
    const std::int64_t stays = part_of(amount, pods - leaving, of);
    if (total == 0) continue;
    charges.push_back(
        {holder, catalog.key(catalog.resource(resource), pool), total, total - stays});
  }
}

void claim_unbound(const Workload& workload, PoolId pool, std::int64_t missing,
                   ShapeId missing_shape, std::vector<Claim>& claims) {
  if (workload.pods) {
    for (const auto& [shape, members] : workload.pods->shapes) {
      if (members.waiting + members.released > 0)
        claims.push_back({pool, shape, members.waiting + members.released, std::nullopt});
    }
  }
  if (missing > 0) claims.push_back({pool, missing_shape, missing, std::nullopt});
}

// The pods that the mark lists and the gang lacks.
std::vector<std::pair<ShapeId, std::int64_t>> pods_to_restart(const Workload& workload,
                                                              const RestartFact& restart,
                                                              Catalog& catalog) {
  std::map<Vector, std::int64_t> here;
  if (workload.pods)
    for (const auto& [shape, members] : workload.pods->shapes)
      here[catalog.shape_requests(shape)] += members.live();
  std::vector<std::pair<ShapeId, std::int64_t>> out;
  for (const auto& [requests, pods] : restart.asks) {
    const ShapeId shape = catalog.shape(requests, {}, "", true);
    std::int64_t& known = here[catalog.shape_requests(shape)];
    if (pods > known) out.emplace_back(shape, pods - known);
    known = std::max<std::int64_t>(0, known - pods);
  }
  return out;
}

// Claims room for all missing and unbound pods on each of its nodes: kube-scheduler may put them on
// any of them.
void claim_for_job(const Workload& workload, const AdmissionFact& admission, std::int64_t missing,
                   ShapeId missing_shape, Catalog& catalog, std::vector<Claim>& claims) {
  std::vector<Claim> unbound;
  claim_unbound(workload, catalog.pool(admission.pool), missing, missing_shape, unbound);
  if (admission.nodes.empty() || seeded(SeededBug::kForgetPinned)) {
    claims = std::move(unbound);
    return;
  }
  for (const std::string& node : admission.nodes) {
    for (Claim claim : unbound) {
      claim.node = catalog.node(node);
      claims.push_back(claim);
    }
  }
}

// Each member has its own node: its record says which, or before its release the ledger. A gated
// member that the record does not cover takes no room, as it is not released.
void claim_for_group(const Workload& workload, const AdmissionFact& admission,
                     const std::vector<const Pod*>& covered, std::int64_t missing, Catalog& catalog,
                     std::vector<Claim>& claims) {
  const PoolId pool = catalog.pool(admission.pool);
  const AdmissionFact* entry = open_entry(workload);
  auto next = covered.begin();  // both are in the same order
  for (const Pod* pod : workload.pods->all) {
    const bool follows = next != covered.end() && *next == pod;
    if (follows) ++next;
    if (!follows && pod->state != PodState::kReleased) continue;
    const AdmissionFact* says = pod->state == PodState::kReleased ? pod->admitted.get() : entry;
    const std::string_view node = says == nullptr ? "" : node_of(*says, *pod->uid);
    Claim claim{pool, pod->shape, 1, std::nullopt};
    if (!node.empty() && !seeded(SeededBug::kForgetPinned))
      claim.node = catalog.node(std::string(node));
    claims.push_back(claim);
  }
  const RestartFact* restart = restart_of(workload);
  if (restart == nullptr) {
    for (const auto& [shape, count] : pods_to_come(*workload.pods, missing))
      claims.push_back({pool, shape, count, std::nullopt});
    return;
  }
  for (const auto& [shape, lacks] : pods_to_restart(workload, *restart, catalog)) {
    const std::int64_t count = std::min(lacks, missing);
    if (count > 0) claims.push_back({pool, shape, count, std::nullopt});
    missing -= count;
  }
}

// A new gang may have an old name. Members that have ended belong to this gang if the same
// controller made them, or if the same admission released them.
std::vector<const Pod*> ended_of(const Workload& workload) {
  std::vector<const Pod*> ended;
  if (!workload.ended || !workload.pods || seeded(SeededBug::kForgetEnded)) return ended;
  std::set<Text> makers;
  for (const Pod* pod : workload.pods->all)
    if (!pod->maker.empty()) makers.insert(pod->maker);
  const AdmissionFact* admission = admission_of(workload);
  std::ranges::copy_if(*workload.ended, std::back_inserter(ended), [&](const Pod* pod) {
    return makers.contains(pod->maker) ||
           (admission != nullptr && pod->admitted && pod->admitted->since == admission->since);
  });
  return ended;
}

// The number of members that a gang should have. A user may edit the size that an admitted gang
// states. The gang then neither holds nor reserves more than its admission says.
std::int64_t size_of(const Pod& first, const std::vector<const Pod*>& ended,
                     const AdmissionFact* admission) {
  const std::int64_t size = first.group_size - std::ssize(ended);
  if (admission == nullptr) return size;
  const auto released = std::ranges::count_if(ended, [&](const Pod* pod) {
    return pod->admitted && pod->admitted->since == admission->since;
  });
  return std::min(size, admission->pods - released);
}

// A mark may be of another gang that had the name before. It releases no pod until berth knows that
// the same controller made one of them.
bool is_maker_unknown(const Workload& workload) {
  return open_entry(workload) == nullptr && workload.pods->admitted.empty() &&
         std::ranges::all_of(workload.pods->all, [](const Pod* pod) { return pod->maker.empty(); });
}

// Whether a controller re-creates each of its pods.
bool is_made_again(const PodsOfWorkload& pods) {
  return std::ranges::none_of(pods.all, [](const Pod* pod) { return pod->maker.empty(); });
}

void note_beyond(const Workload& workload, const AdmissionFact& admission, std::int64_t pods,
                 std::int64_t leaving, Catalog& catalog, const NodeRoom& room, Standing& out) {
  out.record = &admission;
  if (!workload.pods) return;
  out.beyond = beyond_record(admission, pods, leaving, *workload.pods, catalog, room);
  out.goes_by_worth = !out.beyond.empty() || goes_by_worth(admission);
}

bool could_stay(const Workload& workload) {
  return std::ranges::any_of(workload.pods->all, [](const Pod* pod) { return pod->stays; });
}

// The time counts from the youngest member of an incomplete gang.
std::int64_t heads_until(const Workload& workload) {
  std::int64_t youngest = 0;
  for (const Pod* pod : workload.pods->all) youngest = std::max(youngest, pod->created);
  return youngest + kHeadsUnready;
}

// Pods of a Job's last run block it until they hang.
std::int64_t heads_until_they_hang(const Workload& workload) {
  std::int64_t last = 0;
  if (workload.pods) {
    for (const Pod* pod : workload.pods->all) {
      if (pod->state != PodState::kLeaving || pod->hangs_from == 0) return kHeadsForEver;
      last = std::max(last, pod->hangs_from);
    }
  }
  return last == 0 ? kHeadsForEver : last;
}

Standing of_job(const Workload& workload, Catalog& catalog, const NodeRoom& room) {
  const Job& job = *workload.job;
  const Counts counts = counts_of(workload);
  const AdmissionFact* admission = admission_of(workload);
  // A ledger entry will resume a suspended Job. A Job that is being deleted creates no more pods.
  const bool suspended = (job.suspended && open_entry(workload) == nullptr) || job.hangs_from != 0;

  Standing out{
      .queue = job.queue, .priority = job.priority, .created = job.created, .uid = &job.uid};
  out.pods = out.pods_here = job.wanted;
  if (admission != nullptr) {
    const std::int64_t pods = suspended ? counts.live : std::max(job.wanted, counts.live);
    out.leaves = is_taken_back(workload, *admission);
    const std::int64_t leaving = out.leaves ? pods : suspended ? counts.live : counts.leaving;
    charge(*admission, pods, leaving, catalog, out.charges);
    note_beyond(workload, *admission, pods, leaving, catalog, room, out);
    out.admitted = !suspended;
    out.admission = suspended ? nullptr : admission;
    out.to_release = may_go_now(workload);
    if (!suspended)
      claim_for_job(workload, *admission, pods - counts.live, job.shape, catalog, out.claims);
    if (!job.suspended && !admission->nodes.empty()) out.unbound_pins = counts.released;
  }
  const bool over = job.wanted == 0 && counts.live == counts.leaving;
  out.leaves = out.leaves || ((suspended || over) && counts.live > 0);
  out.past_webhook =
      admission == nullptr && job.queue != Catalog::kNoQueue && counts.bound + counts.leaving > 0;
  out.pending = suspended && !job.held && job.wanted > 0 && job.queue != Catalog::kNoQueue;
  out.waits = waits_for_others(workload);
  if (!out.pending && !out.waits) return out;
  if (setbacks_of(workload) > 0)
    out.unready = Unready::kNeverReady;
  else if (!job.template_mutable || counts.live > 0)
    out.unready = Unready::kTemplateNotReady, out.heads_until = heads_until_they_hang(workload);
  else if (job.awaits_the_dead)
    out.unready = Unready::kPodsOnDeadNode;
  else if (refused_entry(workload) != nullptr)
    out.unready = Unready::kReleaseRefused;
  out.workload_class = catalog.workload_class({.roles = {{job.shape, job.wanted}},
                                               .wish = job.wish,
                                               .of_job = true,
                                               .lasts = coarse_span(job.lasts)});
  return out;
}

// The requests of its gated pods and, if the group may start early, those of the missing ones of
// `pods`.
ClassId class_of_group(const Workload& workload, std::int64_t pods, Catalog& catalog) {
  const Pod& first = **workload.pods->all.begin();
  std::map<ShapeId, std::int64_t> asks;
  if (first.fast) asks = pods_to_come(*workload.pods, pods - counts_of(workload).live);
  for (const auto& [shape, members] : workload.pods->shapes) {
    if (members.waiting > 0) asks[shape] += members.waiting;
  }
  return catalog.workload_class(
      {.roles = {asks.begin(), asks.end()}, .wish = first.wish, .stays = could_stay(workload)});
}

Standing of_group(const Workload& workload, Catalog& catalog, const NodeRoom& room) {
  const Pod& first = **workload.pods->all.begin();
  const Counts counts = counts_of(workload);
  const AdmissionFact* admission = admission_of(workload);
  const std::vector<const Pod*> ended = ended_of(workload);
  const std::int64_t size = size_of(first, ended, admission);

  Standing out{
      .queue = first.queue, .priority = first.priority, .created = first.created, .uid = first.uid};
  if (!ended.empty()) out.created = std::min(out.created, ended.front()->created);
  if (workload.recall && workload.recall->age != 0)
    out.created = std::min(out.created, workload.recall->age);
  out.pods = std::max(size, counts.live);
  out.pods_here = counts.live;
  out.stays = could_stay(workload);
  if (first.fast && seeded(SeededBug::kChargeWhoCame)) out.pods = counts.live;
  out.leaves = counts.live > 0 && counts.live == counts.leaving;
  // No queue admitted it, and berth takes it back because its GPUs are idle.
  if (admission == nullptr && counts.bound > 0 && workload.taken_back.contains(0))
    out.leaves = true;
  if (admission != nullptr) {
    const bool taken_back = is_taken_back(workload, *admission);
    out.leaves = out.leaves || taken_back;
    catalog.pool(admission->pool);  // adds the pool to the catalog, if it is not there
    const std::vector<const Pod*> covered = covered_members(workload, catalog, room);
    const std::int64_t uncovered = counts.waiting - std::ssize(covered);
    if (uncovered > 0) out.pods = std::max(size, counts.live - uncovered);
    const std::int64_t leaving = taken_back ? out.pods : counts.leaving;
    charge(*admission, out.pods, leaving, catalog, out.charges);
    note_beyond(workload, *admission, out.pods, leaving, catalog, room, out);
    claim_for_group(workload, *admission, covered, out.pods - (counts.live - uncovered), catalog,
                    out.claims);
    out.admitted = true;
    out.admission = admission;
    out.unbound_pins = std::ranges::count_if(workload.pods->admitted, [](const Pod* pod) {
      return pod->state == PodState::kReleased && !pod->admitted->nodes.empty();
    });
    // berth releases no further pod of a gang that it takes back.
    out.to_release = !covered.empty() && !taken_back && !is_maker_unknown(workload) &&
                     (open_entry(workload) == nullptr || may_go_now(workload));
    out.uncovered = uncovered > 0 && !taken_back;
    out.waits = waits_for_others(workload);
    if (out.waits) out.workload_class = class_of_group(workload, out.pods, catalog);
    const bool lacks = counts.leaving > 0 || (counts.live < size && !first.fast);
    out.loses_pods = lacks && first.group_size > 1 && is_group(workload) && !taken_back &&
                     !workload.pods->admitted.empty() && is_made_again(*workload.pods);
    return out;
  }
  out.past_webhook = first.queue != Catalog::kNoQueue && counts.bound + counts.leaving > 0;
  out.pending = first.queue != Catalog::kNoQueue && counts.waiting > 0;
  if (!out.pending) return out;
  if (setbacks_of(workload) > 0)
    out.unready = Unready::kNeverReady;
  else if (workload.pods->sizes.size() > 1)
    out.unready = Unready::kSizesDisagree, out.heads_until = heads_until(workload);
  else if (counts.live < size && !first.fast)
    out.unready = Unready::kGangIncomplete, out.heads_until = heads_until(workload);
  else if (refused_entry(workload) != nullptr)
    out.unready = Unready::kReleaseRefused;
  out.workload_class = class_of_group(workload, out.pods, catalog);
  return out;
}

// Compares only these members: the record has more than the entry, for example how the pool came
// into the selector.
bool is_same_decision(const AdmissionFact& record, const AdmissionFact& entry) {
  return record.uid == entry.uid && record.since == entry.since && record.epoch == entry.epoch;
}

// If the Job's spec has changed, it is not what berth decided on. A release that is on its way then
// fails with a conflict. The same holds for a Job that a user holds.
bool is_unshown(const LedgerFact& entry, const Job& job) {
  const AdmissionFact& admission = entry.admission;
  if (job.uid != admission.uid || !job.suspended || job.held) return false;
  if (job.hangs_from != 0) return false;
  const bool edited = entry.generation != 0 && entry.generation != job.generation;
  if (edited && !seeded(SeededBug::kIgnoreEdits)) return false;
  return !job.admitted || !is_same_decision(*job.admitted, admission);
}

const LedgerFact* unshown_entry(const Workload& workload) {
  const LedgerFact* entry = workload.in_flight.get();
  if (entry == nullptr) return nullptr;
  if (workload.job) return is_unshown(*entry, *workload.job) ? entry : nullptr;
  if (!workload.pods || *(*workload.pods->all.begin())->uid != entry->admission.uid) return nullptr;
  return counts_of(workload).waiting > 0 ? entry : nullptr;
}

}  // namespace

std::map<ShapeId, std::int64_t> pods_to_come(const PodsOfWorkload& pods, std::int64_t missing) {
  std::map<ShapeId, std::int64_t> out;
  if (missing <= 0) return out;
  std::map<std::string_view, std::pair<const Pod*, std::int64_t>> roles;  // first pod and number
  for (const Pod* pod : pods.all) {
    if (pod->fast && pod->fast->role_size > 0)
      ++roles.try_emplace(pod->fast->role, pod, 0).first->second.second;
  }
  for (const auto& [role, members] : roles) {
    const auto& [first, count] = members;
    const std::int64_t lacks = std::min(missing, first->fast->role_size - count);
    if (lacks <= 0) continue;
    out[first->shape] += lacks;
    missing -= lacks;
  }
  if (missing > 0) out[(*pods.all.begin())->shape] += missing;
  return out;
}

const AdmissionFact* open_entry(const Workload& workload) {
  const LedgerFact* entry = unshown_entry(workload);
  return entry != nullptr && entry->refused.empty() ? &entry->admission : nullptr;
}

const LedgerFact* refused_entry(const Workload& workload) {
  const LedgerFact* entry = unshown_entry(workload);
  return entry != nullptr && !entry->refused.empty() ? entry : nullptr;
}

const AdmissionFact* admission_of(const Workload& workload) {
  const AdmissionFact* open = open_entry(workload);
  if (workload.job && open != nullptr) return open;
  if (workload.job && workload.job->admitted) return workload.job->admitted.get();
  if (workload.pods && !workload.pods->admitted.empty())
    return (*workload.pods->admitted.begin())->admitted.get();
  const RestartFact* restart = open == nullptr ? restart_of(workload) : nullptr;
  return restart == nullptr ? open : &restart->admission;
}

bool is_restarting(const Workload& workload) {
  const RestartFact* restart = restart_of(workload);
  return restart != nullptr && admission_of(workload) == &restart->admission;
}

// The mark is not valid for another owner's pods. If the owner of a pod is not known yet, it may be
// valid.
const RestartFact* restart_of(const Workload& workload) {
  const RestartFact* restart = workload.restart.get();
  if (restart == nullptr || workload.taken_back.contains(restart->admission.since)) return nullptr;
  if (!workload.pods) return restart;
  if (!workload.pods->admitted.empty()) {
    const AdmissionFact& shown = *(*workload.pods->admitted.begin())->admitted;
    return shown.since == restart->admission.since ? restart : nullptr;
  }
  bool known = false;
  for (const Pod* pod : workload.pods->all) {
    if (std::ranges::binary_search(restart->makers, pod->maker.view())) return restart;
    known = known || !pod->maker.empty();
  }
  return known ? nullptr : restart;
}

std::string seat_of(const Pod& pod, const Catalog& catalog) {
  if (!pod.role.empty()) return pod.role.str();
  std::map<std::string_view, std::int64_t> gpus;  // by name, because a record outlives this process
  for (const auto& [resource, amount] : catalog.shape_requests(pod.shape))
    if (catalog.counts_as_gpu(resource) && amount > 0)
      gpus[catalog.resource_name(resource)] = amount;
  std::string asks;
  for (const auto& [resource, amount] : gpus)
    asks += fmt::format("{}{} {}", asks.empty() ? "" : ", ", amount, resource);
  return asks.empty() ? "no GPU" : asks;
}

std::vector<const Pod*> covered_members(const Workload& workload, const Catalog& catalog,
                                        const NodeRoom& room) {
  std::vector<const Pod*> waiting;
  const AdmissionFact* admission = admission_of(workload);
  if (!workload.pods || admission == nullptr) return waiting;
  std::ranges::copy_if(workload.pods->all, std::back_inserter(waiting),
                       [](const Pod* pod) { return pod->state == PodState::kWaiting; });
  if (waiting.empty()) return waiting;
  const std::vector<const Pod*> ended = ended_of(workload);
  const bool alike = admission->seats.empty();
  const auto shows_it = [&](const Pod* pod) {
    return pod->admitted && pod->admitted->since == admission->since;
  };
  // A member that was created without review before the gang was admitted has none of its seats.
  SeatsLeft seats(*admission, catalog, room);
  for (const Pod* pod : workload.pods->all)
    if (pod->state != PodState::kWaiting && (!alike || shows_it(pod))) seats.occupy(*pod);
  for (const Pod* pod : ended)
    if (shows_it(pod)) seats.occupy(*pod);
  const std::int64_t size = size_of(**workload.pods->all.begin(), ended, admission);
  std::int64_t places = size - (counts_of(workload).live - std::ssize(waiting));
  std::erase_if(waiting, [&](const Pod* pod) {
    if ((alike && places <= 0) || !seats.seat(*pod)) return true;
    --places;
    return false;
  });
  return waiting;
}

std::vector<const Pod*> to_follow(const Workload& workload, const Catalog& catalog,
                                  const NodeRoom& room) {
  if (!workload.pods || is_maker_unknown(workload)) return {};
  return covered_members(workload, catalog, room);
}

bool may_go_now(const Workload& workload) {
  return open_entry(workload) != nullptr && workload.in_flight->ahead.empty();
}

std::int64_t setbacks_of(const Workload& workload) {
  if (workload.job) return workload.job->setbacks;
  return workload.recall && workload.recall->leaves_out() ? workload.recall->times : 0;
}

std::int64_t checkpoint_of(const Workload& workload) {
  std::int64_t latest = workload.job ? workload.job->checkpoint : 0;
  if (!workload.pods) return latest;
  for (const Pod* pod : workload.pods->all) latest = std::max(latest, pod->checkpoint);
  return latest;
}

std::optional<std::int64_t> end_of(const Workload& workload) {
  if (!workload.job || workload.job->suspended) return std::nullopt;
  const Job& job = *workload.job;
  return job.lasts > 0 && job.started > 0 ? std::optional(job.started + job.lasts) : std::nullopt;
}

std::string_view node_of(const AdmissionFact& admission, std::string_view uid) {
  if (admission.members.empty() && admission.nodes.size() == 1 && admission.uid == uid)
    return admission.nodes.front();
  const auto member = std::ranges::find(admission.members, member_key(uid));
  const auto place = static_cast<std::size_t>(member - admission.members.begin());
  const bool found = member != admission.members.end() && place < admission.nodes.size();
  return found ? std::string_view(admission.nodes[place]) : std::string_view();
}

Job job_of(const JobFact& fact, Catalog& catalog) {
  return {.uid = fact.uid,
          .queue = catalog.queue(fact.queue),
          .priority = fact.priority,
          .created = fact.created,
          .shape = catalog.shape(fact.requests, fact.only_pools, fact.rules, fact.modelled),
          .wish = catalog.wish(fact.topology),
          .wanted = wanted_pods(fact),
          .generation = fact.generation,
          .setbacks = fact.setbacks,
          .suspended = fact.suspended,
          .held = fact.held,
          .hangs_from = fact.hangs_from,
          .template_mutable = fact.template_mutable,
          .awaits_the_dead = fact.awaits_the_dead,
          .checkpoint = fact.checkpoint,
          .lasts = fact.lasts,
          .started = fact.started,
          .admitted = fact.admitted ? std::make_unique<AdmissionFact>(*fact.admitted) : nullptr};
}

void Workload::add(const Pod& pod) {
  if (pod.state == PodState::kEnded) {
    if (!ended) ended = std::make_unique<std::set<const Pod*, ByAge>>();
    ended->insert(&pod);
    return;
  }
  if (!pods) pods = std::make_unique<PodsOfWorkload>();
  pods->add(pod);
}

void Workload::remove(const Pod& pod) {
  if (pod.state == PodState::kEnded) {
    ended->erase(&pod);
    if (ended->empty()) ended = nullptr;
    return;
  }
  pods->remove(pod);
  if (pods->all.empty()) pods = nullptr;
}

void PodsOfWorkload::add(const Pod& pod) {
  all.insert(&pod);
  if (pod.admitted) admitted.insert(&pod);
  count(pod, +1);
}

void PodsOfWorkload::remove(const Pod& pod) {
  all.erase(&pod);
  admitted.erase(&pod);
  count(pod, -1);
}

void PodsOfWorkload::count(const Pod& pod, std::int64_t by) {
  Members& of = shapes[pod.shape];
  switch (pod.state) {
    case PodState::kWaiting:
      of.waiting += by;
      break;
    case PodState::kReleased:
      of.released += by;
      break;
    case PodState::kBound:
      of.bound += by;
      break;
    case PodState::kLeaving:
      of.leaving += by;
      break;
    case PodState::kEnded:
      break;  // Workload::add keeps it in `ended`
  }
  if (of.live() == 0) shapes.erase(pod.shape);
  std::int64_t& says = sizes[pod.group_size];
  says += by;
  if (says == 0) sizes.erase(pod.group_size);
}

Standing standing_of(const Workload& workload, Catalog& catalog, const NodeRoom& room) {
  Standing out;
  if (workload.job || workload.pods) {
    out = workload.job ? of_job(workload, catalog, room) : of_group(workload, catalog, room);
    if (out.leaves) out.hangs_from = out.loses_pods ? kNotCountedOn : hangs_from(workload);
    out.newer = newer_version(workload).has_value();
    if (!out.newer) return out;
    // Its charges stay. But berth does not act on a record that it does not know.
    out.to_release = out.uncovered = out.loses_pods = false;
    out.unready = Unready::kNewerRecord;
    return out;
  }
  if (const RestartFact* restart = workload.in_flight ? nullptr : restart_of(workload)) {
    std::int64_t pods = 0;
    for (const auto& [shape, count] : pods_to_restart(workload, *restart, catalog)) {
      out.claims.push_back({catalog.pool(restart->admission.pool), shape, count, std::nullopt});
      pods += count;
    }
    charge(restart->admission, pods, 0, catalog, out.charges);
    out.admitted = true;
    out.admission = &restart->admission;
    return out;
  }
  if (workload.in_flight && workload.in_flight->refused.empty()) {
    const AdmissionFact& admission = workload.in_flight->admission;
    charge(admission, admission.pods, 0, catalog, out.charges);
    out.admitted = true;
    out.admission = &admission;
  }
  return out;
}

}  // namespace berth::queue
