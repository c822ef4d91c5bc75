// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/informer_machine.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "controller/client/transport_error.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using State = InformerState;
using Act = InformerAction::Kind;
using In = InformerInput::Kind;

// A step: what happens, and what must follow.
struct Step {
  InformerInput input;
  Act action;
  State state;
};
struct InformerMachineCase {
  const char* sentence;
  bool optional;
  std::vector<Step> steps;
};

InformerInput start() { return {.kind = In::kStart}; }
InformerInput timer(MonotonicTime now = 0s) { return {.kind = In::kTimer, .now = now}; }
InformerInput whole(std::string version, MonotonicTime now = 0s) {
  return {.kind = In::kInitialEventsEnd, .resource_version = std::move(version), .now = now};
}
InformerInput page(bool last, std::string version) {
  return {.kind = In::kPage, .resource_version = std::move(version), .last = last};
}
InformerInput failed(In what, ErrorKind kind, MonotonicTime now = 0s) {
  return {.kind = what, .error = Error{.kind = kind, .message = "no"}, .now = now};
}
InformerInput too_large(In what, MonotonicTime now = 0s) {
  InformerInput input = failed(what, ErrorKind::kTimeout, now);
  input.error.causes.push_back({.reason = "ResourceVersionTooLarge"});
  return input;
}
InformerInput reply_too_large() {
  return {.kind = In::kListFailed,
          .error = transport_error(TransportOutcome::kTooLarge, "larger than 8 bytes")};
}
InformerInput watch_failed(ErrorKind kind, MonotonicTime now = 0s) {
  return failed(In::kWatchFailed, kind, now);
}
InformerInput closed(bool brief, MonotonicTime now = 0s) {
  return {.kind = In::kWatchClosed, .brief = brief, .now = now};
}

