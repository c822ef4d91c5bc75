// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/leadership.h"

#include <algorithm>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/ledger_epoch.h"

namespace berth {

using namespace std::chrono_literals;

Leadership::Leadership(Parts parts, const ControllerOptions& options)
    : parts_(std::move(parts)),
      loop_(parts_.client.loop()),
      options_(options),
      elector_(parts_.lease_client, parts_.log, options.lease, options.seed + 1) {
  if (options.leader_elect && !options.dry_run && !options.claim_namespace.empty())
    claim_.emplace(parts_.lease_client, parts_.log, options);
}

Task<bool> Leadership::lead(std::stop_token stop) {
  if (options_.dry_run) {
    const ConfigMap* ledger = parts_.cluster.config_maps().find(options_.settings.berth_namespace,
                                                                names::kSlotsConfigMap);
    // The epoch of the present leader, not of its successor.
    epoch_ = std::max<std::int64_t>(1, ledger == nullptr ? 0 : epoch_of(*ledger));
    co_return true;
  }
  if (options_.leader_elect) {
    const bool taken = co_await take_leases(stop);
    if (!taken) co_return false;
  }
  const bool claimed = co_await claim_epoch(stop);
  co_return claimed;
}

// The installation's own lease first: its other replicas wait behind the one that waits for the
// claim.
Task<bool> Leadership::take_leases(std::stop_token stop) {
  parts_.metrics.on_leading(options_.lease.name, false);
  const bool acquired = co_await elector_.acquire(stop);
  if (!acquired) co_return false;
  parts_.metrics.on_leading(options_.lease.name, true);
  ++holding_;
  spawn(loop_, hold_lease());
  if (!claim_) co_return true;
  parts_.metrics.on_leading(kClaimLease, false);
  const bool claimed = co_await claim_->acquire(stop);
  if (!claimed) co_return false;
  parts_.metrics.on_leading(kClaimLease, true);
  ++holding_;
  spawn(loop_, hold_claim());
  co_return true;
}

Task<void> Leadership::hold_lease() {
  const bool still_leading = co_await elector_.hold(hold_.get_token());
  --holding_;
  if (still_leading) co_return;
  parts_.metrics.on_leading(options_.lease.name, false);
  parts_.on_lost("lease lost");
}

Task<void> Leadership::hold_claim() {
  const bool still_ours = co_await claim_->hold(hold_.get_token());
  --holding_;
  if (still_ours) co_return;
  parts_.metrics.on_leading(kClaimLease, false);
  parts_.on_lost("the claim to the cluster is lost");
}

Task<bool> Leadership::claim_epoch(std::stop_token stop) {
  std::chrono::nanoseconds pause = 100ms;
  while (!stop.stop_requested() && time_left() > 0ns) {
    ObjectKey key{options_.settings.berth_namespace, names::kSlotsConfigMap};
    CallOptions look(Lane::kWrite, stop, 10s);
    Result<ConfigMap> ledger = co_await parts_.client.get<ConfigMap>(std::move(key), look);
    Error error;
    if (ledger.has_value() || ledger.error().kind == ErrorKind::kNotFound) {
      const ConfigMap* admissions = parts_.cluster.config_maps().find(
          options_.settings.berth_namespace, names::kAdmissionsConfigMap);
      auto [write, epoch] =
          parts_.reconcilers.claim_epoch(ledger.has_value() ? &*ledger : nullptr,
                                         admissions == nullptr ? 0 : epoch_of(*admissions));
      Plan plan;
      const ObjectRef object = write.object;
      plan.add(object, std::move(write));
      const Outcome outcome = co_await parts_.carry_out(std::move(plan), stop);
      if (outcome.fate == Fate::kDone) {
        epoch_ = epoch;
        co_return true;
      }
      error.message = outcome.error;
    } else {
      error = ledger.error();
    }
    parts_.log.warn("epoch not claimed yet", {{"error", describe(error)}});
    co_await sleep_for(pause, stop);
    pause = std::min<std::chrono::nanoseconds>(pause * 2, 5s);
  }
  co_return false;
}

Task<void> Leadership::resign(bool release) {
  hold_.request_stop();
  while (holding_ > 0) co_await sleep_for(1ms, std::stop_token());
  if (release) co_await elector_.release();
}

std::chrono::nanoseconds Leadership::time_left() const {
  if (options_.dry_run) return 0ns;
  return options_.leader_elect ? elector_.time_left() : 1min;
}

std::optional<std::string> Leadership::heed(const ConfigMap& config_map) {
  const bool is_ledger = config_map.meta.name == names::kSlotsConfigMap ||
                         config_map.meta.name == names::kAdmissionsConfigMap;
  if (!is_ledger ||
      config_map.meta.namespace_ != std::string_view(options_.settings.berth_namespace))
    return std::nullopt;
  const std::int64_t standing = epoch_of(config_map);
  if (standing <= epoch_) return std::nullopt;
  if (options_.dry_run) {
    epoch_ = standing;
    return std::nullopt;
  }
  return "ledger " + config_map.meta.name + " carries epoch " + std::to_string(standing) +
         ", ours is " + std::to_string(epoch_);
}

}  // namespace berth
