// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/informer_base.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using Action = InformerAction::Kind;

// The limits for the first part of a WatchList: without an object, and in total.
constexpr std::chrono::nanoseconds kSilenceLimit = 30s;
constexpr std::chrono::nanoseconds kStreamLimit = 10min;
constexpr std::chrono::nanoseconds kBrief = 1s;
// API servers send one bookmark a minute, and streams last ten minutes.
constexpr std::uint32_t kMaxIdleEvents = 1'000;
// 500 objects of 16 KiB. Four such pages at once (api_client.h), one of them being decoded, fit
// into the webhook's memory limit in the chart.
constexpr std::size_t kMaxPageBytes = 8u << 20;

}  // namespace

std::string InformerScope::field_selector() const {
  return name.empty() ? "" : "metadata.name=" + name;
}

const char* to_string(InformerEvent event) {
  switch (event) {
    case InformerEvent::kAdded:
      return "added";
    case InformerEvent::kModified:
      return "modified";
    case InformerEvent::kDeleted:
      return "deleted";
    case InformerEvent::kBookmark:
      return "bookmark";
    case InformerEvent::kError:
      return "error";
    case InformerEvent::kUndecodable:
      return "undecodable";
    case InformerEvent::kOutOfBounds:
      return "out-of-bounds";
    case InformerEvent::kStale:
      return "stale";
  }
  return "?";
}

InformerBase::InformerBase(ApiClient& client, Log& log, InformerObserver& observer,
                           std::string name, const KindInfo& kind, InformerScope scope,
                           bool optional, Callbacks callbacks, std::uint64_t seed)
    : client_(client),
      log_(log),
      observer_(observer),
      name_(std::move(name)),
      kind_(kind),
      scope_(std::move(scope)),
      callbacks_(std::move(callbacks)),
      jitter_(seed) {
  machine_.optional = optional;
}

InformerBase::~InformerBase() {
  *alive_ = false;
  exchange_.request_stop();
  fetches_.request_stop();
  client_.loop().cancel(timer_);
}

void InformerBase::start() { feed({.kind = InformerInput::Kind::kStart}); }

void InformerBase::stop() {
  feed({.kind = InformerInput::Kind::kStop});
  begin_exchange();
  fetches_.request_stop();
}

void InformerBase::feed(InformerInput input) {
  input.now = client_.loop().now();
  const bool was_synced = machine_.synced;
  const InformerState before = machine_.state;
  const InformerAction action = machine_.step(input);
  if (machine_.state == InformerState::kAbsent && before != InformerState::kAbsent) {
    const bool known = was_synced && before != InformerState::kWatching;
    log_.write(known ? LogLevel::kDebug : LogLevel::kInfo,
               "the API server does not serve an optional kind; it is looked for again later",
               {{"informer", name_},
                {"crd", std::string(kind_.plural) + "." + std::string(kind_.group)},
                {"again_in", format_duration_short(std::chrono::ceil<Duration>(action.wait))}});
  } else if (!input.error.message.empty()) {
    const bool refused =
        input.error.kind == ErrorKind::kForbidden || input.error.kind == ErrorKind::kUnauthorized;
    log_.write(refused ? LogLevel::kError : LogLevel::kWarn, "informer exchange failed",
               {{"informer", name_},
                {"state", to_string(before)},
                {"next", to_string(machine_.state)},
                {"error", describe(input.error)}});
  }
  perform(action);
  observer_.on_state(name_, machine_.state);
  if (!was_synced && machine_.synced) {
    log_.info("informer synced",
              {{"informer", name_}, {"resource_version", machine_.resource_version}});
    if (callbacks_.on_synced) callbacks_.on_synced();
  }
}

void InformerBase::perform(InformerAction action) {
  Loop& loop = client_.loop();
  switch (action.kind) {
    case Action::kNone:
      return;
    case Action::kStream:
      begin_exchange();
      clear_buffer();
      bounds_.restart();
      asked_at_ = heard_at_ = loop.now();
      observer_.on_refresh(name_);
      open_watch(watch_options(true), ticket_, exchange_.get_token());
      watch_for_silence(ticket_);
      return;
    case Action::kListFirst:
      clear_buffer();
      bounds_.restart();
      continue_token_.clear();
      observer_.on_refresh(name_);
      [[fallthrough]];
    case Action::kListNext:
      begin_exchange();
      fetch_page(list_options(), ticket_, exchange_.get_token());
      return;
    case Action::kReplaceAndWatch:
    case Action::kReplace: {
      const std::size_t objects = replace();
      log_.debug("informer refreshed", {{"informer", name_}, {"objects", objects}});
      if (action.kind == Action::kReplace) return;
      begin_exchange();
      open_watch(watch_options(false), ticket_, exchange_.get_token());
      return;
    }
    case Action::kWatch:
      begin_exchange();
      open_watch(watch_options(false), ticket_, exchange_.get_token());
      return;
    case Action::kClear:
      clear_buffer();
      replace();
      [[fallthrough]];
    case Action::kWait: {
      begin_exchange();
      const auto delay = action.exact ? action.wait : jitter_.up_to(action.wait);
      timer_ = loop.call_after(delay, [this] { feed({.kind = InformerInput::Kind::kTimer}); });
      return;
    }
    case Action::kGiveUp:
      begin_exchange();
      if (callbacks_.on_fatal)
        callbacks_.on_fatal("the API server's history of " + name_ +
                            " went back behind what was acted on: restored from a backup?");
      return;
  }
}

