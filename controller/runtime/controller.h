// SPDX-License-Identifier: Apache-2.0
// Controller: the shell. Informers fill the cluster's state, changes name keys, each key's plan is
// computed by the pure core and carried out. One process leads; the others keep their caches warm.
//
// Loop thread only. run() is called once; the controller must live until it has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/answers.h"
#include "controller/core/cluster_state.h"
#include "controller/core/settings.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/io/task_group.h"
#include "controller/runtime/events.h"
#include "controller/runtime/executor.h"
#include "controller/runtime/informer.h"
#include "controller/runtime/leader_election.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/reconcilers.h"
#include "controller/runtime/workqueue.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

struct ControllerOptions {
  Settings settings;
  LeaseOptions lease;
  bool leader_elect = true;
  bool dry_run = false;  // plans are logged, nothing is written, not even a lease
  std::chrono::nanoseconds sync_limit = std::chrono::minutes(2);
  std::chrono::nanoseconds drain_limit = std::chrono::seconds(20);
  std::chrono::nanoseconds reevaluate_period = std::chrono::hours(10);
  std::uint64_t seed = 0;
};

// One line of /readyz.
struct ReadinessCheck {
  std::string name;
  std::optional<std::string> problem;
};

class Controller {
 public:
  struct World {
    ApiClient& client;
    ApiClient& lease_client;  // its own identity, so that the server's log tells them apart
    Log& log;
    Metrics& metrics;
    std::function<void()> on_synced;  // may be null: give memory back, once the caches are full
  };
  Controller(World world, Reconcilers reconcilers, ControllerOptions options);

  // The process' exit code: 0 after a requested stop, 1 when the lease was lost, the caches did not
  // fill in time or the server's history went back.
  Task<int> run(std::stop_token stop);

  std::vector<ReadinessCheck> readiness() const;
  // Brings the metrics that are only true at the moment of asking up to date.
  void refresh_metrics();
  const ClusterState& cluster() const { return cluster_; }

 private:
  template <class T>
  void add_informer(std::string name, InformerScope scope, bool optional = false);
  template <class T>
  void on_change(const T* old, const T* now);
  void add_informers();
  void heed_epoch(const ConfigMap& config_map);
  std::vector<std::string> laggards() const;
  std::optional<CachedVersion> cached_version(const ObjectRef& object) const;
  void refetch(const ObjectRef& object);

  Task<bool> wait_for_sync(std::stop_token stop);
  Task<bool> lead(std::stop_token stop);
  Task<void> hold_lease();
  Task<bool> claim_epoch(std::stop_token stop);
  Task<void> shut_down(bool in_order);
  void end(std::string why, bool failed);

  void pump();
  void work_on(const std::string& key);
  Task<void> execute(std::string key, Plan plan, std::chrono::nanoseconds compute);
  void conclude(const std::string& key, const Outcome& outcome, std::size_t plan_hash,
                std::chrono::nanoseconds compute);
  void log_dry_run(const std::string& key, const Plan& plan);
  void forget_old_answers();
  std::chrono::nanoseconds time_left() const;

  World world_;
  Loop& loop_;
  const Reconcilers reconcilers_;
  const ControllerOptions options_;
  Jitter jitter_;
  ClusterState cluster_;
  Answers answers_;
  WriteBarrier barrier_;
  Events events_;
  WorkQueue queue_;
  LeaderElector elector_;
  Executor executor_;
  std::vector<std::unique_ptr<InformerBase>> informers_;
  TaskGroup work_;         // plans in execution
  std::stop_source hold_;  // ends the renewing of the lease
  std::stop_source wake_;  // what run() sleeps on: synced, or the end
  std::stop_source end_;   // the end, for whatever reason
  bool working_ = false;   // keys are accepted and worked on
  bool pump_posted_ = false;
  bool failed_ = false;
  bool holding_ = false;
  std::int64_t epoch_ = 0;
  MonotonicTime answers_swept_at_{0};
  std::map<std::string, std::size_t> last_plans_;  // hash of the steps last carried out, by key
};

}  // namespace berth
