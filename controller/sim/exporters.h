// SPDX-License-Identifier: Apache-2.0
// Exporters: dcgm-exporter's pods as they are scraped, each at the address of its pod: what the
// GPUs of its node show, and who holds them. One that does not run takes no connection.
#pragma once

#include <memory>
#include <string>

#include "controller/io/loop.h"
#include "controller/io/transport.h"
#include "controller/sim/gpu_gauges.h"
#include "controller/sim/gpu_holders.h"
#include "controller/sim/store.h"

namespace berth::sim {

class Exporters {
 public:
  // Both outlive it.
  Exporters(const Store& store, const GpuGauges& gauges) : store_(store), gauges_(gauges) {}

  // One connection to the server "http://10.93.20.7:9400", of the process whose loop that is. Null:
  // that is no exporter's address. The loop and this outlive it.
  std::unique_ptr<Transport> connect(Loop& process, const std::string& server);
  // What the exporter of the node serves; empty: it does not run.
  std::string exposition(const std::string& node);

 private:
  const Store& store_;
  const GpuGauges& gauges_;
  GpuHolders holders_;
};

}  // namespace berth::sim
