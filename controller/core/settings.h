// SPDX-License-Identifier: Apache-2.0
// Settings: options from flags that reconcilers follow. `berth controller --print-config` shows
// each with its default.
#pragma once

#include <chrono>
#include <string>

#include "apis/base/time.h"
#include "controller/core/writable_keys.h"

namespace berth {

// The API server ends a request after this time (its --request-timeout). A request that has not
// taken effect by then never does.
constexpr Duration kRequestTimeout = std::chrono::minutes(1);

struct Settings {
  std::string berth_namespace = "berth-system";  // where the ledger and the lease live
  std::string own_pod;  // this process's pod, in berth_namespace; empty: it is not in a pod
  std::string agents_namespace = "gpu-operator";  // namespace of NVIDIA's node components
  std::string mig_config_map =
      "berth-mig-parted-config";  // in agents_namespace, key config.yaml; only berth writes it
  std::string mig_manager_daemon_set = "nvidia-mig-manager";
  WritableKeys node_keys;  // keys that pools may set
  // The validation Job, which checks that a node's GPUs work before the node returns to service.
  struct Proof {
    std::string image;  // empty: no validation Job
    std::string command = "nvidia-smi";
    std::string runtime_class;  // empty: the container runtime's default
  };
  Proof proof;
  // The only URL that may get the token of spec.metrics.prometheus.bearerTokenSecretRef; empty:
  // none.
  std::string prometheus_token_url;
  // Whether Kueue's label names a berth queue: true if Kueue is not installed.
  bool kueue_label = false;

  Duration settle = std::chrono::seconds(
      5);  // from the cordon to the live check before Apply: bindings in flight arrive
  Duration verify_for = std::chrono::seconds(30);  // how long allocatable must be as expected
  Duration agent_config_map_delay =
      std::chrono::seconds(90);  // earlier, `failed` for an unknown config does not count
  Duration answer_ttl = std::chrono::seconds(30);  // how long an answer is valid
  Duration retry_backoff =
      std::chrono::seconds(30);  // after a failed attempt on one node; doubles, up to 16 times this
  Duration abort_backoff =
      std::chrono::minutes(5);  // before berth retries a node whose drain timed out
  Duration eviction_retry =
      std::chrono::seconds(5);  // between evictions of a pod that a budget protects
};

}  // namespace berth
