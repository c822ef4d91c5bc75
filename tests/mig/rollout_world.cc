// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/rollout_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apis/decode.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/allocatable.h"
#include "controller/mig/drain.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/preflight.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_annotation.h"
#include "controller/mig/situation.h"
#include "controller/mig/slots.h"
#include "controller/mig/watch_keys.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;

Error failed_test() {
  return {.kind = ErrorKind::kConflict, .message = "a test of the patch failed", .http_code = 422};
}

Json to_json(const StringMap& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key.str()] = value.str();
  return json;
}

StringMap to_map(const Json& json) {
  StringMap map;
  for (const auto& [key, value] : json.items()) map.set(key, value.get<std::string>());
  return map;
}

// RFC 6902 as the API server applies it: a test of null passes on an absent key if its parent is
// there.
bool apply_patch(Json& document, const Json& patch) {
  for (const Json& operation : patch) {
    const Json::json_pointer path(operation["path"].get<std::string>());
    const std::string op = operation["op"];
    if (!document.contains(path.parent_pointer())) return false;
    if (op == "test") {
      const Json found = document.contains(path) ? document[path] : Json();
      if (found != operation["value"]) return false;
    } else if (op == "add") {
      document[path] = operation["value"];
    } else if (op == "remove") {
      if (!document.contains(path)) return false;
      document[path.parent_pointer()].erase(path.back());
    } else {
      return false;
    }
  }
  return true;
}

// What the config of that name makes of a node with so many GPUs, read from the canonical file.
std::optional<NodeLayout> read_config(const std::string& file, const std::string& name, int gpus) {
  Result<MigConfigs> configs = parse_file(file);
  if (!configs || !configs->contains(name)) return std::nullopt;
  NodeLayout layout;
  layout.per_gpu.resize(static_cast<std::size_t>(gpus));
  std::vector<std::size_t> indices;
  std::istringstream lines(configs->at(name));
  for (std::string line; std::getline(lines, line);) {
    if (auto at = line.find("devices: ");
        at != line.npos && line.find("mig-devices") == line.npos) {
      indices.clear();
      if (line.find("all") != line.npos) {
        for (std::size_t i = 0; i < layout.per_gpu.size(); ++i) indices.push_back(i);
      } else {
        std::string list = line.substr(line.find('[') + 1);
        for (char& c : list)
          if (c < '0' || c > '9') c = ' ';
        std::istringstream numbers(list);
        for (std::size_t i; numbers >> i;) indices.push_back(i);
      }
    } else if (line.starts_with("    ")) {
      const std::size_t colon = line.rfind(": ");
      std::string profile = line.substr(4, colon - 4);
      std::erase(profile, '"');
      for (std::size_t i : indices)
        if (i < layout.per_gpu.size())
          layout.per_gpu[i][profile] = std::stoll(line.substr(colon + 2));
    }
  }
  return layout;
}

}  // namespace

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

RolloutWorld& RolloutWorld::add(Node node) {
  node.meta.resource_version = next_version();
  agents_[node.meta.name].seen_label = label_of(node, names::kMigConfig);
  cluster.upsert(std::move(node), now);
  return *this;
}

RolloutWorld& RolloutWorld::add(Pod pod) {
  pod.meta.resource_version = next_version();
  cluster.upsert(std::move(pod), now);
  return *this;
}

RolloutWorld& RolloutWorld::add(MIGLayout layout) {
  layout.meta.resource_version = next_version();
  cluster.upsert(std::move(layout), now);
  return *this;
}

RolloutWorld& RolloutWorld::add(PodDisruptionBudget budget) {
  cluster.upsert(std::move(budget), now);
  return *this;
}

RolloutWorld& RolloutWorld::add(Job job) {
  cluster.upsert(std::move(job), now);
  return *this;
}

RolloutWorld& RolloutWorld::add_nodes(int count) {
  for (int i = 1; i <= count; ++i)
    add(test::node(fmt::format("n{}", i)).a100_80(4).label("tier", "mig"));
  return *this;
}

void RolloutWorld::remove_node(const std::string& name) {
  cluster.erase<Node>("", name);
  agents_.erase(name);
}

