// SPDX-License-Identifier: Apache-2.0
// Exporters: scrapes of dcgm-exporter's pods, each at its pod's address: the gauges of its node's
// GPUs, and which pods hold them. A pod that does not run accepts no connection.
#pragma once

#include <memory>
#include <string>

#include "controller/io/loop.h"
#include "controller/io/transport.h"
#include "controller/sim/nvidia/gpu_gauges.h"
#include "controller/sim/nvidia/gpu_holders.h"
#include "controller/sim/world/store.h"

namespace berth::sim {

class Exporters {
 public:
  // Both must outlive it.
  Exporters(const Store& store, const GpuGauges& gauges) : store_(store), gauges_(gauges) {}

  // Connects `process` to the server "http://10.93.20.7:9400". Null if that is no exporter's
  // address. The loop and this object must outlive the connection.
  std::unique_ptr<Transport> connect(Loop& process, const std::string& server);
  // The metrics of the node's exporter; empty: it does not run.
  std::string exposition(const std::string& node);

 private:
  const Store& store_;
  const GpuGauges& gauges_;
  GpuHolders holders_;
};

}  // namespace berth::sim
