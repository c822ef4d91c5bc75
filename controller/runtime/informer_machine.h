// SPDX-License-Identifier: Apache-2.0
// InformerMachine: how a cache of one kind is filled and kept current, as a pure state machine. The
// informer (informer.h) performs its actions and reports the results; only the machine decides.
//
//             refused: no WatchList here
//   Idle ──▶ Streaming ───────────────▶ Listing ◀──┐ next page
//               │ initial-events-end       │ last page
//               ▼                          ▼
//            Watching ◀────────────────────┘      410: back to Streaming or Listing
//               │ ▲                               anything else: resume at the same version
//               ▼ │ timer
//             Waiting        Absent: an optional kind the server does not serve
//
// The first refresh asks for the most recent state, by quorum. A later refresh accepts any state
// that is not older than the cache, which the server can answer from its own cache. If the server
// lacks that version too (410, or "too large"), the informer asks by quorum at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "apis/base/result.h"
#include "controller/io/loop.h"

namespace berth {

enum class InformerState {
  kIdle,       // not started
  kStreaming,  // WatchList: the current objects arrive on a watch, into a buffer beside the cache
  kListing,    // fetching a page of a LIST; pages collect in the same buffer
  kWatching,   // a watch from resource_version is opening or open
  kWaiting,    // between two tries
  kAbsent,     // an optional kind that is not served: synced and empty; asks again every 10 minutes
  kStopped,
};
const char* to_string(InformerState state);

// An action that the informer must do. Only one is in progress at a time, except that kReplace
// keeps its stream open as the watch.
struct InformerAction {
  enum class Kind {
    kNone,
    kStream,           // open a WatchList; the buffer starts empty
    kListFirst,        // fetch the first page; the buffer starts empty
    kListNext,         // fetch the next page, or the same one in parts of page_size
    kReplace,          // the buffer becomes the cache
    kReplaceAndWatch,  // the same, then open a watch from resource_version
    kClear,            // the cache becomes empty, then wait
    kWatch,            // open a watch from resource_version
    kWait,             // report kTimer after at most `wait` (full jitter), or after exactly `wait`
    kGiveUp,           // the server's history went back; only a restart may accept that
  };
  Kind kind = Kind::kNone;
  std::chrono::nanoseconds wait{0};
  bool exact = false;
};

struct InformerInput {
  enum class Kind {
    kStart,
    kTimer,  // the wait is over
    // the bookmark after the initial objects of a WatchList, with resource_version
    kInitialEventsEnd,
    kPage,         // a page arrived; `last` with the list's resource_version
    kListFailed,   // a page failed; error says why
    kWatchClosed,  // the server ended a healthy stream; `brief`: at once
    kWatchFailed,  // refused, broken, or ended by an ERROR event; error says why
    kOversized,    // an event above the size limit
    kOverdue,      // a WatchList without an object: an old server ignores sendInitialEvents
    kStop,
  };
  Kind kind = Kind::kStart;
  std::string resource_version;
  bool last = false;
  bool brief = false;
  Error error;
  MonotonicTime now{0};
};

struct InformerMachine {
  static constexpr std::int64_t kPageSize = 500;

  InformerState state = InformerState::kIdle;
  bool optional = false;  // set once: a 404 for the whole kind is a state, not a failure

  std::string resource_version;        // of the cache; empty before the first sync
  bool synced = false;                 // the cache has been complete once
  bool lists_only = false;             // this server has no WatchList; never reset
  bool must_refresh = false;           // no watch can start from resource_version any more
  bool by_quorum = false;              // nor a refresh: the next one asks for the most recent state
  bool list_restarted = false;         // a continue token expired in this refresh
  std::int64_t page_size = kPageSize;  // smaller after a page of this refresh was too large
  std::uint32_t failures = 0;          // in a row; decides the wait
  std::uint32_t regressions = 0;       // refreshes in a row that were older than the cache
  MonotonicTime healthy_since{0};      // start of the healthy time that resets `failures`
  MonotonicTime refreshed_at{0};       // when the cache was last complete

  InformerAction step(const InformerInput& input);
  // The least version that a refresh asks for; empty: the most recent state, by quorum.
  std::string refresh_from() const { return by_quorum ? std::string() : resource_version; }
  // A watch event or bookmark advanced the cache. Ignores an older version.
  void advance(const std::string& version);

 private:
  InformerAction refresh();
  InformerAction list_first();
  InformerAction wait(MonotonicTime now);
  InformerAction on_watch_failed(const InformerInput& input);
  InformerAction on_list_failed(const InformerInput& input);
  InformerAction on_whole(const InformerInput& input, InformerAction::Kind accepted);
  InformerAction absent();
};

// True if `version` is known to be older than `than`.
bool is_older_version(const std::string& version, const std::string& than);

}  // namespace berth