void RolloutWorld::remove_pod(const std::string& name) {
  for (const auto& pod : cluster.pods())
    if (pod->meta.name == name) {
      cluster.erase<Pod>(pod->meta.namespace_.view(), name);
      return;
    }
}

void RolloutWorld::change_node(const std::string& name, const std::function<void(Node&)>& change) {
  Node copy = node(name);
  change(copy);
  copy.meta.resource_version = next_version();
  cluster.upsert(std::move(copy), now);
}

void RolloutWorld::change_layout(const std::string& name,
                                 const std::function<void(MIGLayoutSpec&)>& change) {
  MIGLayout copy = *layout(name);
  change(copy.spec);
  ++copy.meta.generation;
  copy.meta.resource_version = next_version();
  cluster.upsert(std::move(copy), now);
}

void RolloutWorld::delete_layout(const std::string& name) {
  MIGLayout copy = *layout(name);
  if (copy.meta.finalizers.empty()) {
    cluster.erase<MIGLayout>("", name);
    return;
  }
  copy.meta.deletion_timestamp = now;
  copy.meta.resource_version = next_version();
  cluster.upsert(std::move(copy), now);
}

void RolloutWorld::change_budget(const std::string& name, int allowed) {
  PodDisruptionBudget copy = *cluster.budgets().find("team-a", name);
  copy.disruptions_allowed = allowed;
  cluster.upsert(std::move(copy), now);
}

void RolloutWorld::cordon_by_person(const std::string& name) {
  change_node(name, [](Node& node) { node.unschedulable = true; });
  persons_cordons_.insert(name);
}

const Node& RolloutWorld::node(const std::string& name) const {
  const Node* found = cluster.nodes().find(name);
  static const Node kNone;
  EXPECT_NE(found, nullptr) << name;
  return found != nullptr ? *found : kNone;
}

const MIGLayout* RolloutWorld::layout(const std::string& name) const {
  return cluster.mig_layouts().find(name);
}

std::string RolloutWorld::label(const std::string& name, const std::string& key) const {
  return std::string(label_of(node(name), key));
}

std::string RolloutWorld::phase(const std::string& name) const {
  const RolloutRecord record = read_rollout(node(name));
  return record.rollout ? to_string(record.rollout->phase) : record.text ? "?" : "";
}

std::string RolloutWorld::details(const std::string& name) const {
  std::string out;
  for (const NodeDetail& detail : layout(name)->status.details)
    out += fmt::format("{} {} {}\n", detail.node, detail.phase, detail.reason);
  return out;
}

std::string RolloutWorld::detail(const std::string& name, const std::string& node) const {
  for (const NodeDetail& detail : layout(name)->status.details)
    if (detail.node == node)
      return fmt::format("{} {}: {}", detail.phase, detail.reason, detail.message);
  return "";
}

std::string RolloutWorld::condition(const std::string& name, const std::string& type) const {
  if (layout(name) == nullptr) return "";
  for (const Condition& condition : layout(name)->status.conditions)
    if (condition.type == type) return fmt::format("{}: {}", condition.reason, condition.message);
  return "";
}

bool RolloutWorld::is_ready(const std::string& name) const {
  return layout(name) != nullptr &&
         std::ranges::any_of(layout(name)->status.conditions, [](const Condition& condition) {
           return condition.type == "Ready" && condition.status == "True";
         });
}

std::string RolloutWorld::counts(const std::string& name) const {
  const NodeCounts& c = layout(name)->status.nodes;
  return fmt::format("selected {} updated {} inProgress {} blocked {} failed {} pending {}",
                     c.selected, c.updated, c.in_progress, c.blocked, c.failed, c.pending);
}

std::string RolloutWorld::ledger() const {
  std::vector<std::string> names;
  const ConfigMap* map =
      cluster.config_maps().find(settings.berth_namespace, names::kSlotsConfigMap);
  if (map == nullptr) return "missing";
  for (const auto& [node, slot] : map->data) names.push_back(node);
  return fmt::format("{}", fmt::join(names, " "));
}

std::int64_t RolloutWorld::offered(const std::string& name, const std::string& resource) const {
  return node(name).allocatable.get(resource).as_whole().value_or(-1);
}

