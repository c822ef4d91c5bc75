// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/scenario_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/base/names.h"
#include "controller/scenario/expectations.h"
#include "controller/scenario/gpu_pods.h"
#include "controller/scenario/object_names.h"
#include "controller/scenario/phases.h"
#include "controller/scenario/simulated_keys.h"
#include "controller/scenario/workload_objects.h"
#include "controller/sim/kube/actor_client.h"
#include "controller/sim/server/queue_policy.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;
using namespace std::chrono_literals;

// Long enough to bind and start pods, and to try pods that do not fit.
constexpr std::chrono::seconds kWarmUp = 30s;
constexpr std::chrono::minutes kStill = 1min;

// Long enough for mig-manager to get its file and to partition the nodes that start partitioned.
constexpr std::chrono::minutes kCutting = 5min;

std::set<std::string> namespaces_of(const Scenario& scenario) {
  std::set<std::string> names{scenario.settings.berth_namespace, "default"};
  for (const ScenarioWorkload& workload : scenario.workloads) names.insert(workload.namespace_);
  for (const std::string& text : scenario.objects) {
    const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
    const std::string name = text_at(object, {"metadata", "namespace"});
    if (!name.empty()) names.insert(name);
  }
  names.erase(scenario.agents.agent_namespace);  // created with NVIDIA's node components
  return names;
}

bool is_a(const std::string& text, std::string_view kind) {
  return text_at(json::parse(text, nullptr, /*allow_exceptions=*/false), {"kind"}) == kind;
}

bool same_at(const json& before, const json& after, sim::FieldPath path) {
  const json* a = sim::find_at(before, path);
  const json* b = sim::find_at(after, path);
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

// Whether the change counts: leases, events and heartbeats never stop.
bool is_news(const sim::Change& change) {
  if (change.key.type->plural == "leases" || change.key.type->plural == "events") return false;
  if (change.key.type->plural != "nodes" || change.kind != sim::Change::Kind::kModified)
    return true;
  const json& before = *change.before;
  const json& after = *change.after;
  return !same_at(before, after, {"metadata", "labels"}) ||
         !same_at(before, after, {"metadata", "annotations"}) ||
         !same_at(before, after, {"spec"}) || !same_at(before, after, {"status", "allocatable"});
}

// With a Prometheus, every node has an exporter.
sim::GpuAgentOptions agents_of(const Scenario& scenario) {
  sim::GpuAgentOptions options = scenario.agents;
  options.exporters = scenario.prometheus;
  return options;
}

}  // namespace

struct ScenarioRun::Timeline {
  Timeline(const Scenario& s, ScenarioRun& run)
      : scenario(s),
        incidents({*run.simulation_, *run.kube_, *run.agents_, run.gauges_, run.berths_,
                   run.webhooks_, scenario.settings}) {}

  const Scenario scenario;
  Incidents incidents;
  std::vector<std::string> refused;           // refused creations at the scenario's start
  std::size_t ahead = 0;                      // timed incidents in the future
  std::vector<std::size_t> waiting;           // incidents that wait for a phase
  std::map<std::string, std::string> phases;  // by node
  MonotonicTime begin{0};
  MonotonicTime last_news{0};
  mutable MonotonicTime judged{-1};  // the change after which expectations were not met
};

ScenarioRun::ScenarioRun(const Scenario& scenario, std::uint64_t seed)
    : simulation_(std::make_unique<sim::Simulation>(seed)),
      kube_(std::make_unique<sim::KubeActors>(*simulation_, scenario.kube)),
      agents_(std::make_unique<sim::GpuAgents>(*simulation_, *kube_, agents_of(scenario))),
      prometheus_(simulation_->store(), gauges_),
      exporters_(simulation_->store(), gauges_),
      timeline_(std::make_unique<Timeline>(scenario, *this)) {
  set_up();
  simulation_->run_for(kWarmUp);
  timeline_->begin = timeline_->last_news = simulation_->now();
  simulation_->store().observe([this](const sim::Change& change) { on_change(change); });
  timeline_->incidents.on_held = [this](const Incidents::Told& line) { tell(line); };
  start_berth();
  if (scenario.webhook.replicas > 0) install_webhook();
  if (scenario.queue_policy)
    simulation_->server().policy = [policy = sim::QueuePolicy(simulation_->store())](
                                       const std::string& user, const sim::StoreKey& key,
                                       const json* live,
                                       const json& next) { policy.judge(user, key, live, next); };
  schedule();
}

