// SPDX-License-Identifier: Apache-2.0
// LiveCluster: what berth watches of a cluster, with the account of whoever looks, and beside it
// what only lists tell: why workloads have no pods, and whether a controller of berth's runs.
//
// Loop thread only. It outlives the task that run() returns.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/settings.h"
#include "controller/dump/clues.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/caches.h"

namespace berth {

class LiveCluster {
 public:
  LiveCluster(ApiClient& client, Log& log, const Settings& settings,
              std::function<void()> on_change);

  // Nodes and pods are all there: without the rest there is still something to be shown.
  bool known() const;
  const ClusterState& cluster() const { return caches_.cluster(); }
  const Clues& clues() const { return clues_; }
  // What has not been read so far: "gpuqueues (…)".
  std::vector<std::string> missing() const { return caches_.laggards(); }

  Task<void> run(std::stop_token stop);

 private:
  // Nobody counts what a person's view does.
  class Unobserved : public InformerObserver {
    void on_state(const std::string&, InformerState) override {}
    void on_refresh(const std::string&) override {}
    void on_event(const std::string&, InformerEvent) override {}
    void on_objects(const std::string&, std::size_t) override {}
  };
  void add_informers();
  template <class T>
  void add(std::string name, InformerScope scope);
  Task<void> read_clues(std::stop_token stop);

  ApiClient& client_;
  const Settings settings_;
  const std::function<void()> on_change_;
  Unobserved unobserved_;
  Caches caches_;
  Clues clues_;
  std::stop_source end_;
};

}  // namespace berth