void RolloutWorld::break_agent(const std::string& node, Fault fault, int times,
                               const std::string& config) {
  Agent& agent = agents_[node];
  agent.fault = fault;
  agent.times = times;
  agent.only_config = config;
}

void RolloutWorld::remember_label(const std::string& name) {
  agents_[name].seen_label = label(name, names::kMigConfig);
}

int RolloutWorld::count_writes(const std::string& part) const {
  return static_cast<int>(std::ranges::count_if(
      writes, [&](const std::string& write) { return write.find(part) != write.npos; }));
}

// --- time ---

Snapshot RolloutWorld::snapshot() { return {cluster, answers, settings, now, epoch, false}; }

Plan RolloutWorld::plan(const std::string& key) { return reconcile(snapshot(), key); }

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
      const bool world_moved = run_agents() | run_pods();
      due.reset();
      if (!reconcile_all(due) && !world_moved) break;
    }
    if (done()) return true;
    for (const std::optional<Time>& other : {next_due()})
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
      put_status(status);
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
      error = refuse_eviction(ask->pod);
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

// --- the API server ---

std::optional<Error> RolloutWorld::refuse_eviction(const ObjectRef& ref) {
  const Pod* pod = cluster.pods().find(ref.namespace_, ref.name);
  if (pod == nullptr)
    return Error{.kind = ErrorKind::kNotFound, .message = "no such pod", .http_code = 404};
  std::vector<std::string> selecting;
  bool open = true;
  for (const auto& budget : cluster.budgets()) {
    if (!budget->selects(*pod)) continue;
    selecting.push_back(budget->meta.name);
    open &= budget->disruptions_allowed > 0;
  }
  if (selecting.size() > 1)
    return Error{.kind = ErrorKind::kServer,
                 .message =
                     "This pod has more than one PodDisruptionBudget, which the eviction "
                     "subresource does not support.",
                 .http_code = 500};
  if (open) return std::nullopt;
  return Error{.kind = ErrorKind::kThrottled,
               .message = "Cannot evict pod as it would violate the pod's disruption budget.",
               .http_code = 429,
               .causes = {{"DisruptionBudget",
                           fmt::format("The disruption budget {} needs 1 healthy pods and has 1 "
                                       "currently",
                                       selecting[0]),
                           ""}}};
}

std::optional<Error> RolloutWorld::apply(const Write& write) {
  const auto before = capacity();
  std::optional<Error> error;
  if (write.verb == Verb::kEvict || write.verb == Verb::kDelete) {
    if (write.verb == Verb::kEvict) error = refuse_eviction(write.object);
    if (!error) remove_gracefully(write.object);
  } else if (write.object.kind == "Node") {
    error = write.verb == Verb::kJsonPatch ? patch_node(write) : merge_node(write);
  } else if (write.object.kind == "ConfigMap") {
    error = write_config_map(write);
  } else if (write.object.kind == "MIGLayout") {
    error = patch_layout(write);
  }
  if (!error) {
    check_capacity(before, write);
    check_budget();
  }
  return error;
}

std::optional<Error> RolloutWorld::patch_node(const Write& write) {
  const Node before = node(write.object.name);
  Json document{{"metadata",
                 {{"uid", before.meta.uid},
                  {"labels", to_json(before.meta.labels)},
                  {"annotations", to_json(before.meta.annotations)}}},
                {"spec", Json::object()}};
  if (before.meta.annotations.empty()) document["metadata"].erase("annotations");
  if (before.unschedulable) document["spec"]["unschedulable"] = *before.unschedulable;
  if (!apply_patch(document, Json::parse(write.body))) return failed_test();
  Node after = before;
  after.meta.labels = to_map(document["metadata"]["labels"]);
  after.meta.annotations = to_map(document["metadata"]["annotations"]);
  after.unschedulable.reset();
  if (document["spec"].contains("unschedulable"))
    after.unschedulable = document["spec"]["unschedulable"].get<bool>();
  after.meta.resource_version = next_version();
  check_node_write(before, after, write);
  cluster.upsert(std::move(after), now);
  return std::nullopt;
}

