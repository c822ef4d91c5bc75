// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/preemption_play.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/recall/displaced.h"

namespace berth::queue::test {
namespace {

std::int64_t amount_in(const Amounts& amounts, const std::string& resource) {
  const auto found = std::ranges::find(amounts, resource, &Amounts::value_type::first);
  return found == amounts.end() ? 0 : found->second;
}

LedgerFact entry_of(const Admission& admission, const FactsIndex& index, std::int64_t now) {
  LedgerFact entry{.workload = *admission.workload->name,
                   .admission = admission_fact(admission, index)};
  entry.admission.since = now;
  for (const Ahead& ahead : admission.ahead) entry.ahead.push_back(ahead_fact(ahead));
  return entry;
}

std::vector<std::string> displaced_by(const Admission& admission) {
  std::vector<std::string> names;
  for (const Ahead& ahead : admission.ahead)
    if (ahead.evicted) names.push_back(*ahead.workload->name);
  return names;
}

}  // namespace

PreemptionPlay::PreemptionPlay(ClusterFacts facts, Choose choose)
    : facts_(std::move(facts)), choose_(std::move(choose)) {
  fill(facts_, index_);
}

template <class Fact>
void PreemptionPlay::put(const Fact& fact) {
  index_.put(fact);
  changed_ = true;
}

void PreemptionPlay::arrive(const ClusterFacts& more) {
  seen_.clear();
  for (const JobFact& fact : more.jobs) put(facts_.jobs.emplace_back(fact));
  for (const PodFact& fact : more.pods) put(facts_.pods.emplace_back(fact));
}

JobFact* PreemptionPlay::job(const std::string& workload) {
  const auto found = std::ranges::find(facts_.jobs, workload, &JobFact::workload);
  return found == facts_.jobs.end() ? nullptr : &*found;
}

std::set<std::string> PreemptionPlay::running() const {
  std::set<std::string> names;
  for (const auto& [name, workload] : index_.workloads())
    if (workload.standing.admitted && !workload.standing.leaves) names.insert(name);
  return names;
}

bool PreemptionPlay::decide() {
  std::vector<LedgerFact> entries;
  {
    Cycle cycle(index_, terms_of(now_, facts_.kept));
    cycle.run(1000);
    again_ = cycle.again().value_or(0);
    for (const Admission& admission : cycle.admissions()) {
      entries.push_back(entry_of(admission, index_, now_));
      decisions_.push_back({*admission.workload->name, displaced_by(admission)});
    }
  }
  changed_ = false;
  for (const LedgerFact& entry : entries) {
    facts_.ledger.push_back(entry);
    put(entry);
  }
  if (!entries.empty() && !seen_.insert(running()).second)
    faults_.push_back("the same run as once before");
  return !entries.empty();
}

bool PreemptionPlay::run(int steps) {
  for (; steps > 0; --steps) {
    ++now_;
    std::vector<Event> events = possible();
    if (changed_) events.emplace_back([this] { decide(); });
    if (!events.empty()) {
      events[choose_(events.size())]();
    } else if (again_ > 0) {
      now_ = std::max(now_, std::exchange(again_, 0));
      changed_ = true;
    } else {
      return true;
    }
  }
  return false;
}

std::vector<PreemptionPlay::Event> PreemptionPlay::possible() {
  std::vector<Event> events;
  const auto holds = [&](const AheadFact& ahead) { return still_holds(index_, ahead); };
  for (LedgerFact& entry : facts_.ledger) {
    for (const AheadFact& ahead : entry.ahead)
      if (ahead.evicted && holds(ahead) && !queue::is_leaving(index_, ahead))
        events.emplace_back([this, name = ahead.workload] { begin_to_leave(name); });
    if (entry.ahead.empty())
      events.emplace_back([this, &entry] { let_go(entry); });
    else if (std::ranges::none_of(entry.ahead, holds))
      events.emplace_back([this, &entry] { settle(entry); });
  }
  for (PodFact& pod : facts_.pods) {
    if (is_leaving(pod)) {
      events.emplace_back([this, &pod] { remove(pod); });
    } else if (pod.state == PodState::kReleased) {
      const std::vector<std::string> nodes = nodes_for(pod);
      if (nodes.empty()) continue;
      events.emplace_back([this, &pod, nodes] {
        pod.node = nodes[choose_(nodes.size())];
        pod.state = PodState::kBound;
        put(pod);
      });
    }
  }
  return events;
}

bool PreemptionPlay::is_leaving(const PodFact& pod) const {
  const auto of = std::ranges::find(facts_.jobs, pod.workload, &JobFact::workload);
  return of == facts_.jobs.end() ? pod.state == PodState::kLeaving : of->suspended;
}

// A Job is suspended. All pods of a group are evicted; unscheduled ones are gone at once.
void PreemptionPlay::begin_to_leave(const std::string& workload) {
  if (JobFact* of = job(workload)) {
    of->suspended = true;
    return put(*of);
  }
  std::vector<PodFact> unbound;
  for (PodFact& pod : facts_.pods) {
    if (pod.workload != workload) continue;
    if (pod.state == PodState::kReleased) unbound.push_back(pod);
    if (pod.state != PodState::kBound) continue;
    pod.state = PodState::kLeaving;
    put(pod);
  }
  for (const PodFact& pod : unbound) remove(pod);
}

// The workloads that it waited for are gone.
void PreemptionPlay::settle(LedgerFact& entry) {
  entry.ahead.clear();
  entry.admission.since = now_;
  put(entry);
}

void PreemptionPlay::let_go(LedgerFact entry) {
  if (JobFact* of = job(entry.workload)) {
    of->suspended = false;
    of->admitted = entry.admission;
    put(*of);
    for (int i = 0; i < of->parallelism; ++i)
      make_pod({.workload = of->workload, .requests = of->requests}, PodState::kReleased);
  } else {
    for (PodFact& pod : facts_.pods) {
      if (pod.workload != entry.workload || pod.state != PodState::kWaiting) continue;
      const std::string node(node_of(entry.admission, pod.uid));
      pod.state = PodState::kReleased;
      pod.admitted = entry.admission;
      pod.admitted->uid = pod.uid;
      pod.admitted->members.clear(), pod.admitted->nodes.clear();
      if (!node.empty()) pod.admitted->nodes = {node};
      put(pod);
    }
  }
  for (const PodFact& pod : facts_.pods)
    if (pod.workload == entry.workload && !entry.admission.nodes.empty() &&
        pod.state == PodState::kReleased && nodes_for(pod).empty())
      faults_.push_back(entry.workload + " is let go too early");
  std::erase_if(facts_.ledger, [&](const LedgerFact& of) { return of.workload == entry.workload; });
  index_.remove_ledger(entry.workload);
  changed_ = true;
}

// The controller of a group re-creates the pod.
void PreemptionPlay::remove(const PodFact& pod) {
  const PodFact gone = pod;
  std::erase_if(facts_.pods, [&](const PodFact& of) { return of.uid == gone.uid; });
  index_.remove_pod(gone.uid);
  changed_ = true;
  if (job(gone.workload) == nullptr) make_pod(gone, PodState::kWaiting);
}

void PreemptionPlay::make_pod(const PodFact& like, PodState state) {
  PodFact made = like;
  made.uid = fmt::format("made-{:03}", made_++);
  made.state = state;
  made.node.clear();
  made.admitted.reset();
  facts_.pods.push_back(made);
  put(made);
}

// Like kube-scheduler. Pinned pods find free capacity on their node.
std::vector<std::string> PreemptionPlay::nodes_for(const PodFact& pod) const {
  const auto of = std::ranges::find(facts_.jobs, pod.workload, &JobFact::workload);
  const AdmissionFact& admission = of == facts_.jobs.end() ? *pod.admitted : *of->admitted;
  const std::string& rules = of == facts_.jobs.end() ? pod.rules : of->rules;
  std::vector<std::string> nodes;
  for (const NodeFact& node : facts_.nodes) {
    const bool is_pinned = std::ranges::find(admission.nodes, node.name) != admission.nodes.end();
    const bool is_open = admission.pool == kAnyPool || admission.pool == node.pool;
    if ((is_pinned || (admission.nodes.empty() && is_open)) && has_room(node, pod) &&
        !facts_.refusals.contains({rules, node.name}))
      nodes.push_back(node.name);
  }
  return nodes;
}

bool PreemptionPlay::has_room(const NodeFact& node, const PodFact& pod) const {
  return std::ranges::all_of(pod.requests, [&](const auto& ask) {
    std::int64_t free = amount_in(node.offers, ask.first) - ask.second;
    for (const PodFact& other : facts_.pods)
      if (other.node == node.name) free -= amount_in(other.requests, ask.first);
    return free >= 0;
  });
}

}  // namespace berth::queue::test
