// SPDX-License-Identifier: Apache-2.0
// Prometheus: a server that has scraped dcgm-exporter on every node, as far as berth asks it: the
// last value of a counter, by its name in the query. It keeps no history: a query over a range of
// time gets an answer without series. Who holds a GPU its series say once a scenario has said what
// somebody does with one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/io/loop.h"
#include "controller/io/transport.h"
#include "controller/sim/gpu_gauges.h"
#include "controller/sim/gpu_holders.h"
#include "controller/sim/store.h"

namespace berth::sim {

class Prometheus {
 public:
  // Both outlive it.
  Prometheus(const Store& store, const GpuGauges& gauges) : store_(store), gauges_(gauges) {}

  // One connection to it, of the process whose loop that is. The loop and this outlive it.
  std::unique_ptr<Transport> connect(Loop& process);
  // The body of an answer.
  std::string answer_to(std::string_view target);

 private:
  const Store& store_;
  const GpuGauges& gauges_;
  GpuHolders holders_;
};

}  // namespace berth::sim