std::optional<Error> RolloutWorld::merge_node(const Write& write) {
  Node after = node(write.object.name);
  const Json body = Json::parse(write.body);
  if (body["metadata"]["uid"] != after.meta.uid) return failed_test();
  for (const auto& [key, value] : body["metadata"]["annotations"].items())
    after.meta.annotations.set(key, value.get<std::string>());
  after.meta.resource_version = next_version();
  cluster.upsert(std::move(after), now);
  return std::nullopt;
}

std::optional<Error> RolloutWorld::write_config_map(const Write& write) {
  const Json body = Json::parse(write.body);
  const ConfigMap* old = cluster.config_maps().find(write.object.namespace_, write.object.name);
  const bool creates = write.verb == Verb::kCreate;
  if (creates == (old != nullptr)) return failed_test();
  ConfigMap next;
  if (old != nullptr) next = *old;
  next.meta.name = write.object.name;
  next.meta.namespace_ = write.object.namespace_;
  if (creates) next.meta.uid = "uid-" + next_version();
  if (!creates && (body["metadata"]["resourceVersion"] != next.meta.resource_version ||
                   body["metadata"]["uid"] != next.meta.uid))
    return failed_test();
  if (body["metadata"].contains("annotations"))
    for (const auto& [key, value] : body["metadata"]["annotations"].items())
      next.meta.annotations.set(key, value.get<std::string>());
  if (body.contains("data")) {
    for (const auto& [key, value] : body["data"].items()) {
      next.data.erase(key);
      if (!value.is_null()) next.data[key] = value.get<std::string>();
    }
  }
  next.meta.resource_version = next_version();
  cluster.upsert(std::move(next), now);
  return std::nullopt;
}

std::optional<Error> RolloutWorld::patch_layout(const Write& write) {
  MIGLayout next = *layout(write.object.name);
  const Json body = Json::parse(write.body);
  if (body["metadata"]["resourceVersion"] != next.meta.resource_version) return failed_test();
  next.meta.finalizers.clear();
  for (const Json& finalizer : body["metadata"]["finalizers"])
    next.meta.finalizers.push_back(finalizer.get<std::string>());
  if (next.meta.deletion_timestamp && next.meta.finalizers.empty()) {
    cluster.erase<MIGLayout>("", next.meta.name);
    return std::nullopt;
  }
  next.meta.resource_version = next_version();
  cluster.upsert(std::move(next), now);
  return std::nullopt;
}

void RolloutWorld::put_status(const StatusUpdate& update) {
  if (on_status) on_status(update);
  if (layout(update.object.name) == nullptr) return;
  MIGLayout next = *layout(update.object.name);
  Json standing = Json::parse(encode_status(next.status));
  standing.merge_patch(Json::parse(update.body)["status"]);
  const Json spec{{"nodeSelector", Json::object()},
                  {"devices", Json::array({Json{{"profiles", Json::object()}}})}};
  const Json whole{{"metadata", {{"name", next.meta.name}}}, {"spec", spec}, {"status", standing}};
  std::string object = whole.dump();
  Result<MIGLayout> decoded = decode_object<MIGLayout>(object);
  ASSERT_TRUE(decoded) << describe(decoded.error());
  next.status = decoded->status;
  next.meta.resource_version = next_version();
  cluster.upsert(std::move(next), now);
}

void RolloutWorld::remove_gracefully(const ObjectRef& ref) {
  const Pod* found = cluster.pods().find(ref.namespace_, ref.name);
  if (found == nullptr || found->terminating()) return;
  if (const Node* on = cluster.nodes().find(found->node_name.view())) {
    const Snapshot snap = snapshot();
    LayoutView layouts(snap);
    if (situation_of(snap, layouts, *on).is_right())
      breach("invariant 5: evicted from a node whose layout is right: " + ref.str());
    if (!on->cordoned()) breach("invariant: evicted from a node in service: " + ref.str());
  }
  Pod next = *found;
  next.meta.deletion_timestamp = now + seconds(2);
  dying_[ref.namespace_ + "/" + ref.name] = now + seconds(2);
  cluster.upsert(std::move(next), now);
}

// --- the agent ---

bool RolloutWorld::run_agents() {
  bool moved = false;
  for (auto& [name, agent] : agents_) {
    const Node* found = cluster.nodes().find(name);
    if (found == nullptr) continue;
    if (!agent.due && label_of(*found, names::kMigConfig) != agent.seen_label) {
      agent.seen_label = label_of(*found, names::kMigConfig);
      agent.due = now + seconds(1);
      agent.step = 0;
    }
    if (!agent.due || *agent.due > now) continue;
    run_agent(*found, agent);
    moved = true;
  }
  return moved;
}

