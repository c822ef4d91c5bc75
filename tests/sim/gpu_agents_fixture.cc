// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gpu_agents_fixture.h"

namespace berth::sim {

using namespace std::chrono_literals;
using nlohmann::json;

const char kFile[] = R"(version: v1
mig-configs:
  all-disabled:
  - devices: all
    mig-enabled: false
  halves:
  - devices: all
    mig-enabled: true
    mig-devices:
      3g.40gb: 2
  halves-r1:
  - devices: all
    mig-enabled: true
    mig-devices:
      3g.40gb: 2
  mixed:
  - devices: [0, 1]
    mig-enabled: true
    mig-devices:
      3g.40gb: 1
      1g.10gb: 3
  - devices: [2, 3]
    mig-enabled: false
  impossible:
  - devices: all
    mig-enabled: true
    mig-devices:
      3g.40gb: 2
      1g.10gb: 1
)";

void GpuAgentsFixture::SetUp() {
  world_.store().observe([this](const Change& change) {
    if (!is(change.key, "nodes") || change.kind == Change::Kind::kDeleted) return;
    const std::string state =
        text_at(*change.after, {"metadata", "labels", "nvidia.com/mig.config.state"});
    if (states_.empty() || states_.back() != state) states_.push_back(state);
  });
  mount(kFile);
  agents_.add_node({.name = "n1"});
  world_.run_for(5min);
  states_.clear();
}

void GpuAgentsFixture::mount(const std::string& file) {
  json map;
  map["metadata"]["name"] = "berth-mig-parted-config";
  map["metadata"]["namespace"] = "gpu-operator";
  map["data"]["config.yaml"] = file;
  ASSERT_TRUE(person_.apply("configmaps", std::move(map), true).ok());
}

void GpuAgentsFixture::set_label(const char* key, const json& value) {
  json body;
  body["metadata"]["labels"][key] = value;
  ASSERT_TRUE(person_.merge_patch("nodes", "", "n1", std::move(body)).ok());
}

void GpuAgentsFixture::ask(const char* config) {
  json body;
  body["metadata"]["labels"]["nvidia.com/mig.config"] = config;
  body["metadata"]["labels"]["nvidia.com/mig.config.state"] = nullptr;
  ASSERT_TRUE(person_.merge_patch("nodes", "", "n1", std::move(body)).ok());
}

bool GpuAgentsFixture::run_until_state(const char* state, std::chrono::nanoseconds limit) {
  return world_.run_until([&] { return this->state() == state; }, limit);
}

void GpuAgentsFixture::roll(const char* config) {
  ask(config);
  ASSERT_TRUE(run_until_state("success"));
  world_.run_for(2min);
  states_.clear();
}

std::string GpuAgentsFixture::label(const char* key) const {
  return text_at(*person_.get("nodes", "", "n1"), {"metadata", "labels", key});
}

Counts GpuAgentsFixture::amounts(const char* field) const {
  Counts out;
  const json now = node();
  for (const auto& [key, value] : find_at(now, {"status", field})->items())
    if (key.starts_with("nvidia.com/")) out[key] = value.get<std::string>();
  return out;
}

std::string GpuAgentsFixture::agent_pod(const std::string& app) const {
  for (const ObjectPtr& pod : person_.list("pods", "gpu-operator"))
    if (text_at(*pod, {"metadata", "labels", "app"}) == app) return name_of(*pod);
  return "";
}

void GpuAgentsFixture::delete_agent_pod(const std::string& app) {
  ASSERT_TRUE(person_.remove("pods", "gpu-operator", agent_pod(app)).ok());
}

void GpuAgentsFixture::use_gpu() {
  json pod;
  pod["metadata"]["name"] = "train";
  pod["metadata"]["namespace"] = "default";
  json container;
  container["name"] = "main";
  container["image"] = "registry.example/train:1";
  container["resources"]["limits"]["nvidia.com/gpu"] = "1";
  pod["spec"]["containers"] = json::array({container});
  pod["spec"]["nodeName"] = "n1";
  ASSERT_TRUE(person_.create("pods", std::move(pod)).ok());
  ASSERT_TRUE(world_.run_until(
      [&] {
        return text_at(*person_.get("pods", "default", "train"), {"status", "phase"}) == "Running";
      },
      1min));
}

}  // namespace berth::sim
