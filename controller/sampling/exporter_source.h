// SPDX-License-Identifier: Apache-2.0
// ExporterSource: a round of samples scraped from dcgm-exporter's pods themselves, where the
// GPUClusterPolicy names no Prometheus. Loop thread only.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/cause.h"
#include "controller/io/task.h"
#include "controller/observe/round.h"
#include "controller/sampling/exporter_pods.h"
#include "controller/sampling/http_get.h"

namespace berth {

class ExporterSource {
 public:
  ExporterSource(ApiClient& client, const ClusterState& cluster, Connect connect,
                 std::string agents_namespace)
      : client_(client),
        cluster_(cluster),
        connect_(std::move(connect)),
        namespace_(std::move(agents_namespace)) {}

  // As PrometheusSource::fetch(); a few exporters at a time.
  Task<std::optional<Cause>> fetch(Round& round, std::stop_token stop);

 private:
  struct Tally;
  Task<Result<void>> look_for_exporters(std::stop_token stop);
  Task<void> scrape_each(Tally& tally, std::stop_token stop);
  Task<Result<void>> scrape(ExporterPod pod, Round& round, std::stop_token stop);

  ApiClient& client_;
  const ClusterState& cluster_;
  Connect connect_;
  std::string namespace_;
  std::vector<std::string> known_;  // uids of those whose addresses were looked for
  std::vector<ExporterPod> pods_;
};

}  // namespace berth