void RolloutWorld::run_agent(const Node& node, Agent& agent) {
  const std::string name = node.meta.name;
  const std::string plugin = "nvidia.com/gpu.deploy.device-plugin";
  const bool faulty = agent.times > 0 && agent.seen_label.starts_with(agent.only_config);
  const Fault fault = faulty ? agent.fault : Fault::kNone;
  auto state = [&](const char* value) {
    change_node(name, [&](Node& n) { n.meta.labels.set(names::kMigConfigState, value); });
  };
  auto pause = [&](const char* value) {
    change_node(name, [&](Node& n) { n.meta.labels.set(plugin, value); });
  };
  switch (agent.step++) {
    case 0: {
      const std::optional<Time> changed = agent_config_changed_at(snapshot());
      if (fault == Fault::kUnknownConfig && changed && now - *changed < seconds(60)) {
        agent.due.reset();
        return state("failed");
      }
      state("pending");
      pause(names::kPausedForMigChange);
      change_node(name, [](Node& n) {
        for (const auto& [resource, quantity] : ResourceList(n.allocatable))
          n.allocatable.set(resource, Quantity());
      });
      agent.due = now + seconds(10);
      if (fault == Fault::kWedges) {
        agent.due.reset();
        --agent.times;
      }
      return;
    }
    case 1:
      if (fault == Fault::kFails || fault == Fault::kFailsPaused) {
        --agent.times;
        agent.due.reset();
        if (fault == Fault::kFails) pause("true");
        return state("failed");
      }
      pause("true");
      state("success");
      agent.due = now + seconds(5);
      if (fault == Fault::kLies) {
        --agent.times;
        agent.due.reset();
      }
      return;
    default:
      agent.due.reset();
      change_node(name, [&](Node& n) { offer_layout(n, agent.seen_label); });
  }
}

void RolloutWorld::offer_layout(Node& node, const std::string& config) {
  const ConfigMap* file = find_agent_config(snapshot());
  std::optional<NodeLayout> layout =
      read_config(file->data.at(names::kMigPartedKey), config, inventory_of(node)->count);
  if (!layout) return breach("the agents' file has no " + config);
  for (const auto& [resource, count] : expected_allocatable(*layout, MigStrategy::kMixed, {}))
    node.allocatable.set(resource, Quantity::whole(count));
}

bool RolloutWorld::run_pods() {
  bool moved = false;
  for (const auto& [key, at] : std::map<std::string, Time>(dying_)) {
    if (at > now) continue;
    moved = true;
    dying_.erase(key);
    const std::size_t slash = key.find('/');
    auto gone = cluster.erase<Pod>(key.substr(0, slash), key.substr(slash + 1));
    if (!gone || gone->meta.controller() == nullptr) continue;
    if (gone->meta.controller()->kind == "Job") {
      Job job =
          *cluster.jobs().find(gone->meta.namespace_.view(), gone->meta.controller()->name.view());
      if (!job.ignores_disruptions) ++job.failed;
      if (job.failed > job.backoff_limit) breach("a Job failed through berth: " + job.meta.name);
      cluster.upsert(job, now);
    }
    Pod next = *gone;
    next.meta.name =
        fmt::format("{}-{}", gone->meta.name.substr(0, gone->meta.name.find('-')), ++spawned_);
    next.meta.uid = "uid-" + next.meta.name;
    next.meta.deletion_timestamp.reset();
    next.node_name = Text();
    next.phase = PodPhase::kPending;
    add(next);
  }
  for (const auto& waiting : cluster.pods()) {
    if (!waiting->node_name.empty()) continue;
    for (const auto& node : cluster.nodes()) {
      if (!in_service(*node)) continue;
      const bool fits = std::ranges::all_of(waiting->requests, [&](const auto& request) {
        Quantity free = node->allocatable.get(request.first.view());
        for (const Pod* pod : cluster.pods_on(node->meta.name))
          free -= pod->requests.get(request.first.view());
        return free >= request.second;
      });
      if (!fits) continue;
      Pod bound = *waiting;
      bound.node_name = node->meta.name;
      bound.phase = PodPhase::kRunning;
      add(bound);
      return true;  // the store has changed under the loop
    }
  }
  return moved;
}