ScenarioRun::~ScenarioRun() = default;

void ScenarioRun::start_berth() {
  const Scenario& scenario = timeline_->scenario;
  for (int i = 0; i < scenario.berths; ++i) {
    BerthOptions options{
        .settings = scenario.settings, .zones = scenario.zones, .lease = scenario.lease};
    options.keep_history = scenario.history;
    if (scenario.certificates) options.certificates_check = scenario.certificates->check;
    if (scenario.prometheus) {
      options.prometheus = &prometheus_;
      options.exporters = &exporters_;
    }
    berths_.push_back(std::make_unique<BerthProcess>(*simulation_, fmt::format("berth-{}", i),
                                                     std::move(options)));
    berths_.back()->start();
  }
}

void ScenarioRun::install_webhook() {
  const Scenario& scenario = timeline_->scenario;
  for (int i = 0; i < scenario.webhook.replicas; ++i) {
    webhooks_.push_back(std::make_unique<BerthProcess>(
        *simulation_, fmt::format("webhook-{}", i),
        BerthOptions{.role = BerthOptions::Role::kWebhook, .settings = scenario.settings}));
    webhooks_.back()->start();
  }
  using Policy = sim::WebhookRules::FailurePolicy;
  sim::WebhookRules rules{
      .failure_policy = scenario.webhook.ignored ? Policy::kIgnore : Policy::kFail,
      .timeout = scenario.webhook.timeout,
      .reinvoked = scenario.webhook.reinvoked,
      .excluded = {scenario.settings.berth_namespace, scenario.settings.agents_namespace}};
  admission_ = std::make_unique<sim::AdmissionWebhooks>(
      simulation_->server(), simulation_->loop(), simulation_->clock(), simulation_->fork_random(),
      std::move(rules));
  // The Service: round robin over running webhooks.
  admission_->hooks.ask = [this, turn = std::size_t{0}](const std::string& path,
                                                        const std::string& review,
                                                        const auto& answer) mutable {
    for (std::size_t i = 0; i < webhooks_.size(); ++i) {
      BerthProcess& replica = *webhooks_[turn++ % webhooks_.size()];
      if (replica.running()) return replica.ask(path, review, answer);
    }
    answer({});
  };
}

std::vector<BerthProcess*> ScenarioRun::processes() const {
  std::vector<BerthProcess*> all;
  for (const auto* some : {&berths_, &webhooks_})
    for (const auto& each : *some) all.push_back(each.get());
  return all;
}

const Scenario& ScenarioRun::scenario() const { return timeline_->scenario; }

void ScenarioRun::set_up() {
  const Scenario& scenario = timeline_->scenario;
  const sim::ActorClient setup(simulation_->server(), "setup");
  for (const std::string& text : scenario.objects)
    if (is_a(text, "Namespace")) create(text);
  for (const std::string& name : namespaces_of(scenario))  // existing namespaces stay as they are
    setup.create("namespaces", json{{"metadata", {{"name", name}}}});
  for (const std::string& text : scenario.objects)
    if (is_a(text, "ConfigMap")) create(text);
  bool cut = false;
  for (const ScenarioNodes& nodes : scenario.nodes)
    for (const std::string& name : node_names(nodes)) {
      sim::GpuNode node = nodes.like;
      node.name = name;
      auto config = node.labels.find(names::kMigConfig);
      cut |= config != node.labels.end() && config->second != names::kAllDisabled;
      timeline_->incidents.remember(node);
      gauges_.add_node(node);
      agents_->add_node(node);
    }
  // The kubelet admits pods with MIG instances only after the instances exist.
  if (cut) simulation_->run_for(kCutting);
  for (const std::string& text : scenario.objects)
    if (!is_a(text, "ConfigMap") && !is_a(text, "Namespace")) create(text);
  if (scenario.certificates) {
    SimulatedKeys keys(simulation_->fork_random());
    for (const std::string& text :
         webhook_objects(*scenario.certificates, scenario.settings.berth_namespace,
                         simulation_->clock().wall(), keys))
      create(text);
  }
  for (const ScenarioWorkload& workload : scenario.workloads)
    for (const std::string& text : workload_objects(workload)) create(text);
}

