// SPDX-License-Identifier: Apache-2.0
// Settings: what flags say and reconcilers obey. `berth controller --print-config` shows each with
// its default.
#pragma once

#include <chrono>
#include <string>

#include "apis/time.h"
#include "controller/core/writable_keys.h"

namespace berth {

// The API server gives a request up after so long (its --request-timeout): what has not taken
// effect by then never does.
constexpr Duration kRequestTimeout = std::chrono::minutes(1);

struct Settings {
  std::string berth_namespace = "berth-system";  // where the ledger and the lease live
  std::string own_pod;  // this process's, in berth_namespace; empty: it runs in none
  std::string agents_namespace = "gpu-operator";  // where NVIDIA's node agents run
  std::string mig_config_map =
      "berth-mig-parted-config";  // in agents_namespace, key config.yaml, wholly berth's
  std::string mig_manager_daemon_set = "nvidia-mig-manager";
  WritableKeys node_keys;  // that pools may set
  // What proves that a node's GPUs work before it is put back into service.
  struct Proof {
    std::string image;  // empty: nothing does
    std::string command = "nvidia-smi";
    std::string runtime_class;  // empty: the container runtime's own
  };
  Proof proof;
  // Where alone the token goes that spec.metrics.prometheus.bearerTokenSecretRef names; empty:
  // nowhere.
  std::string prometheus_token_url;
  // Whether Kueue's label names a queue of berth's: where Kueue is not installed.
  bool kueue_label = false;

  Duration settle = std::chrono::seconds(
      5);  // after the cordon, before the live check that precedes Apply: bindings in flight land
  Duration verify_for = std::chrono::seconds(30);  // how long allocatable must stand as promised
  Duration agent_config_map_delay =
      std::chrono::seconds(90);  // a `failed` for an unknown config is not believed before
  Duration answer_ttl = std::chrono::seconds(30);  // how long an answer counts
  Duration retry_backoff =
      std::chrono::seconds(30);  // after a failed attempt on one node; doubles, at most 16 times
  Duration abort_backoff =
      std::chrono::minutes(5);  // before a node whose drain timed out is tried again
  Duration eviction_retry =
      std::chrono::seconds(5);  // between evictions of a pod whose budget said no
};

}  // namespace berth
