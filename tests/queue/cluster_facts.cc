// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/cluster_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"

namespace berth::queue::test {
namespace {

std::string print(const Amounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts) text += fmt::format(" {}={}", name, amount);
  return text;
}

std::string print(const TopologyWish& wish) {
  if (wish.level.empty()) return "";
  return fmt::format(" {}={}", wish.required ? "required" : "preferred", wish.level);
}

std::string print(const std::optional<AdmissionFact>& admission) {
  if (!admission) return "";
  std::string shapes;
  for (const auto& [seat, pods] : admission->seats) shapes += fmt::format(" {}x'{}'", pods, seat);
  for (const SeatShape& shape : admission->shapes)
    shapes += fmt::format(" '{}' of {}:{}", shape.seat, shape.pods, print(shape.asks));
  return fmt::format(" admitted({} {} {} {} since={} pods={}{} nodes={} members={}{})",
                     admission->uid, admission->queue, admission->cohort, admission->pool,
                     admission->since, admission->pods, print(admission->amounts),
                     fmt::join(admission->nodes, "|"), fmt::join(admission->members, "|"), shapes);
}

}  // namespace

std::string print(const Outcome& outcome) {
  std::string text;
  for (const std::string& line : outcome.admitted) text += "admit " + line + "\n";
  for (const auto& [workload, line] : outcome.waiting) text += workload + ": " + line + "\n";
  return text;
}

std::string print(const ClusterFacts& facts) {
  std::string text;
  for (const NodeFact& n : facts.nodes) {
    text += fmt::format("node {} pool={} {}{} weights{} domains={}{}\n", n.name, n.pool,
                        n.in_service ? "in" : "out", print(n.offers), print(n.gpu_weights),
                        fmt::join(n.domains, "/"), n.one_numa_node ? " one NUMA node" : "");
  }
  for (const auto& [pool, nodes] : facts.elastic.max_nodes)
    text += fmt::format("pool {} grows to {} nodes\n", pool, nodes);
  for (const auto& [rules, node] : facts.refusals)
    text += fmt::format("node {} refuses {}\n", node, rules);
  for (const QueueFact& q : facts.queues) {
    text += fmt::format(
        "queue {} cohort={} strict={} held={} weight={} pins={}{} own={}/{} others={}/{} "
        "reserve={}{}\n",
        q.name, q.cohort, q.strict_fifo, q.held, q.weight_thousandths, q.pins, print(q.topology),
        q.preemption.own, q.preemption.own_after, static_cast<int>(q.preemption.others),
        q.preemption.others_after, q.reserve_after.value_or(-1),
        q.preemption.stays_may_borrow ? " lends to what stays" : "");
    for (const QuotaFact& quota : q.quotas) {
      text += fmt::format("  {} {} nominal={} borrow={} lend={}\n", quota.resource, quota.pool,
                          quota.nominal, quota.borrowing_limit.value_or(-1),
                          quota.lending_limit.value_or(-1));
    }
  }
  for (const JobFact& j : facts.jobs) {
    text += fmt::format(
        "job {} uid={} queue={} priority={} created={} parallelism={} completions={} succeeded={} "
        "failed={}{}{}{} hangs={} only={} rules={}{}{}{}{} checkpoint={} setbacks={}\n",
        j.workload, j.uid, j.queue, j.priority, j.created, j.parallelism,
        j.completions.value_or(-1), j.succeeded, j.failed_indexes, j.suspended ? " suspended" : "",
        j.held ? " held" : "", j.template_mutable ? "" : " frozen", j.hangs_from,
        fmt::join(j.only_pools, "|"), j.rules, j.modelled ? "" : " unmodelled", print(j.topology),
        print(j.requests), print(j.admitted), j.checkpoint, j.setbacks);
  }
  for (const PodFact& p : facts.pods) {
    text += fmt::format(
        "pod {} of={} queue={} priority={} created={} size={}{} state={} node={} hangs={} only={} "
        "rules={}{}{}{}{} maker={}{}\n",
        p.uid, p.workload, p.queue, p.priority, p.created, p.group_size,
        p.fast ? fmt::format(" fast {}x{}", p.role, p.role_size) : "", static_cast<int>(p.state),
        p.node, p.hangs_from, fmt::join(p.only_pools, "|"), p.rules,
        p.modelled ? "" : " unmodelled", print(p.topology), print(p.requests), print(p.admitted),
        p.maker, p.stays ? " stays" : "");
  }
  for (const std::string& name : facts.kept) text += fmt::format("kept by a budget: {}\n", name);
  for (const RestartFact& r : facts.restarts) {
    text += fmt::format("restart {}{} of {}\n", r.workload, print(std::optional(r.admission)),
                        fmt::join(r.makers, "|"));
    for (const auto& [requests, pods] : r.asks)
      text += fmt::format("  {} pods{}\n", pods, print(requests));
  }
  for (const LedgerFact& l : facts.ledger) {
    text += fmt::format("ledger {}{} generation={} {}\n", l.workload,
                        print(std::optional(l.admission)), l.generation, l.refused);
    for (const AheadFact& a : l.ahead)
      text += fmt::format("  after {} {}{}\n", a.workload, a.uid, a.evicted ? " evicted" : "");
  }
  return text;
}

