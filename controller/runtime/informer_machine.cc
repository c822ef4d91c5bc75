// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/informer_machine.h"

#include <algorithm>
#include <utility>

#include "apis/kinds/meta.h"
#include "controller/client/reply.h"
#include "controller/client/transport_error.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

using Action = InformerAction::Kind;
using Input = InformerInput::Kind;
using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kFirstWait = 800ms;
constexpr std::chrono::nanoseconds kLongestWait = 30s;
constexpr std::chrono::nanoseconds kHealthyAfter = 120s;
constexpr std::chrono::nanoseconds kRefreshPause = 10s;
constexpr std::chrono::nanoseconds kAbsentRetry = 10min;
// Quorum reads go back only if etcd was restored from a backup. A few tries exclude a proxy in
// front of two clusters. Then a restart is right, because it starts with a new lease and a new
// epoch.
constexpr std::uint32_t kMaxRegressions = 3;
constexpr std::int64_t kSmallerPage = 5;

InformerAction act(Action kind) { return {.kind = kind}; }

bool version_is_useless(const Error& error) {
  return error.kind == ErrorKind::kGone || is_version_too_large(error);
}

}  // namespace

const char* to_string(InformerState state) {
  switch (state) {
    case InformerState::kIdle:
      return "idle";
    case InformerState::kStreaming:
      return "streaming";
    case InformerState::kListing:
      return "listing";
    case InformerState::kWatching:
      return "watching";
    case InformerState::kWaiting:
      return "waiting";
    case InformerState::kAbsent:
      return "absent";
    case InformerState::kStopped:
      return "stopped";
  }
  return "?";
}

bool is_older_version(const std::string& version, const std::string& than) {
  const auto order = compare_resource_versions(version, than);
  return order.has_value() && *order < 0;
}

void InformerMachine::advance(const std::string& version) {
  if (!version.empty() && !is_older_version(version, resource_version)) resource_version = version;
}

InformerAction InformerMachine::step(const InformerInput& input) {
  if (state == InformerState::kStopped) return act(Action::kNone);
  switch (input.kind) {
    case Input::kStop:
      state = InformerState::kStopped;
      return act(Action::kNone);
    case Input::kStart:
      return state == InformerState::kIdle ? refresh() : act(Action::kNone);
    case Input::kTimer:
      if (state == InformerState::kAbsent) return refresh();
      if (state != InformerState::kWaiting) return act(Action::kNone);
      if (must_refresh || resource_version.empty()) return refresh();
      state = InformerState::kWatching;
      return act(Action::kWatch);
    case Input::kInitialEventsEnd:
      if (state != InformerState::kStreaming) return act(Action::kNone);
      return on_whole(input, Action::kReplace);
    case Input::kPage:
      if (state != InformerState::kListing) return act(Action::kNone);
      if (!input.last) return act(Action::kListNext);
      return on_whole(input, Action::kReplaceAndWatch);
    case Input::kListFailed:
      return state == InformerState::kListing ? on_list_failed(input) : act(Action::kNone);
    case Input::kOverdue:
      if (state != InformerState::kStreaming) return act(Action::kNone);
      // Only this time: a server that hangs is silent too, and may support WatchList later.
      return list_first();
    case Input::kWatchClosed:
      if (state == InformerState::kStreaming) return wait(input.now);
      if (state != InformerState::kWatching) return act(Action::kNone);
      if (input.brief) return wait(input.now);
      if (input.now - healthy_since >= kHealthyAfter) failures = 0;
      return act(Action::kWatch);
    case Input::kWatchFailed:
      return on_watch_failed(input);
    case Input::kOversized:
      // A watch from here would send the same event again; a LIST allows larger bodies.
      if (state != InformerState::kStreaming && state != InformerState::kWatching) break;
      lists_only = true;
      must_refresh = true;
      by_quorum = true;  // the server's cache may be older than that event
      return wait(input.now);
  }
  return act(Action::kNone);
}

