// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/leader_election.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/core/json_patch.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

// A full object for a create. As a merge patch, its resourceVersion is the precondition, and it
// keeps labels that a chart or a user set on the Lease.
std::string encode(const Lease& lease, const std::string& version) {
  std::string meta = fmt::format(R"("name":{},"namespace":{})", quote_json(lease.meta.name),
                                 quote_json(lease.meta.namespace_.view()));
  if (!lease.meta.resource_version.empty())
    meta += R"(,"resourceVersion":)" + quote_json(lease.meta.resource_version);
  if (!version.empty())
    meta += fmt::format(R"(,"annotations":{{"{}":{}}})", names::kVersionAnnotation,
                        quote_json(version));
  std::string spec = fmt::format(
      R"("holderIdentity":{},"leaseDurationSeconds":{},"leaseTransitions":{})",
      quote_json(lease.holder_identity), lease.lease_duration_seconds, lease.lease_transitions);
  if (lease.acquire_time)
    spec += R"(,"acquireTime":)" + quote_json(format_micro_time(*lease.acquire_time));
  if (lease.renew_time)
    spec += R"(,"renewTime":)" + quote_json(format_micro_time(*lease.renew_time));
  return fmt::format(
      R"({{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{{}}},"spec":{{{}}}}})",
      meta, spec);
}

bool same_record(const Lease& a, const Lease& b) {
  return a.holder_identity == b.holder_identity && a.renew_time == b.renew_time &&
         a.acquire_time == b.acquire_time && a.lease_transitions == b.lease_transitions &&
         a.lease_duration_seconds == b.lease_duration_seconds;
}

Error bad_flag(std::string flag, std::string message) {
  return invalid_spec(std::move(flag), std::move(message));
}

}  // namespace

Result<void> validate(const LeaseOptions& options) {
  if (options.lease_duration < 1s || options.lease_duration % 1s != 0ms)
    return bad_flag("--leader-elect-lease-duration",
                    "must be whole seconds, at least 1s: the Lease holds seconds");
  if (options.retry_period <= 0ms)
    return bad_flag("--leader-elect-retry-period", "must be greater than zero");
  if (options.renew_deadline >= options.lease_duration)
    return bad_flag("--leader-elect-renew-deadline",
                    "must be shorter than --leader-elect-lease-duration (" +
                        format_duration(options.lease_duration) +
                        "), so that we stop before another may start");
  if (options.renew_deadline * 10 <= options.retry_period * 12)
    return bad_flag("--leader-elect-renew-deadline",
                    "must be longer than 1.2 times --leader-elect-retry-period (" +
                        format_duration(options.retry_period) + ")");
  return {};
}

LeaderElector::LeaderElector(ApiClient& client, Log& log, LeaseOptions options, std::uint64_t seed)
    : client_(client),
      loop_(client.loop()),
      log_(log),
      options_(std::move(options)),
      jitter_(seed) {}

Task<bool> LeaderElector::acquire(std::stop_token stop) {
  std::string seen_holder;
  while (!stop.stop_requested()) {
    const Attempt attempt = co_await try_once(stop);
    if (attempt == Attempt::kHeld) {
      log_.info(options_.words.acquired, {{"identity", options_.identity},
                                          {"lease", options_.namespace_ + "/" + options_.name}});
      co_return true;
    }
    if (attempt == Attempt::kHeldByOther && observed_.holder_identity != seen_holder) {
      seen_holder = observed_.holder_identity;
      log_.info(options_.words.standing_by, {{"leader", seen_holder}});
    }
    co_await sleep_for(jitter_.between(options_.retry_period, options_.retry_period * 12 / 10),
                       stop);
  }
  co_return false;
}

Task<bool> LeaderElector::hold(std::stop_token stop) {
  while (true) {
    const bool slept = co_await sleep_for(
        std::min<std::chrono::nanoseconds>(options_.retry_period, time_left()), stop);
    if (!slept) co_return time_left().count() > 0;
    if (time_left().count() > 0) {
      const Attempt attempt = co_await try_once(stop);
      if (attempt == Attempt::kHeldByOther) {
        log_.error("lease lost to another", {{"leader", observed_.holder_identity}});
        leading_ = false;
        co_return false;
      }
      if (stop.stop_requested()) co_return time_left().count() > 0;
    }
    if (time_left().count() > 0) continue;
    leading_ = false;
    log_.error("lease lost: not renewed in time",
               {{"renew_deadline", format_duration(options_.renew_deadline)}});
    co_return false;
  }
}

Task<void> LeaderElector::release() {
  if (!leading_) co_return;
  leading_ = false;
  Result<Lease> released = co_await write_released();
  if (!released.has_value() && released.error().kind == ErrorKind::kConflict) {
    // The renewal that the end of hold() cancelled had reached the server. The server has decided
    // it by now, so one read is enough.
    ObjectKey key{options_.namespace_, options_.name};
    Result<Lease> found =
        co_await client_.get<Lease>(std::move(key), call_options(std::stop_token()));
    if (found.has_value()) {
      observe(std::move(found).value());
      if (observed_.holder_identity != options_.identity) {
        log_.info("lease already held by another replica", {{"leader", observed_.holder_identity}});
        co_return;
      }
      released = co_await write_released();
    }
  }
  if (released.has_value())
    log_.info("lease released");
  else
    log_.warn("lease not released; it expires by itself", {{"error", describe(released.error())}});
}

