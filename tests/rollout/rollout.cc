// SPDX-License-Identifier: Apache-2.0
#include "tests/rollout/rollout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "apis/codec/decode.h"
#include "controller/admission/reconcile_bypass.h"
#include "controller/core/refused_write.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/policy/policy_reasons.h"
#include "controller/sim/world/object_state.h"

namespace berth::test {
namespace {

Scenario parse(const std::string& yaml) {
  Result<Scenario> scenario = parse_scenario(yaml, "test.yaml");
  if (!scenario) throw std::runtime_error(describe(scenario.error()) + "\n" + yaml);
  return *std::move(scenario);
}

sim::ObjectPtr find(const sim::Store& store, const std::string& plural, const std::string& name,
                    const std::string& namespace_ = "") {
  return store.find({sim::find_resource_type(plural), namespace_, name});
}

// What it stands for in berth; an empty one where there is no such object.
template <class T>
T slice_of(const sim::ObjectPtr& object) {
  if (object == nullptr) return T();
  std::string text = sim::to_text(*object);
  Result<T> slice = decode_object<T>(text);
  EXPECT_TRUE(slice.has_value()) << describe(slice.error());
  return slice ? *std::move(slice) : T();
}

// The value of " KEY=" in a log line, up to the next key.
std::string field(const std::string& line, const std::string& key, const std::string& next) {
  const std::size_t begin = line.find(" " + key + "=");
  if (begin == line.npos) return "";
  const std::size_t from = begin + key.size() + 2;
  return line.substr(from, line.find(" " + next + "=", from) - from);
}

// docs/reasons.md tells of every event.
void expect_known(const nlohmann::json& event) {
  const std::string kind = sim::text_at(event, {"regarding", "kind"});
  const std::string reason = sim::text_at(event, {"reason"});
  if (reason == reasons::kWriteRefused || reason == reasons::kSlippedPastAdmission) return;
  bool known = false;
  for (const auto& rows : {rollout_event_reasons(), policy_event_reasons()})
    known |= std::ranges::any_of(
        rows, [&](const EventReason& row) { return row.kind == kind && row.reason == reason; });
  EXPECT_TRUE(known) << kind << " " << reason;
}

}  // namespace

Rollout::Rollout(const std::string& cluster)
    : run_(std::make_unique<ScenarioRun>(parse(cluster), 1)) {
  invariants_ = std::make_unique<explore::Invariants>(
      run_->simulation().clock(), run_->scenario().settings, explore::Invariants::Bounds());
  sim::Store& store = run_->simulation().store();
  for (const sim::ResourceType& type : sim::resource_types())
    for (const sim::ObjectPtr& object : store.list(type)) {
      sim::Change standing{.kind = sim::Change::Kind::kAdded,
                           .key = sim::key_of(type.plural, *object),
                           .revision = store.revision(),
                           .before = nullptr,
                           .after = object,
                           .user = "before"};
      invariants_->take(standing);
    }
  store.observe([this](const sim::Change& change) {
    invariants_->take(change);
    if (change.key.type == sim::find_resource_type("events") && change.after != nullptr)
      expect_known(*change.after);
  });
  for (const auto& berth : run_->berths()) watch(*berth);
  run_->on_told = [](const Incidents::Told& told) { EXPECT_TRUE(told.done) << told.text; };
}

void Rollout::watch(BerthProcess& berth) {
  berth.faults.on_request = [this, &berth](const HttpRequest& request) {
    invariants_->take_request(berth.name(), request);
    return sim::ExchangeFault();
  };
  berth.on_log = [this](LogLevel, const std::string& line) { hear_log(line); };
}

void Rollout::hear_log(const std::string& line) {
  if (!line.starts_with("write ")) return;
  writes_.push_back(fmt::format("{} {}: {} [{}]", field(line, "verb", "object"),
                                field(line, "object", "reason"), field(line, "reason", "result"),
                                field(line, "result", "took_ms")));
}

// --- what happens ---

void Rollout::act(const std::string& incident) {
  std::string nodes;  // those that the incident may be about
  for (const sim::ObjectPtr& node :
       run_->simulation().store().list(*sim::find_resource_type("nodes")))
    nodes += fmt::format("- {{name: {}}}\n", sim::name_of(*node));
  run_->play(
      parse("nodes:\n" + nodes + "timeline:\n- {at: 0s, " + incident + "}\n").timeline.at(0));
}

void Rollout::apply_layout(const std::string& name, const std::string& more,
                           const std::string& profiles) {
  act(
      fmt::format("apply: {{apiVersion: gpu.berth.dev/v1alpha1, kind: MIGLayout, metadata: "
                  "{{name: {}}}, spec: {{nodeSelector: {{matchLabels: {{tier: mig}}}}, devices: "
                  "[{{profiles: {{{}}}}}]{}{}}}}}",
                  name, profiles, more.empty() ? "" : ", ", more));
}

void Rollout::edit_layout(const std::string& name, const std::string& spec) {
  act(fmt::format("edit: miglayout/{}, patch: {{spec: {{{}}}}}", name, spec));
}

void Rollout::annotate(const std::string& node, const std::string& key, const std::string& value) {
  act(fmt::format("annotate: {}, set: {{{}: {}}}", node, key, value));
}

void Rollout::label(const std::string& node, const std::string& key, const std::string& value) {
  act(fmt::format("label: {}, set: {{{}: {}}}", node, key, value));
}

bool Rollout::step(MonotonicTime end) {
  const bool happened = run_->simulation().step(end);
  for (; breaches_ < invariants_->broken().size(); ++breaches_)
    ADD_FAILURE() << invariants_->broken()[breaches_];
  return happened;
}

void Rollout::run_for(Span span) {
  const MonotonicTime end = run_->simulation().now() + span;
  while (step(end)) {
  }
}

bool Rollout::run_until(const std::function<bool()>& done, Span limit) {
  const MonotonicTime end = run_->simulation().now() + limit;
  std::int64_t looked_at = 0;
  while (true) {
    const std::int64_t revision = run_->simulation().store().revision();
    if (std::exchange(looked_at, revision) != revision && done()) return true;
    if (!step(end)) return done();
  }
}

bool Rollout::run_until_ready(const std::string& layout) {
  return run_until([&] { return is_ready(layout); });
}

bool Rollout::run_until_phase(const std::string& node, const std::string& wanted) {
  return run_until([&] { return phase(node) == wanted; });
}

// --- what stands ---

Node Rollout::node(const std::string& name) const {
  return slice_of<Node>(find(run_->simulation().store(), "nodes", name));
}

std::string Rollout::label_of(const std::string& node, const std::string& key) const {
  const sim::ObjectPtr object = find(run_->simulation().store(), "nodes", node);
  return object ? sim::text_at(*object, {"metadata", "labels", key.c_str()}) : "";
}

std::string Rollout::phase(const std::string& name) const {
  const RolloutRecord record = read_rollout(node(name));
  return record.rollout ? to_string(record.rollout->phase) : record.text ? "?" : "";
}

std::int64_t Rollout::offered(const std::string& name, const std::string& resource) const {
  return node(name).allocatable.get("nvidia.com/" + resource).as_whole().value_or(-1);
}

std::vector<std::string> Rollout::pods_on(const std::string& node) const {
  return invariants_->truth().tenants_on(node);
}

bool Rollout::exists(const std::string& plural, const std::string& name,
                     const std::string& namespace_) const {
  return find(run_->simulation().store(), plural, name, namespace_) != nullptr;
}

MIGLayout Rollout::layout(const std::string& name) const {
  return slice_of<MIGLayout>(find(run_->simulation().store(), "miglayouts", name));
}

bool Rollout::is_ready(const std::string& name) const {
  const MIGLayout object = layout(name);
  return std::ranges::any_of(object.status.conditions, [&](const Condition& condition) {
    return condition.type == "Ready" && condition.status == "True" &&
           condition.observed_generation == object.meta.generation;
  });
}

std::string Rollout::details(const std::string& name) const {
  std::string text;
  for (const NodeDetail& detail : layout(name).status.details)
    text += fmt::format("{} {} {}\n", detail.node, detail.phase, detail.reason);
  return text;
}

std::string Rollout::detail(const std::string& name, const std::string& node) const {
  for (const NodeDetail& detail : layout(name).status.details)
    if (detail.node == node)
      return fmt::format("{} {}: {}", detail.phase, detail.reason, detail.message);
  return "";
}

std::string Rollout::condition(const std::string& name, const std::string& type) const {
  for (const Condition& condition : layout(name).status.conditions)
    if (condition.type == type) return fmt::format("{}: {}", condition.reason, condition.message);
  return "";
}

std::string Rollout::counts(const std::string& name) const {
  const NodeCounts c = layout(name).status.nodes;
  return fmt::format("selected {} updated {} inProgress {} blocked {} failed {} pending {}",
                     c.selected, c.updated, c.in_progress, c.blocked, c.failed, c.pending);
}

std::string Rollout::ledger() const {
  const sim::ObjectPtr map = find(run_->simulation().store(), "configmaps", names::kSlotsConfigMap,
                                  run_->scenario().settings.berth_namespace);
  if (map == nullptr) return "missing";
  std::vector<std::string> nodes;
  if (const nlohmann::json* data = sim::find_at(*map, {"data"}))
    for (const auto& [node, slot] : data->items()) nodes.push_back(node);
  return fmt::format("{}", fmt::join(nodes, " "));
}

std::vector<std::string> Rollout::events() const {
  std::vector<std::string> lines;
  for (const sim::ObjectPtr& event :
       run_->simulation().store().list(*sim::find_resource_type("events")))
    lines.push_back(fmt::format("{}/{} {}", sim::text_at(*event, {"regarding", "kind"}),
                                sim::text_at(*event, {"regarding", "name"}),
                                sim::text_at(*event, {"reason"})));
  return lines;
}

std::vector<std::string> Rollout::told(const std::string& object) const {
  std::vector<std::pair<std::string, std::string>> lines;  // by time
  for (const sim::ObjectPtr& event :
       run_->simulation().store().list(*sim::find_resource_type("events")))
    if (object == sim::text_at(*event, {"regarding", "kind"}) + "/" +
                      sim::text_at(*event, {"regarding", "name"}))
      lines.emplace_back(sim::text_at(*event, {"eventTime"}) + sim::name_of(*event),
                         sim::text_at(*event, {"reason"}) + " " + sim::text_at(*event, {"note"}));
  std::ranges::sort(lines);
  std::vector<std::string> told;
  for (auto& [time, line] : lines) told.push_back(std::move(line));
  return told;
}

int Rollout::count_writes(const std::string& part) const {
  return static_cast<int>(std::ranges::count_if(
      writes_, [&](const std::string& write) { return write.find(part) != write.npos; }));
}

std::string on_node(const std::string& node, const std::string& workload, int gpus,
                    const std::string& more) {
  return fmt::format("{{name: {}, count: {}, nodeSelector: {{kubernetes.io/hostname: {}}}{}{}}}",
                     workload, gpus, node, more.empty() ? "" : ", ", more);
}

}  // namespace berth::test
