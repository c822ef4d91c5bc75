// SPDX-License-Identifier: Apache-2.0
// Prometheus: a server that has scraped dcgm-exporter on every node, as far as berth asks it: the
// last value of a counter, by its name in the query. It keeps no history: a query over a range of
// time gets an answer without series.
#pragma once

#include <memory>

#include "controller/io/loop.h"
#include "controller/io/transport.h"
#include "controller/sim/gpu_gauges.h"

namespace berth::sim {

// One connection to it, of the process whose loop that is. Both outlive it.
std::unique_ptr<Transport> connect_to_prometheus(Loop& process, const GpuGauges& gauges);

}  // namespace berth::sim
