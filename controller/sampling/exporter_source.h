// SPDX-License-Identifier: Apache-2.0
// ExporterSource: what dcgm-exporter's pods say themselves. A whole round where the
// GPUClusterPolicy names no Prometheus, and where it does what the exporters of single nodes
// confirm. Loop thread only.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/cluster_state.h"
#include "controller/io/loop.h"
#include "controller/io/task.h"
#include "controller/observe/round.h"
#include "controller/sampling/exporter_pods.h"
#include "controller/sampling/http_get.h"

namespace berth {

class ExporterSource {
 public:
  // Why a node's exporter said nothing, by node.
  using Silences = std::map<std::string, std::string>;

  ExporterSource(Loop& loop, const ClusterState& cluster, Connect connect,
                 std::string agents_namespace)
      : loop_(loop),
        cluster_(cluster),
        connect_(std::move(connect)),
        namespace_(std::move(agents_namespace)) {}

  // As PrometheusSource::fetch(); a few exporters at a time.
  Task<std::optional<Cause>> fetch(Round& round, std::stop_token stop);
  // Of these nodes alone. Each of them is in the round or among the silences in the end.
  Task<Silences> ask(std::vector<std::string> nodes, Round& round, std::stop_token stop);

 private:
  struct Scraping;
  Task<void> scrape_all(Scraping& all, std::stop_token stop);
  Task<void> scrape_each(Scraping& all, std::stop_token stop);
  Task<Result<void>> scrape(ExporterPod pod, std::chrono::milliseconds deadline, Round& round,
                            std::stop_token stop);

  Loop& loop_;
  const ClusterState& cluster_;
  Connect connect_;
  std::string namespace_;
};

}  // namespace berth
