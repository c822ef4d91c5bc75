// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/rollout_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apis/names.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/slots.h"
#include "controller/mig/watch_keys.h"
#include "tests/mig/memory_api_server.h"

namespace berth::test {

RolloutWorld::RolloutWorld() {
  now = *parse_time("2026-11-21T12:00:00Z");
  DaemonSet agent;
  agent.meta.name = settings.mig_manager_daemon_set;
  agent.meta.namespace_ = settings.agents_namespace;
  agent.meta.uid = "uid-mig-manager";
  agent.config_map_volumes = {Text(settings.mig_config_map)};
  agent.node_selector = {{Text(names::kDeployMigManager), Text("true")}};
  cluster.upsert(agent, now);
  change_leader();
}

void RolloutWorld::change_leader() {
  answers = Answers();
  const EpochClaim claim = claim_epoch(
      cluster.config_maps().find(settings.berth_namespace, names::kSlotsConfigMap), settings);
  EXPECT_FALSE(apply(claim.write)) << claim.write.body;
  epoch = claim.epoch;
  // A new process has seen every node only since now.
  ClusterState fresh;
  for (const auto& o : cluster.mig_layouts()) fresh.upsert(*o, now);
  for (const auto& o : cluster.nodes()) fresh.upsert(*o, now);
  for (const auto& o : cluster.pods()) fresh.upsert(*o, now);
  for (const auto& o : cluster.budgets()) fresh.upsert(*o, now);
  for (const auto& o : cluster.jobs()) fresh.upsert(*o, now);
  for (const auto& o : cluster.config_maps()) fresh.upsert(*o, now);
  for (const auto& o : cluster.daemon_sets()) fresh.upsert(*o, now);
  for (const auto& o : cluster.cluster_policies()) fresh.upsert(*o, now);
  cluster = std::move(fresh);
}

RolloutWorld& RolloutWorld::add_nodes(int count) {
  for (int i = 1; i <= count; ++i)
    add(test::node(fmt::format("n{}", i)).a100_80(4).label("tier", "mig"));
  return *this;
}

void RolloutWorld::remove_node(const std::string& name) {
  cluster.erase<Node>("", name);
  agents_.end_on(name);
}

void RolloutWorld::cordon_by_person(const std::string& name) {
  change_node(name, [](Node& node) { node.unschedulable = true; });
  invariants_.keep_cordon(name);
}

int RolloutWorld::count_writes(const std::string& part) const {
  return static_cast<int>(std::ranges::count_if(
      writes, [&](const std::string& write) { return write.find(part) != write.npos; }));
}

// --- time ---

void RolloutWorld::crash_at_write(int n, bool applied) {
  crash_in_ = n;
  crash_applied_ = applied;
}

void RolloutWorld::run_for(Duration duration) {
  const Time end = now + duration;
  run_until([] { return false; }, duration);
  now = std::max(now, end);
}

bool RolloutWorld::run_until(const std::function<bool()>& done, Duration limit) {
  const Time end = now + limit;
  for (int moments = 0; moments < 200'000; ++moments) {
    std::optional<Time> due;
    for (int rounds = 0;; ++rounds) {
      if (rounds == 200) {
        breach("no fixed point: the same plans over and over");
        return false;
      }
      const bool world_moved = agents_.run(*this) | pods_.run(*this);
      due.reset();
      if (!reconcile_all(due) && !world_moved) break;
    }
    if (done()) return true;
    for (const std::optional<Time>& other : {agents_.next_due(), pods_.next_due()})
      if (other && (!due || *other < *due)) due = other;
    if (!due || *due > end) {
      now = end;
      return done();
    }
    if (*due <= now) {
      breach("a requeue that lies in the past");
      return false;
    }
    now = *due;
  }
  return false;
}

bool RolloutWorld::reconcile_all(std::optional<Time>& due) {
  bool changed = false;
  for (const std::string& key : all_keys(cluster, settings)) {
    const Plan plan = reconcile(snapshot(), key);
    if (plans_twice && plan != reconcile(snapshot(), key))
      breach("equal snapshots gave different plans: " + key);
    if (plan.requeue_after) {
      if (*plan.requeue_after <= Duration::zero()) breach("a requeue of nothing: " + key);
      const Time at = now + *plan.requeue_after;
      if (!due || at < *due) due = at;
    }
    changed |= execute(key, plan);
    if (crashed_) {
      crashed_ = false;
      change_leader();
      return true;
    }
  }
  return changed;
}

bool RolloutWorld::execute(const std::string& key, const Plan& plan) {
  bool changed = false;
  for (const ObjectSteps& object : plan.objects) {
    changed |= run_steps(object);
    if (crashed_) return true;
  }
  for (const EventNote& event : plan.events)
    events.push_back(fmt::format("{} {}", event.regarding.str(), event.reason));
  for (const StatusUpdate& status : plan.statuses)
    if (status.differs) {
      if (on_status) on_status(status);
      put_status(*this, status);
      changed = true;
    }
  if (plan.objects.empty() || !changed) return changed;
  // What was done is not planned again.
  const Plan again = reconcile(snapshot(), key);
  for (const ObjectSteps& before : plan.objects)
    for (const Step& step : before.steps)
      for (const ObjectSteps& after : again.objects)
        if (std::holds_alternative<Write>(step) &&
            std::ranges::find(after.steps, step) != after.steps.end())
          breach("planned again after it was done: " + question(step) + " " +
                 std::get<Write>(step).body);
  return changed;
}

bool RolloutWorld::run_steps(const ObjectSteps& object) {
  bool changed = false;
  for (const Step& step : object.steps) {
    if (const auto* guard = std::get_if<Guard>(&step)) {
      if (!guard_holds(*guard)) return changed;
      continue;
    }
    std::optional<Error> error;
    if (const auto* ask = std::get_if<Ask>(&step)) {
      error = refuse_eviction(*this, ask->pod);
    } else {
      const Write& write = std::get<Write>(step);
      if (crash_in_ > 0 && --crash_in_ == 0) {
        crashed_ = true;
        if (!crash_applied_) return true;
      }
      writes.push_back(
          fmt::format("{} {}: {}", to_string(write.verb), write.object.str(), write.reason));
      error = apply(write);
      if (error) writes.back() += " [refused: " + error->message + "]";
      if (after_write) after_write(writes.back());
      if (crashed_) return true;
    }
    // A world without faults refuses nothing but evictions.
    if (error && error->kind == ErrorKind::kConflict)
      breach("refused: " + question(step) + " " + describe(*error));
    Answer answer{.yes = !error, .error = error.value_or(Error{}), .against = {}, .at = now};
    answers.put(question(step), answer);
    changed = true;
    if (error) return changed;
  }
  return changed;
}

bool RolloutWorld::guard_holds(const Guard& guard) {
  const Node* node = cluster.nodes().find(guard.node.name);
  if (node == nullptr) return false;
  std::vector<Pod> pods;
  for (const Pod* pod : cluster.pods_on(guard.node.name)) pods.push_back(*pod);
  if (auto why = guard.refuse(*node, pods)) {
    breach("a guard refused in a world where the cache is never stale: " + *why);
    return false;
  }
  return true;
}

std::optional<Error> RolloutWorld::apply(const Write& write) {
  const bool removes = write.verb == Verb::kEvict || write.verb == Verb::kDelete;
  const auto before = RolloutInvariants::look_before(*this, write);
  std::optional<Error> error;
  if (!removes) {
    error = apply_write(*this, write);
  } else {
    if (write.verb == Verb::kEvict) error = refuse_eviction(*this, write.object);
    if (!error) invariants_.check_removal(*this, write.object);
    if (!error) pods_.remove_gracefully(*this, write.object);
  }
  if (!error) invariants_.check_write(*this, before, write);
  return error;
}

}  // namespace berth::test
