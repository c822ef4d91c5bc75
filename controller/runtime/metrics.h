// SPDX-License-Identifier: Apache-2.0
// Metrics: everything in /metrics: the names that controller dashboards already use (workqueue_*,
// rest_client_*, leader_election_*, process_*), and berth's own. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/time.h"
#include "controller/client/api_client.h"
#include "controller/core/figures.h"
#include "controller/core/keeper_facts.h"
#include "controller/runtime/informer_base.h"
#include "controller/runtime/workqueue.h"

namespace berth {

// What the operating system reports about this process (server/process_facts.h reads it).
struct ProcessFacts {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
  double start_time_seconds = 0;  // since the epoch
};

// Users of the page on the controller's port (server/page_port.h).
struct PageFacts {
  double followers = 0;      // viewers that get updates
  double unknown_total = 0;  // requests with a token that the cluster does not accept
  // Deferred requests: too many at once, or no reply from the API server.
  double busy_total = 0;
};

class Metrics : public InformerObserver, public QueueObserver {
 public:
  // Omits an empty commit.
  explicit Metrics(std::string_view version, std::string_view commit = {});
  ~Metrics() override;

  void on_state(const std::string& informer, InformerState state) override;
  void on_refresh(const std::string& informer) override;
  void on_event(const std::string& informer, InformerEvent event) override;
  void on_objects(const std::string& informer, std::size_t count) override;

  void on_depth(std::size_t depth) override;
  void on_add() override;
  void on_retry() override;
  void on_start(std::chrono::nanoseconds waited) override;
  void on_done(std::chrono::nanoseconds worked) override;
  void on_unfinished(WorkQueue::Unfinished unfinished);

  void on_call(const CallRecord& call);
  void on_leading(const std::string& lease, bool leading);
  // `kind` is the key's first part: layout, node, slots, agent-config, policy, pool.
  void on_reconcile(std::string_view kind, std::string_view result,
                    std::chrono::nanoseconds compute);
  void on_write(std::string_view verb, std::string_view result);
  // This process starts to act. Counters that only a leader raises start at zero, because otherwise
  // rate() misses their first rise.
  void begin_term(const std::vector<const Measure*>& measures);
  void observe(const Measure& measure, const Figure::Labels& labels, double value);
  void on_eviction(std::string_view result);  // of kEvictionResults (outcome.h)
  // Replaces the figures about the cluster.
  void show(Figures figures);
  // One AdmissionReview: path "mutate" or "validate", operation such as "CREATE", and the verdict.
  void on_review(std::string_view path, std::string_view operation, std::string_view verdict,
                 std::chrono::nanoseconds took);
  void on_certificate(Time not_after);
  void on_clock_skew(Duration skew);  // this machine's clock minus the API server's
  // The newest version of the API server's history in a cache; ignores one that is no number.
  void on_newest_version(std::string_view version);
  void on_process(const ProcessFacts& facts);
  void on_page(const PageFacts& facts);
  void on_keeper(const KeeperFacts& facts);
  // The API server refuses a write as outdated again and again, although the object did not change.
  void on_conflict_loop();

  std::string text() const;  // Prometheus' text format, version 0.0.4

 private:
  struct Registered;
  std::unique_ptr<Registered> registered_;
};

}  // namespace berth