std::optional<Time> RolloutWorld::next_due() const {
  std::optional<Time> due;
  for (const auto& [name, agent] : agents_)
    if (agent.due && (!due || *agent.due < *due)) due = agent.due;
  for (const auto& [key, at] : dying_)
    if (!due || at < *due) due = at;
  return due;
}

// --- invariants ---

void RolloutWorld::breach(const std::string& what) {
  broken.push_back(fmt::format("{} {}", format_time(now), what));
  ADD_FAILURE() << broken.back();
}

std::map<std::string, std::int64_t> RolloutWorld::capacity() const {
  std::map<std::string, std::int64_t> sum;
  for (const auto& node : cluster.nodes())
    if (in_service(*node))
      for (const auto& [resource, quantity] : node->allocatable)
        sum[resource.str()] += quantity.as_whole().value_or(0);
  return sum;
}

void RolloutWorld::check_node_write(const Node& before, const Node& after, const Write& write) {
  const std::string& name = after.meta.name;
  const RolloutRecord was = read_rollout(before);
  const RolloutRecord is = read_rollout(after);
  if (!is.rollout) return breach("berth wrote an annotation it can't read: " + write.body);
  if (persons_cordons_.contains(name) && !after.cordoned())
    breach("invariant 3: berth uncordoned what a person had cordoned: " + name);
  if (before.cordoned() && !after.cordoned() && !(was.rollout && was.rollout->berth_cordoned))
    breach("invariant 3: berth uncordoned what it had not cordoned: " + name);
  if (label_of(before, names::kMigConfig) == label_of(after, names::kMigConfig)) return;

  const auto held_for = now - was.rollout->since;
  if (!before.cordoned()) breach("invariant 1: relabelled a node in service: " + name);
  if (was.rollout->phase == RolloutPhase::kCordoned && held_for < settings.settle)
    breach("invariant 1: relabelled before bindings in flight had settled: " + name);
  for (const Pod* pod : cluster.pods_on(name))
    if (must_leave(*pod, DrainSpec{}, settings))
      breach("invariant 1: relabelled under " + pod->meta.name);
  if (after.meta.labels.contains(names::kMigConfigState))
    breach("invariant 1: the old state was left: " + name);
  if (!config_is_rendered(snapshot(), label_of(after, names::kMigConfig)))
    breach("invariant 1: relabelled to what the agents' file lacks: " + name);
  const bool uncounted = write.reason.find("may not have known") != write.reason.npos;
  if (!uncounted &&
      !relabels_.insert({name, is.rollout->config, is.rollout->attempt, is.rollout->seq}).second)
    breach("invariant 7: relabelled twice in one attempt: " + name);
}

void RolloutWorld::check_capacity(const std::map<std::string, std::int64_t>& before,
                                  const Write& write) {
  const auto after = capacity();
  for (const auto& layout : cluster.mig_layouts())
    for (const auto& [resource, minimum] : layout->spec.capacity_guard.min_available) {
      auto old = before.find(resource);
      auto now_there = after.find(resource);
      const std::int64_t was = old == before.end() ? 0 : old->second;
      const std::int64_t is = now_there == after.end() ? 0 : now_there->second;
      if (is < was && is < minimum) breach("invariant 4: " + resource + " by " + write.reason);
    }
}

void RolloutWorld::check_budget() {
  for (const auto& layout : cluster.mig_layouts()) {
    std::int64_t selected = 0;
    std::int64_t out = 0;
    for (const auto& node : cluster.nodes()) {
      if (!selects(*layout, *node)) continue;
      ++selected;
      const RolloutRecord record = read_rollout(*node);
      out += !record.idle() && record.rollout->berth_cordoned &&
             record.rollout->layout_uid == layout->meta.uid;
    }
    if (out > layout->spec.rollout.max_unavailable.of(selected))
      breach(fmt::format("invariant 2: {} nodes out by {}", out, layout->meta.name));
  }
}

}  // namespace berth::test
