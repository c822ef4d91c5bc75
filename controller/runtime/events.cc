// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apis/base/cut.h"
#include "apis/base/time.h"
#include "controller/core/conditions.h"
#include "controller/core/json_patch.h"
#include "controller/runtime/kinds.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr KindInfo kEvent{"events.k8s.io", "v1", "events", "Event", true};
constexpr std::size_t kMaxNoteBytes = 1024;
constexpr std::size_t kAtOnce = 4;
constexpr int kAttempts = 4;

std::string similar_key(const EventNote& note) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", note.regarding.str(), note.regarding.uid,
                     note.warning, note.reason, note.action);
}

// Short enough for a name, with a last character that may precede a dot.
std::string name_stem(std::string name) {
  name.resize(std::min<std::size_t>(name.size(), 200));
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name;
}

// Errors that may go away with time.
bool may_pass(ErrorKind kind) {
  return kind == ErrorKind::kThrottled || kind == ErrorKind::kTimeout ||
         kind == ErrorKind::kUnavailable || kind == ErrorKind::kServer;
}

// Events of cluster-scoped objects go into the default namespace.
std::string namespace_of(const EventNote& note) {
  return note.regarding.namespace_.empty() ? "default" : note.regarding.namespace_;
}

// `version`: for a kind that berth does not watch.
std::string encode(const ObjectRef& object, const std::string& version = {}) {
  std::string out =
      fmt::format(R"("apiVersion":{},"kind":{},"name":{},"uid":{})",
                  quote_json(version.empty() ? api_version(kind_named(object.kind)) : version),
                  quote_json(object.kind), quote_json(object.name), quote_json(object.uid));
  if (!object.namespace_.empty()) out += R"(,"namespace":)" + quote_json(object.namespace_);
  return "{" + out + "}";
}

std::string encode(const EventNote& note, const std::string& name, const std::string& instance,
                   Time now) {
  return fmt::format(
      R"({{"apiVersion":"events.k8s.io/v1","kind":"Event",)"
      R"("metadata":{{"name":{},"namespace":{}}},"eventTime":{},"type":"{}","reason":{},)"
      R"("action":{},"note":{},"reportingController":"berth",)"
      R"("reportingInstance":{},"regarding":{}{}}})",
      quote_json(name), quote_json(namespace_of(note)), quote_json(format_micro_time(now)),
      note.warning ? "Warning" : "Normal", quote_json(note.reason), quote_json(note.action),
      quote_json(cut(note.note, kMaxNoteBytes)), quote_json(cut(instance, 128)),
      encode(note.regarding, note.api_version),
      note.related ? R"(,"related":)" + encode(*note.related) : std::string());
}

}  // namespace

Events::Events(ApiClient& client, Log& log, Options options)
    : client_(client),
      loop_(client.loop()),
      log_(log),
      options_(std::move(options)),
      tasks_(client.loop()),
      permits_(client.loop(), kAtOnce) {}

void Events::send(const EventNote& note) {
  if (tasks_.token().stop_requested()) return;
  forget_old();
  const std::string similar = similar_key(note);
  std::string key = similar + '\x1f' + note.note;
  std::vector<std::string>& kin = similar_[similar];
  if (!series_.contains(key) && kin.size() >= options_.similar_limit) key = kin.back();

  const MonotonicTime now = loop_.now();
  if (const auto it = series_.find(key); it != series_.end()) {
    Series& series = it->second;
    ++series.count;
    series.last = now;
    if (series.name.empty() || now - series.last_sent < options_.series_period) return;
    series.last_sent = now;
    tasks_.spawn(update(key));
    return;
  }
  if (series_.size() >= options_.remembered || !within_budget(note.regarding)) {
    log_.debug("event dropped", {{"object", note.regarding.str()}, {"reason", note.reason}});
    return;
  }
  kin.push_back(key);
  series_.emplace(
      key, Series{.namespace_ = namespace_of(note), .first = now, .last = now, .last_sent = now});
  tasks_.spawn(create(key, note));
}

