// SPDX-License-Identifier: Apache-2.0
// LiveCluster: caches of what berth watches in a cluster, with the user's own account. It also
// lists what is not watched: why workloads have no pods, and whether a berth controller runs.
//
// Loop thread only. It must outlive the task of run().
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

  // True once nodes and pods are complete: the page is useful without the rest.
  bool known() const;
  const ClusterState& cluster() const { return caches_.cluster(); }
  const Clues& clues() const { return clues_; }
  // Kinds that have not synced yet: "gpuqueues (…)".
  std::vector<std::string> missing() const { return caches_.laggards(); }

  Task<void> run(std::stop_token stop);

 private:
  // A user's view has no metrics.
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