// Cancels the request in progress; its late results have an old ticket.
void InformerBase::begin_exchange() {
  exchange_.request_stop();
  exchange_ = std::stop_source();
  ++ticket_;
  ended_by_us_.reset();
  tell_skipped();
  idle_events_ = 0;
  client_.loop().cancel(timer_);
  timer_ = 0;
}

void InformerBase::watch_for_silence(Ticket ticket) {
  timer_ = client_.loop().call_after(kSilenceLimit, [this, ticket] {
    if (!current(ticket) || machine_.state != InformerState::kStreaming) return;
    const MonotonicTime now = client_.loop().now();
    if (now - heard_at_ >= kSilenceLimit || now - asked_at_ >= kStreamLimit)
      feed({.kind = InformerInput::Kind::kOverdue});
    else
      watch_for_silence(ticket);
  });
}

void InformerBase::on_watch_end(Ticket ticket, WatchEnd end) {
  if (!current(ticket)) return;
  if (ended_by_us_.has_value()) {
    Error error = *std::exchange(ended_by_us_, std::nullopt);
    feed({.kind = InformerInput::Kind::kWatchFailed, .error = std::move(error)});
    return;
  }
  const bool told_nothing = skipped_ > 0 && skipped_ == end.events;
  switch (end.reason) {
    case WatchEnd::Reason::kClosed:
      feed({.kind = InformerInput::Kind::kWatchClosed,
            .brief = client_.loop().now() - opened_at_ < kBrief || told_nothing});
      return;
    case WatchEnd::Reason::kRefused:
    case WatchEnd::Reason::kBroken:
      feed({.kind = InformerInput::Kind::kWatchFailed, .error = std::move(end.error)});
      return;
    case WatchEnd::Reason::kOversized:
      feed({.kind = InformerInput::Kind::kOversized, .error = std::move(end.error)});
      return;
    case WatchEnd::Reason::kCancelled:
      return;
  }
}

// An unreadable line may hide an event, so the informer resumes the watch once from the last good
// version. If the line is unreadable there again, one object is at fault, and must not block all
// others. If only a field of an object is wrong, the line was complete and hides nothing. Resuming
// then would let a user who writes such objects alternately with good ones restart the watch each
// time. The log reports a server that sends only unreadable lines once per stream, and the informer
// ends the stream in the end.
void InformerBase::on_unreadable(const Error& error) {
  const std::string here =
      machine_.resource_version.empty() ? std::string("start") : machine_.resource_version;
  const bool again = undecodable_at_ == here || error.where.starts_with("object.");
  undecodable_at_ = here;
  if (++skipped_ == 1)
    log_.error("watch event cannot be read",
               {{"informer", name_}, {"error", describe(error)}, {"skipped", again}});
  if (again)
    on_idle_event("events that cannot be read");
  else
    end_stream(error);
}

// The list continues without the object: one faulty object must not block all others.
void InformerBase::on_unread(const ObjectKey& key, const Error& error) {
  if (++skipped_ == 1)
    log_.error("object cannot be read, and is left as it was known",
               {{"informer", name_}, {"object", key.str()}, {"error", describe(error)}});
}

void InformerBase::tell_skipped() {
  if (skipped_ > 1)
    log_.error("objects could not be read and were skipped",
               {{"informer", name_}, {"objects", skipped_}});
  skipped_ = 0;
}

// A WatchList falls back to a list; a watch resumes later, with growing waits.
void InformerBase::on_idle_event(const char* what) {
  if (++idle_events_ < kMaxIdleEvents) return;
  Error error = decode_error("", "the watch brought " + std::to_string(idle_events_) + " " + what +
                                     " and no object among them");
  if (machine_.state == InformerState::kStreaming)
    feed({.kind = InformerInput::Kind::kOverdue, .error = std::move(error)});
  else
    end_stream(std::move(error));
}

bool InformerBase::given_up(const std::string& bound) {
  if (bound.empty()) return false;
  note(InformerEvent::kOutOfBounds);
  clear_buffer();
  Error error = decode_error(
      name_, "berth rejects the API server's answer: " + bound +
                 "; does a proxy in front of it repeat itself? (kubectl get --raw shows it)");
  if (machine_.state == InformerState::kListing)
    feed({.kind = InformerInput::Kind::kListFailed, .error = std::move(error)});
  else
    end_stream(std::move(error));
  return true;
}

void InformerBase::end_stream(Error error) {
  if (ended_by_us_.has_value()) return;
  ended_by_us_ = std::move(error);
  exchange_.request_stop();
}

WatchOptions InformerBase::watch_options(bool initial_events) {
  WatchOptions options;
  options.namespace_ = scope_.namespace_;
  options.field_selector = scope_.field_selector();
  options.timeout = std::chrono::duration_cast<std::chrono::seconds>(jitter_.between(300s, 600s));
  if (initial_events) {
    options.send_initial_events = true;
    options.resource_version = machine_.refresh_from();
  } else {
    options.resource_version = machine_.resource_version;
  }
  return options;
}

ListOptions InformerBase::list_options() const {
  ListOptions options;
  options.namespace_ = scope_.namespace_;
  options.field_selector = scope_.field_selector();
  options.limit = machine_.page_size;
  options.max_bytes = kMaxPageBytes;
  options.continue_token = continue_token_;
  if (continue_token_.empty()) {  // a token has its own version
    options.resource_version = machine_.refresh_from();
    if (!options.resource_version.empty()) options.resource_version_match = "NotOlderThan";
  }
  return options;
}

}  // namespace berth
