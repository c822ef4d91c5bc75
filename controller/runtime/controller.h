// SPDX-License-Identifier: Apache-2.0
// Controller: the shell. Informers fill the cluster's state, and changes add keys to the work
// queue. The pure core computes each key's plan, and the executor carries it out. One process
// leads; the others keep their caches current.
//
// Loop thread only. run() is called once; the controller must live until it has returned.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/cluster_state.h"
#include "controller/core/reconcilers.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/caches.h"
#include "controller/runtime/controller_options.h"
#include "controller/runtime/events.h"
#include "controller/runtime/history.h"
#include "controller/runtime/jitter.h"
#include "controller/runtime/leadership.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/worker.h"

namespace berth {

class Controller {
 public:
  struct World {
    ApiClient& client;
    ApiClient& lease_client;  // a separate user agent, so that the server's log distinguishes them
    Log& log;
    Metrics& metrics;
    std::function<void()> on_synced;       // may be null: frees memory once the caches are full
    const Samples& samples = kNoSamples;   // owned by the caller, who calls due() when they change
    std::function<void()> on_change = {};  // may be null: an object changed, also in standbys
  };
  Controller(World world, Reconcilers reconcilers, ControllerOptions options);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Returns the process's exit code: 0 after a requested stop; 1 if the lease was lost, the caches
  // did not sync in time, or the server's history went back.
  Task<int> run(std::stop_token stop);

  std::vector<ReadinessCheck> readiness() const;
  // Whether this process leads and has not started to shut down.
  bool working() const { return worker_.working(); }
  // Reconciles the key because of a change outside the cluster's objects.
  void due(const std::string& key) { worker_.add(key); }
  // Updates the metrics that are computed at each scrape.
  void refresh_metrics();
  const ClusterState& cluster() const { return caches_.cluster(); }

 private:
  Task<bool> wait_for_sync(std::stop_token stop);
  Task<void> shut_down(bool in_order);
  void end(std::string why, bool failed);
  void tell(std::string what, std::string why);

  void add_informers();
  template <class T>
  void add_informer(std::string name, InformerScope scope);
  template <class T>
  void on_change(const T* old, const T* now);

  World world_;
  Loop& loop_;
  ServerClock clock_;
  const Reconcilers reconcilers_;
  const ControllerOptions options_;
  Jitter jitter_;
  Caches caches_;
  Events events_;
  Leadership leadership_;
  History history_;
  Worker worker_;
  std::stop_source wake_;                    // ends the sleep in run(): synced, or the end
  std::stop_source end_;                     // the end, for any reason
  std::optional<MonotonicTime> figured_at_;  // when the figures were last computed
  bool failed_ = false;
};

}  // namespace berth
