// SPDX-License-Identifier: Apache-2.0
// GpuGauges: the metrics of each node's GPUs, as DCGM reports them, and the nodes with a running
// exporter. This state is separate from the cluster's objects.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/sim/nvidia/gpu_agents.h"
#include "controller/sim/nvidia/gpu_holders.h"

namespace berth::sim {

struct GpuGauge {
  int xid = 0;  // the last error; it stays until the exporter restarts
  int temperature = 40;
  int double_bit_errors = 0;
  bool remap_failed = false;
  bool lost = false;  // the GPU fell off the bus, and the exporter reports nothing about it
  bool operator==(const GpuGauge&) const = default;
};

struct GaugedNode {
  int made = 0;  // differs if another machine with the same name has other GPUs
  std::string product;
  std::vector<GpuGauge> gpus;
  bool told = true;  // its exporter runs
  // What another scraped pod reports about its GPUs, by index, under the exporter's labels.
  std::map<std::size_t, GpuGauge> forged;
};

class GpuGauges {
 public:
  // Adds a machine with healthy GPUs; replaces one with the same name.
  void add_node(const GpuNode& node);
  void remove_node(const std::string& name);
  // The GPU must exist.
  void change(const std::string& node, std::size_t gpu, const std::function<void(GpuGauge&)>& how);
  // From now on a user's scraped pod reports this about the node's GPU, which need not exist.
  void forge(const std::string& node, std::size_t gpu, const std::function<void(GpuGauge&)>& how);
  void stop_exporter(const std::string& node);
  void start_exporter(const std::string& node);

  // From now on the pod NAMESPACE/NAME, or every pod with label app=NAME, uses this percentage of
  // its GPUs, also pods that are created later.
  void use(const std::string& path, int percent);
  // The usage of a GPU by its holder: the usual load if nothing was set for the pod or holders are
  // unknown; 0 if no pod is known to hold it.
  int use_of(const GpuHolder* holder) const;
  // Whether any use() was set: then the exporters name the pods that hold GPUs.
  bool names_pods() const { return !uses_.empty(); }

  const std::map<std::string, GaugedNode>& nodes() const { return nodes_; }
  // Called after every change; may be empty.
  std::function<void(const std::string& node)> on_change;
  std::function<void(const std::string& path, int percent)> on_use;

 private:
  void tell(const std::string& node) const;

  std::map<std::string, GaugedNode> nodes_;
  std::map<std::string, int> uses_;
  int made_ = 0;
};

}  // namespace berth::sim
