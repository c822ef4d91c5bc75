// SPDX-License-Identifier: Apache-2.0
// ExporterSource: scrapes dcgm-exporter's pods. If the GPUClusterPolicy names no Prometheus, it
// measures a whole round. Otherwise it scrapes single nodes to confirm what Prometheus reports.
// Loop thread only.
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
  // Why there is no answer from a node's exporter, by node.
  using Silences = std::map<std::string, std::string>;

  ExporterSource(Loop& loop, const ClusterState& cluster, Connect connect,
                 std::string agents_namespace)
      : loop_(loop),
        cluster_(cluster),
        connect_(std::move(connect)),
        namespace_(std::move(agents_namespace)) {}

  // As PrometheusSource::fetch(); scrapes a few exporters at a time.
  Task<std::optional<Cause>> fetch(Round& round, std::stop_token stop);
  // Scrapes only these nodes. In the end, each of them is in the round or in the silences.
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