std::vector<InformerMachineCase> cases() {
  return {
      {"a WatchList that ends its initial events becomes the watch",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("10"), Act::kReplace, State::kWatching},
        {closed(false), Act::kWatch, State::kWatching}}},
      {"a server that refuses WatchList with 400 is listed in pages, now and later",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {watch_failed(ErrorKind::kBadRequest), Act::kListFirst, State::kListing},
        {page(false, "10"), Act::kListNext, State::kListing},
        {page(true, "10"), Act::kReplaceAndWatch, State::kWatching},
        {watch_failed(ErrorKind::kGone), Act::kListFirst, State::kListing}}},
      {"a server that refuses WatchList with 422 is listed too",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {watch_failed(ErrorKind::kInvalid), Act::kListFirst, State::kListing}}},
      {"a WatchList that stays silent is listed this once: the server is old, or hangs",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {{.kind = In::kOverdue}, Act::kListFirst, State::kListing},
        {failed(In::kListFailed, ErrorKind::kTimeout), Act::kWait, State::kWaiting},
        {timer(), Act::kStream, State::kStreaming}}},
      {"an expired continue token begins the list anew, once, and is then waited for",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {watch_failed(ErrorKind::kInvalid), Act::kListFirst, State::kListing},
        {page(false, "10"), Act::kListNext, State::kListing},
        {failed(In::kListFailed, ErrorKind::kGone), Act::kListFirst, State::kListing},
        {failed(In::kListFailed, ErrorKind::kGone), Act::kWait, State::kWaiting},
        {timer(), Act::kListFirst, State::kListing}}},
      {"a page that is too large is asked for in ever smaller pieces, and at one object waited for",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {watch_failed(ErrorKind::kInvalid), Act::kListFirst, State::kListing},
        {page(false, "10"), Act::kListNext, State::kListing},
        {reply_too_large(), Act::kListNext, State::kListing},  // 100
        {reply_too_large(), Act::kListNext, State::kListing},  // 20
        {page(false, "10"), Act::kListNext, State::kListing},
        {reply_too_large(), Act::kListNext, State::kListing},  // 4
        {reply_too_large(), Act::kListNext, State::kListing},  // 1
        {reply_too_large(), Act::kWait, State::kWaiting},
        {timer(), Act::kListFirst, State::kListing}}},
      {"410 on a watch refreshes at once, and a second one right after waits",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("10"), Act::kReplace, State::kWatching},
        {watch_failed(ErrorKind::kGone), Act::kStream, State::kStreaming},
        {whole("20"), Act::kReplace, State::kWatching},
        {watch_failed(ErrorKind::kGone), Act::kWait, State::kWaiting},
        {timer(), Act::kStream, State::kStreaming}}},
      {"410 after failed connections, as when the server restarted, does not wait for them",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("10"), Act::kReplace, State::kWatching},
        {watch_failed(ErrorKind::kUnavailable, 60s), Act::kWait, State::kWaiting},
        {timer(61s), Act::kWatch, State::kWatching},
        {watch_failed(ErrorKind::kGone, 61s), Act::kStream, State::kStreaming}}},
      {"any other failure of a watch resumes it where it was",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("10"), Act::kReplace, State::kWatching},
        {watch_failed(ErrorKind::kUnavailable), Act::kWait, State::kWaiting},
        {timer(), Act::kWatch, State::kWatching}}},
      {"a watch that ends at once is waited for",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("10"), Act::kReplace, State::kWatching},
        {closed(true), Act::kWait, State::kWaiting},
        {timer(), Act::kWatch, State::kWatching}}},
      {"a WatchList cut before its end starts over",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {watch_failed(ErrorKind::kUnavailable), Act::kWait, State::kWaiting},
        {timer(), Act::kStream, State::kStreaming}}},
      {"an event too large for a watch is fetched by a list",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("10"), Act::kReplace, State::kWatching},
        {{.kind = In::kOversized}, Act::kWait, State::kWaiting},
        {timer(), Act::kListFirst, State::kListing}}},
      {"an optional kind that is not served is empty, and asked for again",
       true,
       {{start(), Act::kStream, State::kStreaming},
        {watch_failed(ErrorKind::kNotFound), Act::kClear, State::kAbsent},
        {timer(), Act::kStream, State::kStreaming},
        {whole("10"), Act::kReplace, State::kWatching},
        {watch_failed(ErrorKind::kNotFound), Act::kClear, State::kAbsent}}},
      {"a kind we need that is not served is waited for",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {watch_failed(ErrorKind::kNotFound), Act::kWait, State::kWaiting}}},
      {"history that goes back is refused, and at the third time given up on",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("100"), Act::kReplace, State::kWatching},
        {watch_failed(ErrorKind::kGone), Act::kStream, State::kStreaming},
        {whole("99"), Act::kWait, State::kWaiting},
        {timer(), Act::kStream, State::kStreaming},
        {whole("99"), Act::kWait, State::kWaiting},
        {timer(), Act::kStream, State::kStreaming},
        {whole("99"), Act::kGiveUp, State::kStopped}}},
      {"history that goes back once and recovers is taken in",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {whole("100"), Act::kReplace, State::kWatching},
        {watch_failed(ErrorKind::kGone), Act::kStream, State::kStreaming},
        {whole("99"), Act::kWait, State::kWaiting},
        {timer(), Act::kStream, State::kStreaming},
        {whole("101"), Act::kReplace, State::kWatching}}},
      {"after a stop nothing happens any more",
       false,
       {{start(), Act::kStream, State::kStreaming},
        {{.kind = In::kStop}, Act::kNone, State::kStopped},
        {whole("10"), Act::kNone, State::kStopped},
        {timer(), Act::kNone, State::kStopped}}},
      {"words of another state change nothing",
       false,
       {{timer(), Act::kNone, State::kIdle},
        {start(), Act::kStream, State::kStreaming},
        {page(true, "10"), Act::kNone, State::kStreaming},
        {start(), Act::kNone, State::kStreaming}}},
  };
}

TEST(InformerMachine, Transitions) {
  for (const InformerMachineCase& c : cases()) {
    SCOPED_TRACE(c.sentence);
    InformerMachine machine;
    machine.optional = c.optional;
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      const InformerAction action = machine.step(c.steps[i].input);
      EXPECT_EQ(static_cast<int>(action.kind), static_cast<int>(c.steps[i].action)) << "step " << i;
      EXPECT_STREQ(to_string(machine.state), to_string(c.steps[i].state)) << "step " << i;
    }
  }
}

TEST(InformerMachine, WaitsDoubleUpToHalfAMinuteAndStartOverAfterTwoHealthyMinutes) {
  InformerMachine machine;
  machine.step(start());
  machine.step(whole("10"));
  std::vector<std::int64_t> waits;
  MonotonicTime now = 0s;
  for (int i = 0; i < 7; ++i) {
    waits.push_back(machine.step(watch_failed(ErrorKind::kUnavailable, now)).wait / 1ms);
    machine.step(timer(now));
  }
  EXPECT_EQ(waits, (std::vector<std::int64_t>{800, 1600, 3200, 6400, 12800, 25600, 30000}));
  now += 121s;
  EXPECT_EQ(machine.step(watch_failed(ErrorKind::kUnavailable, now)).wait, 800ms);
}