Task<Result<Lease>> LeaderElector::write_released() {
  Lease lease = observed_;
  lease.holder_identity.clear();
  lease.lease_duration_seconds = 1;
  lease.renew_time = loop_.wall_now();
  Result<Lease> written = co_await write(std::move(lease), false, std::stop_token());
  co_return written;
}

std::string LeaderElector::other_holder() const {
  const bool others = exists_ && observed_.holder_identity != options_.identity;
  return others && others_lease_runs() ? observed_.holder_identity : std::string();
}

std::chrono::nanoseconds LeaderElector::time_left() const {
  if (!leading_) return 0ns;
  if (seeded(SeededBug::kLeadForEver)) return options_.renew_deadline;
  const MonotonicTime end = renewed_at_ + options_.renew_deadline;
  return std::max<std::chrono::nanoseconds>(end - loop_.now(), 0ns);
}

// Reads the lease, and writes it if this process may take or renew it. While it leads, its first
// write uses the known version without a read: one round trip.
Task<LeaderElector::Attempt> LeaderElector::try_once(std::stop_token stop) {
  bool look = !leading_;
  while (true) {
    if (look) {
      ObjectKey key{options_.namespace_, options_.name};
      Result<Lease> found = co_await client_.get<Lease>(std::move(key), call_options(stop));
      if (found.has_value()) {
        observe(std::move(found).value());
      } else if (found.error().kind == ErrorKind::kNotFound) {
        exists_ = false;
        observed_ = Lease{};
      } else {
        if (!stop.stop_requested())
          log_.warn("lease cannot be read", {{"error", describe(found.error())}});
        co_return Attempt::kFailed;
      }
    }
    const bool ours = exists_ && observed_.holder_identity == options_.identity;
    if (exists_ && !ours && others_lease_runs()) co_return Attempt::kHeldByOther;

    Lease next = observed_;
    next.meta.namespace_ = options_.namespace_;
    next.meta.name = options_.name;
    next.holder_identity = options_.identity;
    next.lease_duration_seconds = static_cast<std::int32_t>(options_.lease_duration / 1s);
    next.renew_time = loop_.wall_now();
    if (!ours) {
      next.acquire_time = next.renew_time;
      if (exists_) ++next.lease_transitions;
    }
    const MonotonicTime sent_at = loop_.now();
    const bool create = !exists_;
    Result<Lease> written = co_await write(std::move(next), create, stop);
    if (written.has_value()) {
      observe(std::move(written).value());
      renewed_at_ = sent_at;
      leading_ = true;
      co_return Attempt::kHeld;
    }
    const ErrorKind kind = written.error().kind;
    const bool stale = kind == ErrorKind::kConflict || kind == ErrorKind::kAlreadyExists ||
                       kind == ErrorKind::kNotFound;
    if (!stale && !stop.stop_requested())
      log_.warn("lease cannot be written", {{"error", describe(written.error())}});
    if (!stale || look) co_return Attempt::kFailed;
    look = true;  // the known version was outdated: read, and try again
  }
}

Task<Result<Lease>> LeaderElector::write(Lease lease, bool create, std::stop_token stop) {
  WriteOptions options{.field_manager = "berth-leader-election"};
  ObjectKey key = key_of(lease.meta);
  std::string body = encode(lease, options_.version);
  ApiRequest request = create
                           ? create_request(kKind<Lease>, key.namespace_, std::move(body), options)
                           : merge_patch_request(kKind<Lease>, key, std::move(body), options);
  Result<Reply> reply = co_await client_.send(std::move(request), call_options(std::move(stop)));
  if (!reply.has_value()) co_return std::move(reply).error();
  co_return decode_object<Lease>(reply->body);
}

void LeaderElector::observe(Lease lease) {
  if (!exists_ || !same_record(lease, observed_)) observed_at_ = loop_.now();
  exists_ = true;
  observed_ = std::move(lease);
}

// Uses the holder's own duration, from when this process saw the change. A holder with longer times
// keeps them.
bool LeaderElector::others_lease_runs() const {
  if (observed_.holder_identity.empty()) return false;
  return loop_.now() < observed_at_ + std::chrono::seconds(observed_.lease_duration_seconds);
}

// A hung request must leave time for another before the deadline.
CallOptions LeaderElector::call_options(std::stop_token stop) const {
  std::chrono::milliseconds within = options_.renew_deadline / 2;
  if (leading_)
    within = std::max(
        std::min(within, std::chrono::duration_cast<std::chrono::milliseconds>(time_left())), 1ms);
  return CallOptions(Lane::kLease, std::move(stop), within);
}

}  // namespace berth
