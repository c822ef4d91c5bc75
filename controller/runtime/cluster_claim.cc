// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/cluster_claim.h"

#include <fmt/format.h>

#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;

// Long enough for a restart, an upgrade and an outage of the API server. An administrator need not
// wait for it (docs/move-namespace.md).
constexpr std::chrono::milliseconds kClaimLasts = 10min;
constexpr std::chrono::milliseconds kRenewWithin = 1min;
constexpr std::chrono::milliseconds kRenewEvery = 10s;

// The holder is the installation, not the process.
LeaseOptions claim_lease(const ControllerOptions& options) {
  return {.namespace_ = options.claim_namespace,
          .name = kClaimLease,
          .identity = options.settings.berth_namespace + "/" + options.lease.name,
          .lease_duration = kClaimLasts,
          .renew_deadline = kRenewWithin,
          .retry_period = kRenewEvery,
          .words = {.acquired = "this installation has the cluster",
                    .standing_by = "standing by, another installation has the cluster"}};
}

}  // namespace

ClusterClaim::ClusterClaim(ApiClient& client, Log& log, const ControllerOptions& options)
    : namespace_(options.claim_namespace),
      elector_(client, log, claim_lease(options), options.seed + 2) {}

Task<bool> ClusterClaim::acquire(std::stop_token stop) {
  waiting_ = true;
  const bool acquired = co_await elector_.acquire(std::move(stop));
  waiting_ = false;
  co_return acquired;
}

std::optional<std::string> ClusterClaim::problem() const {
  if (!waiting_) return std::nullopt;
  const std::string holder = elector_.other_holder();
  if (holder.empty())
    return fmt::format("Lease {}/{} is not taken yet; the log says why", namespace_, kClaimLease);
  return fmt::format(
      "the berth in namespace {} has this cluster (Lease {}/{}): uninstall one of the two, or see "
      "docs/move-namespace.md",
      holder.substr(0, holder.find('/')), namespace_, kClaimLease);
}

}  // namespace berth