TEST(InformerMachine, OnlyNewerVersionsAdvance) {
  InformerMachine machine;
  machine.step(start());
  machine.step(whole("100"));
  machine.advance("9");
  EXPECT_EQ(machine.resource_version, "100");
  machine.advance("101");
  EXPECT_EQ(machine.resource_version, "101");
  machine.advance("");
  EXPECT_EQ(machine.resource_version, "101");
}

TEST(InformerMachine, ALargeVersionTheServerDoesNotKnowYetIsRefreshed) {
  InformerMachine machine;
  machine.step(start());
  machine.step(whole("100"));
  EXPECT_EQ(machine.step(too_large(In::kWatchFailed)).kind, Act::kStream);
  EXPECT_EQ(machine.refresh_from(), "");
}

// Where a refresh asks from, step by step: the version, or nothing for a quorum read.
TEST(InformerMachine, ARefreshTakesWhatIsNotOlderThanTheCacheAndOnceRefusedTheMostRecent) {
  struct From {
    InformerInput input;
    Act action;
    const char* version;
  };
  const std::vector<std::pair<const char*, std::vector<From>>> cases = {
      {"a WatchList",
       {{start(), Act::kStream, ""},
        {whole("10"), Act::kReplace, "10"},
        {watch_failed(ErrorKind::kGone, 1min), Act::kStream, "10"},
        {watch_failed(ErrorKind::kGone, 1min), Act::kStream, ""},
        {watch_failed(ErrorKind::kGone, 1min), Act::kWait, ""},
        {timer(1min), Act::kStream, ""},
        {whole("20", 1min), Act::kReplace, "20"}}},
      {"a list",
       {{start(), Act::kStream, ""},
        {watch_failed(ErrorKind::kInvalid), Act::kListFirst, ""},
        {page(true, "10"), Act::kReplaceAndWatch, "10"},
        {watch_failed(ErrorKind::kGone, 1min), Act::kListFirst, "10"},
        {too_large(In::kListFailed, 1min), Act::kListFirst, ""},
        {too_large(In::kListFailed, 1min), Act::kWait, ""},
        {timer(1min), Act::kListFirst, ""}}},
      {"a silent WatchList, whose server waits for a version it will never have",
       {{start(), Act::kStream, ""},
        {whole("10"), Act::kReplace, "10"},
        {watch_failed(ErrorKind::kGone, 1min), Act::kStream, "10"},
        {{.kind = In::kOverdue}, Act::kListFirst, "10"},
        {too_large(In::kListFailed, 1min), Act::kListFirst, ""}}},
      {"an expired continue token",
       {{start(), Act::kStream, ""},
        {watch_failed(ErrorKind::kInvalid), Act::kListFirst, ""},
        {page(true, "10"), Act::kReplaceAndWatch, "10"},
        {watch_failed(ErrorKind::kGone, 1min), Act::kListFirst, "10"},
        {page(false, "11"), Act::kListNext, "10"},
        {failed(In::kListFailed, ErrorKind::kGone), Act::kListFirst, ""}}},
      {"an answer that is older all the same",
       {{start(), Act::kStream, ""},
        {whole("10"), Act::kReplace, "10"},
        {watch_failed(ErrorKind::kGone, 1min), Act::kStream, "10"},
        {whole("9", 1min), Act::kWait, ""}}},
  };
  for (const auto& [sentence, steps] : cases) {
    SCOPED_TRACE(sentence);
    InformerMachine machine;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const InformerAction action = machine.step(steps[i].input);
      EXPECT_EQ(static_cast<int>(action.kind), static_cast<int>(steps[i].action)) << "step " << i;
      EXPECT_EQ(machine.refresh_from(), steps[i].version) << "step " << i;
    }
  }
}

TEST(InformerMachine, AnOptionalKindThatIsAbsentIsLeftAloneForTenMinutes) {
  InformerMachine machine;
  machine.optional = true;
  machine.step(start());
  const InformerAction action = machine.step(watch_failed(ErrorKind::kNotFound));
  EXPECT_EQ(action.wait, 10min);
  EXPECT_TRUE(action.exact);
}

}  // namespace
}  // namespace berth
