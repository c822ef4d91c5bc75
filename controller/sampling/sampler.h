// SPDX-License-Identifier: Apache-2.0
// Sampler: while this process is the leader, it measures the GPUs once in each interval of the
// GPUClusterPolicy, and stores the results in the Samples that snapshots show.
//
// Loop thread only. Its parts, and the Samples, must outlive the task that run() returns.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "controller/client/api_client.h"
#include "controller/core/cluster_state.h"
#include "controller/core/samples.h"
#include "controller/core/settings.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/observe/fold.h"
#include "controller/sampling/exporter_source.h"
#include "controller/sampling/http_get.h"
#include "controller/sampling/prometheus_source.h"

namespace berth {

class Sampler {
 public:
  struct Parts {
    ApiClient& client;
    Log& log;
    const ClusterState& cluster;
    Samples& samples;
    Connect connect;
    std::function<bool()> acts;      // false: not the leader, which measures nothing
    std::function<void()> on_round;  // the samples have changed
  };
  Sampler(Parts parts, const Settings& settings);

  Task<void> run(std::stop_token stop);

 private:
  Task<void> measure(GPUClusterPolicySpec spec, std::stop_token stop);
  Task<void> ask_exporters(GPUClusterPolicySpec spec, FoldRules rules, Samples& samples,
                           std::stop_token stop);
  void log_trouble();

  Parts parts_;
  Loop& loop_;
  const std::string agents_namespace_;
  PrometheusSource prometheus_;
  ExporterSource exporters_;
  std::string logged_;  // the last trouble in the log
};

}  // namespace berth