void ScenarioRun::create(const std::string& text) {
  const sim::ActorClient setup(simulation_->server(), "setup");
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const sim::ResourceType* type = find_object_type(text_at(object, {"kind"}));
  if (type == nullptr) return;
  const std::string name = text_at(object, {"metadata", "name"});
  if (sim::find_at(object, {"metadata", "ownerReferences"}) != nullptr)
    for (json& owner : object["metadata"]["ownerReferences"]) {
      const sim::ResourceType* owning = find_object_type(text_at(owner, {"kind"}));
      if (owning == nullptr || owner.contains("uid")) continue;
      const sim::ObjectPtr found = setup.get(
          owning->plural, text_at(object, {"metadata", "namespace"}), text_at(owner, {"name"}));
      if (found != nullptr) owner["uid"] = text_at(*found, {"metadata", "uid"});
    }
  const sim::WriteReply reply = setup.create(type->plural, std::move(object));
  if (reply.ok()) return;
  timeline_->refused.push_back(fmt::format("{} {}: {}", type->kind, name,
                                           reply.body ? text_at(*reply.body, {"message"}) : ""));
}

void ScenarioRun::schedule() {
  const std::vector<Incident>& incidents = timeline_->scenario.timeline;
  for (std::size_t i = 0; i < incidents.size(); ++i) {
    if (!incidents[i].at) {
      timeline_->waiting.push_back(i);
      continue;
    }
    ++timeline_->ahead;
    simulation_->loop().call_after(*incidents[i].at + incidents[i].after, [this, i] {
      --timeline_->ahead;
      play(timeline_->scenario.timeline[i]);
    });
  }
}

// Called within the store's put(), so it must not write.
void ScenarioRun::on_change(const sim::Change& change) {
  if (!is_news(change)) return;
  timeline_->last_news = simulation_->now();
  if (timeline_->waiting.empty() || change.key.type->plural != "nodes") return;
  const std::string& node = change.key.name;
  std::string phase = rollout_phase(*change.after, has_gpu_pods(simulation_->store(), node));
  if (std::exchange(timeline_->phases[node], phase) == phase) return;
  std::erase_if(timeline_->waiting, [&](std::size_t i) {
    const Incident& incident = timeline_->scenario.timeline[i];
    auto only = incident.args.find("node");
    if (incident.when_phase != phase || (only != incident.args.end() && only->second != node))
      return false;
    ++timeline_->ahead;
    simulation_->loop().call_after(incident.after, [this, i] {
      --timeline_->ahead;
      play(timeline_->scenario.timeline[i]);
    });
    return true;
  });
}

void ScenarioRun::play(const Incident& incident) {
  for (const Incidents::Told& line : timeline_->incidents.play(incident)) tell(line);
  timeline_->last_news = simulation_->now();
}

void ScenarioRun::tell(const Incidents::Told& line) {
  if (on_told) on_told(line);
}

bool ScenarioRun::step() {
  if (over()) return false;
  simulation_->step(timeline_->begin + timeline_->scenario.limit);
  return true;
}

void ScenarioRun::run() {
  while (step()) {
  }
}

std::chrono::nanoseconds ScenarioRun::elapsed() const {
  return simulation_->now() - timeline_->begin;
}

bool ScenarioRun::over() const {
  const Timeline& t = *timeline_;
  if (simulation_->now() >= t.begin + t.scenario.limit) return true;
  if (t.ahead == 0 && simulation_->now() >= t.last_news + t.scenario.patience) return true;
  if (t.ahead > 0 || simulation_->now() < t.last_news + kStill || t.judged == t.last_news)
    return false;
  if (unmet(simulation_->store(), t.scenario.expect).empty()) return true;
  t.judged = t.last_news;
  return false;
}

std::string ScenarioRun::unsettled() const {
  const Timeline& t = *timeline_;
  if (!t.refused.empty()) return "the cluster could not be set up: " + t.refused.front();
  if (t.ahead > 0) return fmt::format("{} of the timeline's incidents are still ahead", t.ahead);
  if (std::string text = unmet(simulation_->store(), t.scenario.expect); !text.empty()) return text;
  if (t.waiting.empty()) return "";
  const Incident& never = t.scenario.timeline[t.waiting.front()];
  return fmt::format("no node came to phase {}, so \"{}\" of the timeline never happened",
                     never.when_phase, never.verb);
}

}  // namespace berth