void fill(const ClusterFacts& facts, FactsIndex& index) {
  index.put(facts.topology);
  index.put(facts.elastic);
  for (const NodeFact& fact : facts.nodes) index.put(fact);
  for (const auto& [rules, node] : facts.refusals) index.refuse(rules, node, true);
  for (const QueueFact& fact : facts.queues) index.put(fact);
  for (const JobFact& fact : facts.jobs) index.put(fact);
  for (const PodFact& fact : facts.pods) index.put(fact);
  for (const LedgerFact& fact : facts.ledger) index.put(fact);
  for (const RestartFact& fact : facts.restarts) index.put(fact);
}

PreemptionTerms terms_of(std::int64_t now, std::set<std::string> kept) {
  PreemptionTerms terms{.now = now, .slack = 1};
  if (kept.empty()) return terms;
  terms.goes_late = [kept = std::move(kept)](const Workload& of) {
    return kept.contains(*of.name);
  };
  terms.may_go = [late = terms.goes_late](const Workload& of) { return !late(of); };
  return terms;
}

Outcome decide(const FactsIndex& index, std::size_t window, std::optional<std::int64_t> now,
               const std::set<std::string>& kept) {
  Cycle cycle(index, now ? std::optional(terms_of(*now, kept)) : std::nullopt);
  cycle.run(window);
  const Catalog& catalog = index.catalog();
  Outcome outcome;
  std::map<std::string, bool> admitted;
  for (const Admission& admission : cycle.admissions()) {
    std::map<std::string, std::int64_t> amounts;
    for (const auto& [key, amount] : admission.amounts) {
      const auto& [resource, pool] = catalog.key_parts(key);
      amounts[catalog.resource_name(resource) + "/" + catalog.pool_name(pool)] = amount;
    }
    std::string line = *admission.workload->name + " " + catalog.pool_name(admission.pool);
    for (const auto& [key, amount] : amounts) line += fmt::format(" {}={}", key, amount);
    const AdmissionFact record = admission_fact(admission, index);
    if (!record.nodes.empty()) line += fmt::format(" on {}", fmt::join(record.nodes, ","));
    if (!record.members.empty()) line += fmt::format(" for {}", fmt::join(record.members, ","));
    std::vector<std::string> displaced;
    for (const Ahead& ahead : admission.ahead)
      if (ahead.evicted) displaced.push_back(*ahead.workload->name);
    if (admission.after_others) line += fmt::format(" after {}", fmt::join(displaced, ","));
    for (const Ahead& ahead : admission.ahead)
      if (!ahead.evicted) line += " awaits " + *ahead.workload->name;
    if (admission.to_come) line += " on nodes to come";
    outcome.admitted.push_back(line);
    admitted[*admission.workload->name] = true;
  }
  for (const auto& [name, workload] : index.workloads()) {
    if (!workload.standing.pending || admitted.count(name) > 0) continue;
    const Verdict verdict = cycle.why(workload);
    outcome.waiting[name] = fmt::format(
        "{} {} {} {} {} {} {}", to_string(verdict.reason), catalog.resource_name(verdict.resource),
        catalog.pool_name(verdict.pool), verdict.needs, verdict.free, verdict.most,
        verdict.behind == nullptr ? "" : *verdict.behind->name);
    if (verdict.passed) outcome.waiting[name] += " passed";
    if (verdict.nodes_to_come)
      outcome.waiting[name] += fmt::format(" {} to come", *verdict.nodes_to_come);
    if (verdict.reserved) outcome.waiting[name] += fmt::format(" kept {}", *verdict.reserved);
  }
  return outcome;
}

