// SPDX-License-Identifier: Apache-2.0
#include "tests/apiserver/rollout_fixture.h"

#include <iostream>
#include <set>

namespace berth::test {

const std::map<std::string, int> kMixedA100 = {
    {"nvidia.com/mig-1g.10gb", 18}, {"nvidia.com/mig-2g.20gb", 2}, {"nvidia.com/mig-3g.40gb", 2}};

void RolloutTest::SetUp() {
  PlaneTest::SetUp();
  if (IsSkipped() || HasFailure()) return;
  const auto log = read_audit_log(plane().audit_log());
  for (const AuditEvent& event : log) began_at_ = std::max(began_at_, event.answered_at);
  cluster().install_agents();
}

void RolloutTest::TearDown() {
  if (IsSkipped()) return;
  if (berth_ && HasFailure())
    std::cerr << "berth said last:\n" << berth_->process().log_tail(25) << "\n";
  stop_berth();
  EXPECT_THAT(broken_invariants(events(), invariants_), ::testing::IsEmpty());
  PlaneTest::TearDown();
}

namespace {

std::string block(const std::string& key, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "  " + key + ":\n";
  for (const std::string& line : lines) out += "    " + line + "\n";
  return out;
}

}  // namespace

std::string RolloutTest::yaml(const Layout& layout) {
  std::string out =
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: MIGLayout\nmetadata:\n  name: " + layout.name +
      "\nspec:\n  nodeSelector: " + layout.node_selector + "\n  devices:\n" + layout.devices;
  for (const std::string& line : layout.spec) out += "  " + line + "\n";
  return out + block("rollout", layout.rollout) + block("drain", layout.drain) +
         block("capacityGuard", layout.guard);
}

Berth& RolloutTest::start_berth(const std::vector<std::string>& flags) {
  return start_berth_at("", flags);
}

Berth& RolloutTest::start_berth_at(const std::string& kubeconfig,
                                   const std::vector<std::string>& flags) {
  Berth::Options options;
  options.kubeconfig = kubeconfig;
  options.flags = flags;
  berth_.reset();
  berth_ = std::make_unique<Berth>(plane(), options);
  return *berth_;
}

void RolloutTest::stop_berth() {
  if (!berth_ || !berth_->process().running()) return;
  berth_->process().stop(std::chrono::seconds(25));
}

std::string RolloutTest::detail(const std::string& node, const std::string& name) {
  for (const Object& entry : layout(name).items("/status/details"))
    if (entry.text("/node") == node)
      return entry.text("/phase") + " " + entry.text("/reason") + ": " + entry.text("/message");
  return "";
}

std::string RolloutTest::reason(const std::string& node, const std::string& name) {
  for (const Object& entry : layout(name).items("/status/details"))
    if (entry.text("/node") == node) return entry.text("/reason");
  return "";
}

std::string RolloutTest::phase(const std::string& node) {
  const std::string text = kube().get({"nodes", node}).annotation("gpu.berth.dev/mig-rollout");
  return text.empty() ? "" : Object::parse(text).text("/phase");
}

bool RolloutTest::cordoned(const std::string& node) {
  return kube().get({"nodes", node}).truth("/spec/unschedulable");
}

void RolloutTest::wait_for(const std::string& what, int seconds,
                           const std::function<std::string()>& missing) {
  wait_until(what, std::chrono::seconds(seconds), [&] {
    if (berth_ && !berth_->process().running())
      throw std::runtime_error("waiting for " + what + ", but berth has ended:\n" +
                               berth_->process().log_tail(10));
    return missing();
  });
}

void RolloutTest::wait_condition(const std::string& type, const std::string& status, int seconds,
                                 const std::string& name) {
  wait_for(name + "'s condition " + type + " to be " + status, seconds, [&]() -> std::string {
    const Object now = layout(name);
    return now.condition(type) == status ? "" : now.at("/status").dump();
  });
}

void RolloutTest::wait_ready(const std::string& name, int seconds) {
  wait_for(name + " to be Ready at its generation", seconds, [&]() -> std::string {
    const Object now = layout(name);
    const bool current =
        now.number("/status/observedGeneration") == now.number("/metadata/generation");
    return current && now.condition("Ready") == "True" ? "" : now.at("/status").dump();
  });
}

void RolloutTest::wait_reason(const std::string& node, const std::string& wanted, int seconds) {
  wait_for(node + " to be waiting with " + wanted, seconds, [&]() -> std::string {
    return reason(node) == wanted ? "" : "it says \"" + detail(node) + "\"";
  });
}

void RolloutTest::wait_phase(const std::string& node, const std::string& wanted, int seconds) {
  wait_for(node + " to be in phase " + wanted, seconds, [&]() -> std::string {
    return phase(node) == wanted ? "" : "it is \"" + phase(node) + "\"";
  });
}

std::vector<AuditEvent> RolloutTest::events() {
  return since(read_audit_log(plane().audit_log()), began_at_);
}

std::vector<std::string> RolloutTest::cordon_order() {
  std::vector<std::string> order;
  std::set<std::string> seen;
  for (const AuditEvent& event : writes())
    if (event.resource == "nodes" && event.response.truth("/spec/unschedulable") &&
        seen.insert(event.name).second)
      order.push_back(event.name);
  return order;
}

}  // namespace berth::test
