// SPDX-License-Identifier: Apache-2.0
// PrometheusSource: a round of samples from the Prometheus that the GPUClusterPolicy names. Loop
// thread only.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/client/api_client.h"
#include "controller/core/cause.h"
#include "controller/io/task.h"
#include "controller/observe/prometheus_query.h"
#include "controller/observe/round.h"
#include "controller/sampling/http_get.h"

namespace berth {

class PrometheusSource {
 public:
  // The token's Secret is in berth's own namespace, and the token is sent only to `token_url`: the
  // policy's author may have no right to read the Secret.
  PrometheusSource(ApiClient& client, Connect connect, std::string berth_namespace,
                   std::string token_url)
      : client_(client),
        connect_(std::move(connect)),
        namespace_(std::move(berth_namespace)),
        token_url_(std::move(token_url)) {}

  // Fills the round, which must outlive the task. Returns what is wrong; nullopt: all queries
  // succeeded.
  Task<std::optional<Cause>> fetch(PrometheusSpec spec, SeriesMatch match, SamplingWindow window,
                                   bool with_history, Round& round, std::stop_token stop);

 private:
  Task<std::optional<Cause>> set_up(PrometheusSpec spec, ClientConfig& config,
                                    std::stop_token stop);
  Task<Result<std::string>> read_token(SecretKeyRef secret, std::stop_token stop);
  Task<void> count_foreign(Transport& transport, SeriesMatch match, Round& round,
                           std::stop_token stop);

  ApiClient& client_;
  Connect connect_;
  std::string namespace_;
  std::string token_url_;
};

}  // namespace berth