std::string text_of(const FactsIndex& index) {
  const Catalog& catalog = index.catalog();
  const NodeRoom& room = index.room();
  std::vector<std::string> lines;
  for (PoolId pool = 0; pool < catalog.pools(); ++pool) {
    for (ResourceId resource = 0; resource < catalog.resources(); ++resource) {
      const std::int64_t figures[] = {room.offered(pool, resource), room.unclaimed(pool, resource),
                                      room.largest(pool, resource), room.weight(pool, resource)};
      if (std::equal(figures, figures + 4,
                     std::begin({std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, kWholeGpu})))
        continue;
      lines.push_back(fmt::format("room {} {} {}", catalog.pool_name(pool),
                                  catalog.resource_name(resource), fmt::join(figures, " ")));
    }
  }
  for (PoolId pool = 0; pool < catalog.pools(); ++pool) {
    const std::string& name = catalog.pool_name(pool);
    if (const auto nodes = room.nodes_to_come(pool))
      lines.push_back(fmt::format("pool {} may get {} nodes", name, *nodes));
    for (const auto& [shape, pods] : room.claimants(pool)) {
      Amounts asks;
      for (const auto& [resource, amount] : catalog.shape_requests(shape))
        asks.emplace_back(catalog.resource_name(resource), amount);
      std::sort(asks.begin(), asks.end());
      lines.push_back(fmt::format("unpinned in {}: {}x {}{}", name, pods,
                                  catalog.rules_name(catalog.shape_rules(shape)), print(asks)));
    }
  }
  for (NodeId node = 0; node < room.nodes(); ++node) {
    const NodeRoom::Node& of = room.node_at(node);
    for (ResourceId resource = 0; resource < catalog.resources(); ++resource) {
      const std::int64_t offers = resource < of.offers.size() ? of.offers[resource] : 0;
      const std::int64_t taken = resource < of.taken.size() ? of.taken[resource] : 0;
      if (offers == 0 && taken == 0) continue;
      lines.push_back(fmt::format("node {} {} {} offers {} taken {}{}", room.node_name(node),
                                  catalog.pool_name(of.pool), catalog.resource_name(resource),
                                  offers, taken, of.one_numa_node ? ", one NUMA node" : ""));
    }
  }
  for (const auto& [holder, by_key] : index.usage().by_holder()) {
    const auto& [queue, cohort] = catalog.holder_parts(holder);
    for (const auto& [key, used] : by_key) {
      const auto& [resource, pool] = catalog.key_parts(key);
      lines.push_back(fmt::format("used {} {} {} {} {} {}", catalog.queue_name(queue), cohort,
                                  catalog.resource_name(resource), catalog.pool_name(pool),
                                  used.total, used.leaving));
    }
  }
  for (const auto& [queue, pending] : index.pending().by_queue()) {
    for (const auto& [workloads, same] : pending.ready) {
      std::vector<std::string> asks;
      for (const auto& [shape, count] : catalog.class_key(workloads).roles) {
        std::string ask =
            fmt::format("{}x {}", count, catalog.rules_name(catalog.shape_rules(shape)));
        std::set<std::string> only;
        for (const PoolId pool : catalog.shape_pools(shape)) only.insert(catalog.pool_name(pool));
        for (const std::string& pool : only) ask += " in " + pool;
        std::map<std::string, std::int64_t> by_name;
        for (const auto& [resource, amount] : catalog.shape_requests(shape))
          by_name[catalog.resource_name(resource)] = amount;
        for (const auto& [name, amount] : by_name) ask += fmt::format(",{}={}", name, amount);
        asks.push_back(ask);
      }
      std::sort(asks.begin(), asks.end());
      std::string line =
          fmt::format("ready {} {}{}:", catalog.queue_name(queue), fmt::join(asks, " "),
                      catalog.class_key(workloads).stays ? " stays" : "");
      for (const Workload* workload : same.in_order) line += " " + *workload->name;
      lines.push_back(line);
    }
    std::string line = fmt::format("unready {}:", catalog.queue_name(queue));
    for (const Workload* workload : pending.unready) line += " " + *workload->name;
    if (!pending.unready.empty()) lines.push_back(line);
    line = fmt::format("left out {}:", catalog.queue_name(queue));
    for (const Workload* workload : pending.left_out) line += " " + *workload->name;
    if (!pending.left_out.empty()) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace berth::queue::test