InformerAction InformerMachine::refresh() {
  if (lists_only) return list_first();
  state = InformerState::kStreaming;
  return act(Action::kStream);
}

InformerAction InformerMachine::list_first() {
  list_restarted = false;
  page_size = kPageSize;
  state = InformerState::kListing;
  return act(Action::kListFirst);
}

InformerAction InformerMachine::wait(MonotonicTime now) {
  if (state == InformerState::kWatching && now - healthy_since >= kHealthyAfter) failures = 0;
  const std::uint32_t doublings = std::min<std::uint32_t>(failures, 10);
  ++failures;
  healthy_since = now;
  state = InformerState::kWaiting;
  return {.kind = Action::kWait, .wait = std::min(kFirstWait * (1 << doublings), kLongestWait)};
}

// The server has sent all objects, as of input.resource_version.
InformerAction InformerMachine::on_whole(const InformerInput& input, Action accepted) {
  if (is_older_version(input.resource_version, resource_version)) {
    if (++regressions >= kMaxRegressions) {
      state = InformerState::kStopped;
      return act(Action::kGiveUp);
    }
    must_refresh = true;
    by_quorum = true;
    return wait(input.now);
  }
  regressions = 0;
  must_refresh = false;
  by_quorum = false;
  synced = true;
  resource_version = input.resource_version;
  healthy_since = input.now;
  refreshed_at = input.now;
  state = InformerState::kWatching;
  return act(accepted);
}

InformerAction InformerMachine::on_watch_failed(const InformerInput& input) {
  const ErrorKind kind = input.error.kind;
  if (state == InformerState::kStreaming) {
    // 400 and 422 mean that the server, or a proxy before it, lacks WatchList.
    if (kind == ErrorKind::kBadRequest || kind == ErrorKind::kInvalid) {
      lists_only = true;
      return refresh();
    }
    if (kind == ErrorKind::kNotFound && optional) return absent();
    if (version_is_useless(input.error) && !std::exchange(by_quorum, true)) return refresh();
    return wait(input.now);
  }
  if (state != InformerState::kWatching) return act(Action::kNone);
  if (kind == ErrorKind::kNotFound) {  // the CRD was deleted during the watch
    must_refresh = true;
    return optional ? absent() : wait(input.now);
  }
  if (version_is_useless(input.error) && !seeded(SeededBug::kIgnoreGone)) {
    // Refreshes at once, unless the last refresh was very recent: then it waits as for any other
    // error. Failed connections before, for example from a server restart, do not cause a wait
    // here.
    must_refresh = true;
    by_quorum = is_version_too_large(input.error);
    const bool just_refreshed = input.now - refreshed_at < kRefreshPause;
    if (failures == 0 || !just_refreshed) {
      ++failures;
      return refresh();
    }
    return wait(input.now);
  }
  return wait(input.now);
}

InformerAction InformerMachine::on_list_failed(const InformerInput& input) {
  // Objects of a megabyte each: fetches the same page again, in parts.
  if (is_too_large(input.error) && page_size > 1) {
    page_size = std::max<std::int64_t>(page_size / kSmallerPage, 1);
    return act(Action::kListNext);
  }
  if (input.error.kind == ErrorKind::kGone && !std::exchange(list_restarted, true)) {
    by_quorum = true;
    return act(Action::kListFirst);
  }
  if (is_version_too_large(input.error) && !std::exchange(by_quorum, true))
    return act(Action::kListFirst);
  if (input.error.kind == ErrorKind::kNotFound && optional) return absent();
  return wait(input.now);
}

InformerAction InformerMachine::absent() {
  state = InformerState::kAbsent;
  synced = true;
  must_refresh = true;
  resource_version.clear();
  failures = 0;
  return {.kind = Action::kClear, .wait = kAbsentRetry, .exact = true};
}

}  // namespace berth
