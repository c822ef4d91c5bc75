// SPDX-License-Identifier: Apache-2.0
// Prometheus: a server that has scraped dcgm-exporter on every node, with the queries that berth
// sends: the last value of a counter, by its name. It keeps no history: a query over a time range
// returns no series. Its series name the pods that hold GPUs only after a scenario has set a pod's
// usage.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/io/loop.h"
#include "controller/io/transport.h"
#include "controller/sim/nvidia/gpu_gauges.h"
#include "controller/sim/nvidia/gpu_holders.h"
#include "controller/sim/world/store.h"

namespace berth::sim {

class Prometheus {
 public:
  // Both must outlive it.
  Prometheus(const Store& store, const GpuGauges& gauges) : store_(store), gauges_(gauges) {}

  // Connects `process` to it. The loop and this object must outlive the connection.
  std::unique_ptr<Transport> connect(Loop& process);
  // The body of the answer.
  std::string answer_to(std::string_view target);

 private:
  const Store& store_;
  const GpuGauges& gauges_;
  GpuHolders holders_;
};

}  // namespace berth::sim