bool Events::within_budget(const ObjectRef& regarding) {
  const MonotonicTime now = loop_.now();
  const auto [it, fresh] = buckets_.try_emplace(regarding);
  Bucket& bucket = it->second;
  const double full = static_cast<double>(options_.burst);
  if (fresh) bucket = {full, now};
  const double gained =
      static_cast<double>((now - bucket.at).count()) / static_cast<double>(options_.refill.count());
  bucket.tokens = std::min(full, bucket.tokens + gained);
  bucket.at = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

// A series ends after a window without a note. A bucket is dropped once it is full again.
void Events::forget_old() {
  const MonotonicTime now = loop_.now();
  const auto silent = [&](const Series& series) { return now - series.last > options_.window; };
  if (std::erase_if(series_, [&](const auto& entry) { return silent(entry.second); }) > 0) {
    for (auto& [_, kin] : similar_)
      std::erase_if(kin, [&](const std::string& key) { return !series_.contains(key); });
    std::erase_if(similar_, [](const auto& entry) { return entry.second.empty(); });
  }
  if (buckets_.size() > options_.remembered)
    std::erase_if(buckets_, [&](const auto& entry) {
      return now - entry.second.at > options_.refill * options_.burst;
    });
}

Task<void> Events::create(std::string series, EventNote note) {
  // Named as in Kubernetes: the object, and a time that makes the name unique.
  const std::string stem = name_stem(note.regarding.name);
  const std::string name = fmt::format(
      "{}.{:x}{:04x}", stem,
      static_cast<std::uint64_t>(loop_.wall_now().time_since_epoch().count()), ++serial_ & 0xffff);
  const std::string body = encode(note, name, options_.instance, loop_.wall_now());
  std::optional<Error> error;
  for (int attempt = 1;; ++attempt) {
    error = co_await post(namespace_of(note), body);
    if (!error || !may_pass(error->kind) || attempt == kAttempts) break;
    co_await sleep_for(1s * (1 << attempt), tasks_.token());
  }
  const auto it = series_.find(series);
  // kAlreadyExists: an earlier attempt succeeded and its reply was lost.
  if (!error || error->kind == ErrorKind::kAlreadyExists) {
    if (it != series_.end()) it->second.name = name;
    co_return;
  }
  log_.warn(
      "event not recorded",
      {{"object", note.regarding.str()}, {"reason", note.reason}, {"error", describe(*error)}});
  if (it != series_.end()) series_.erase(it);  // the next note starts a new series
}

Task<std::optional<Error>> Events::post(std::string namespace_, std::string body) {
  const Permits::Permit permit = co_await permits_.acquire();
  WriteOptions options{.field_manager = "berth-events"};
  ApiRequest request = create_request(kEvent, std::move(namespace_), body, options);
  CallOptions call(Lane::kWrite, tasks_.token(), 10s);
  call.traffic = Traffic::kReporting;
  Result<Reply> reply = co_await client_.send(std::move(request), std::move(call));
  if (reply.has_value()) co_return std::nullopt;
  co_return reply.error();
}

Task<void> Events::update(std::string series) {
  const Permits::Permit permit = co_await permits_.acquire();
  const auto it = series_.find(series);
  if (it == series_.end()) co_return;
  const ObjectKey key{it->second.namespace_, it->second.name};
  const std::string body = fmt::format(R"({{"series":{{"count":{},"lastObservedTime":"{}"}}}})",
                                       it->second.count, format_micro_time(loop_.wall_now()));
  WriteOptions options{.field_manager = "berth-events"};
  ApiRequest request = merge_patch_request(kEvent, key, body, options);
  CallOptions call(Lane::kWrite, tasks_.token(), 10s);
  call.traffic = Traffic::kReporting;
  Result<Reply> reply = co_await client_.send(std::move(request), std::move(call));
  if (reply.has_value()) co_return;
  log_.debug("event series not updated", {{"error", describe(reply.error())}});
  // The server deletes events after an hour: the next note starts a new Event.
  if (reply.error().kind == ErrorKind::kNotFound) series_.erase(series);
}

}  // namespace berth
