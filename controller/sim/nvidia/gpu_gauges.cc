// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/gpu_gauges.h"

namespace berth::sim {
namespace {

constexpr int kAtWork = 50;  // percent

}  // namespace

void GpuGauges::tell(const std::string& node) const {
  if (on_change) on_change(node);
}

void GpuGauges::add_node(const GpuNode& node) {
  nodes_[node.name] = {.made = ++made_,
                       .product = node.product,
                       .gpus = std::vector<GpuGauge>(static_cast<std::size_t>(node.gpus))};
  tell(node.name);
}

void GpuGauges::remove_node(const std::string& name) {
  nodes_.erase(name);
  tell(name);
}

void GpuGauges::change(const std::string& node, std::size_t gpu,
                       const std::function<void(GpuGauge&)>& how) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || gpu >= found->second.gpus.size()) return;
  how(found->second.gpus[gpu]);
  tell(node);
}

void GpuGauges::forge(const std::string& node, std::size_t gpu,
                      const std::function<void(GpuGauge&)>& how) {
  if (const auto found = nodes_.find(node); found != nodes_.end()) how(found->second.forged[gpu]);
}

void GpuGauges::stop_exporter(const std::string& node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.told = false;
  tell(node);
}

void GpuGauges::start_exporter(const std::string& node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.told = true;
  for (GpuGauge& gpu : found->second.gpus) gpu.xid = 0;
  tell(node);
}

void GpuGauges::use(const std::string& path, int percent) {
  uses_[path] = percent;
  if (on_use) on_use(path, percent);
}

int GpuGauges::use_of(const GpuHolder* holder) const {
  if (holder == nullptr) return names_pods() ? 0 : kAtWork;
  for (const std::string& name : {holder->pod, holder->app})
    if (const auto said = uses_.find(holder->namespace_ + "/" + name); said != uses_.end())
      return said->second;
  return kAtWork;
}

}  // namespace berth::sim
