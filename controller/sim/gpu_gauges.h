// SPDX-License-Identifier: Apache-2.0
// GpuGauges: what the GPUs of each node show of themselves, as DCGM has it, and on which nodes an
// exporter tells it. A truth beside the cluster's objects, which say nothing of it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/sim/gpu_agents.h"
#include "controller/sim/gpu_holders.h"

namespace berth::sim {

struct GpuGauge {
  int xid = 0;  // the last error; it stands until the exporter starts anew
  int temperature = 40;
  int double_bit_errors = 0;
  bool remap_failed = false;
  bool lost = false;  // it fell off the bus, and nothing is told of it
  bool operator==(const GpuGauge&) const = default;
};

struct GaugedNode {
  int made = 0;  // another machine of the same name has other GPUs
  std::string product;
  std::vector<GpuGauge> gpus;
  bool told = true;  // its exporter runs
  // What another scraped pod claims of its GPUs, by index, under the exporter's labels.
  std::map<std::size_t, GpuGauge> forged;
};

class GpuGauges {
 public:
  // A machine whose GPUs are well, in place of one of the same name.
  void add_node(const GpuNode& node);
  void remove_node(const std::string& name);
  // Of a GPU that there is.
  void change(const std::string& node, std::size_t gpu, const std::function<void(GpuGauge&)>& how);
  // A scraped pod of somebody's claims that of the node's GPU from now on, whether there is one or
  // not.
  void forge(const std::string& node, std::size_t gpu, const std::function<void(GpuGauge&)>& how);
  void stop_exporter(const std::string& node);
  void start_exporter(const std::string& node);

  // How much of its GPUs each pod of that name, NAMESPACE/NAME, or each that is labelled app=NAME
  // uses from now on, in percent, those too that are yet to come.
  void use(const std::string& path, int percent);
  // At work, if nothing was said of the pod, or nobody is known to hold the GPU; nothing, once it
  // is known that nobody does.
  int use_of(const GpuHolder* holder) const;
  // Whether somebody's use was told: then the exporters know whose GPUs are.
  bool names_pods() const { return !uses_.empty(); }

  const std::map<std::string, GaugedNode>& nodes() const { return nodes_; }
  // Hear of every change, after it; may be empty.
  std::function<void(const std::string& node)> on_change;
  std::function<void(const std::string& path, int percent)> on_use;

 private:
  void tell(const std::string& node) const;

  std::map<std::string, GaugedNode> nodes_;
  std::map<std::string, int> uses_;
  int made_ = 0;
};

}  // namespace berth::sim
