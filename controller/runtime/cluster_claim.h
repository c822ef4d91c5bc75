// SPDX-License-Identifier: Apache-2.0
// ClusterClaim: at most one berth installation acts in a cluster. The leader of an installation
// holds a second Lease in a namespace that all installations share, with its own namespace as
// holder. The installation's next leader therefore has the claim at once. Another installation
// waits until the claim has not been renewed for ten minutes, or until a user deletes that Lease.
//
// Loop thread only.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "controller/client/api_client.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/runtime/controller_options.h"
#include "controller/runtime/leader_election.h"

namespace berth {

inline constexpr char kClaimLease[] = "berth-cluster";

class ClusterClaim {
 public:
  ClusterClaim(ApiClient& client, Log& log, const ControllerOptions& options);

  // True once this installation has the claim; false if stopped first.
  Task<bool> acquire(std::stop_token stop);
  // Like LeaderElector::hold().
  Task<bool> hold(std::stop_token stop) { return elector_.hold(std::move(stop)); }
  // Why acquire() has not returned yet, and what to do.
  std::optional<std::string> problem() const;

 private:
  const std::string namespace_;
  LeaderElector elector_;
  bool waiting_ = false;
};

}  // namespace berth
