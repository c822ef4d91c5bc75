// SPDX-License-Identifier: Apache-2.0
// LeaderElector: one coordination/v1 Lease decides which process may write. This process judges
// another's lease by when it saw the lease change, on its own monotonic clock. Clocks may differ,
// but they run at the same rate.
//
// A lease is no fence: a leader that was frozen may wake up with a write in hand. So the shell
// checks time_left() right before it sends each write, and the ledger has an epoch
// (controller/disruption/slots.h).
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "apis/base/result.h"
#include "apis/kinds/core.h"
#include "controller/client/api_client.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/jitter.h"

namespace berth {

// Log messages about a Lease.
struct LeaseWords {
  const char* acquired = "became leader";
  const char* standing_by = "standing by, another replica leads";
};

struct LeaseOptions {
  std::string namespace_;
  std::string name = "berth-controller";
  std::string identity;      // hostname_uuid: unique per process
  std::string version = {};  // berth's version, for users and `berth` commands; empty: omitted
  std::chrono::milliseconds lease_duration = std::chrono::seconds(15);
  std::chrono::milliseconds renew_deadline = std::chrono::seconds(10);
  std::chrono::milliseconds retry_period = std::chrono::seconds(2);
  LeaseWords words = {};
};
// lease duration > renew deadline > 1.2 × retry period > 0; whole seconds for fields of the Lease.
Result<void> validate(const LeaseOptions& options);

class LeaderElector {
 public:
  LeaderElector(ApiClient& client, Log& log, LeaseOptions options, std::uint64_t seed);

  // True once this process leads; false if stopped first.
  Task<bool> acquire(std::stop_token stop);
  // Renews until the lease is lost or a stop is requested. True: stopped while still leading.
  Task<bool> hold(std::stop_token stop);
  // Releases the lease, so that the next leader need not wait until it expires. Call it after
  // hold().
  Task<void> release();

  // How long this process may still start writes without another renewal; zero if it does not lead.
  std::chrono::nanoseconds time_left() const;
  // The process that holds the lease, at the last look; empty: none, or this one.
  std::string other_holder() const;

 private:
  enum class Attempt { kHeld, kHeldByOther, kFailed };
  Task<Attempt> try_once(std::stop_token stop);
  Task<Result<Lease>> write(Lease lease, bool create, std::stop_token stop);
  Task<Result<Lease>> write_released();
  void observe(Lease lease);
  bool others_lease_runs() const;
  CallOptions call_options(std::stop_token stop) const;

  ApiClient& client_;
  Loop& loop_;
  Log& log_;
  const LeaseOptions options_;
  Jitter jitter_;
  Lease observed_;                // as last read or written
  bool exists_ = false;           // observed_ exists on the server
  MonotonicTime observed_at_{0};  // when this process last saw it change
  MonotonicTime renewed_at_{0};   // when the last successful renewal was *sent*
  bool leading_ = false;
};

}  // namespace berth
