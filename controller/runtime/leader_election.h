// SPDX-License-Identifier: Apache-2.0
// LeaderElector: one coordination/v1 Lease decides which process may write. Another's lease is
// judged by when *we* saw it change, on the monotonic clock: clocks may differ, their rates do not.
//
// A lease does not fence: a leader that was frozen may wake with a write in hand. Hence
// time_left(), asked right before each write leaves, and hence the ledger's epoch
// (controller/disruption/slots.h).
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "apis/core.h"
#include "apis/result.h"
#include "controller/client/api_client.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/jitter.h"

namespace berth {

// The log's messages about a Lease.
struct LeaseWords {
  const char* acquired = "became leader";
  const char* standing_by = "standing by, another replica leads";
};

struct LeaseOptions {
  std::string namespace_;
  std::string name = "berth-controller";
  std::string identity;      // hostname_uuid: unique per process
  std::string version = {};  // of berth, for people and their commands; empty: left out
  std::chrono::milliseconds lease_duration = std::chrono::seconds(15);
  std::chrono::milliseconds renew_deadline = std::chrono::seconds(10);
  std::chrono::milliseconds retry_period = std::chrono::seconds(2);
  LeaseWords words = {};
};
// lease duration > renew deadline > 1.2 × retry period > 0; whole seconds for what the Lease holds.
Result<void> validate(const LeaseOptions& options);

class LeaderElector {
 public:
  LeaderElector(ApiClient& client, Log& log, LeaseOptions options, std::uint64_t seed);

  // True once we lead; false if stopped first.
  Task<bool> acquire(std::stop_token stop);
  // Renews until the lease is lost or stop is requested. True: stopped while we still lead.
  Task<bool> hold(std::stop_token stop);
  // Gives the lease up, so that the next leader need not wait for it to expire. After hold().
  Task<void> release();

  // How long writes may still be started without another renewal; zero when we do not lead.
  std::chrono::nanoseconds time_left() const;
  // The holder that keeps us from the lease, by the last look; empty: there is none.
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
  bool exists_ = false;           // observed_ is the server's
  MonotonicTime observed_at_{0};  // when its record last changed before our eyes
  MonotonicTime renewed_at_{0};   // when the last successful renewal was *sent*
  bool leading_ = false;
};

}  // namespace berth
