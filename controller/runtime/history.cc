// SPDX-License-Identifier: Apache-2.0
// Outline: noting; the batches; one flush: load, the next chunk, its write; the end.
#include "controller/runtime/history.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "apis/base/names.h"
#include "controller/client/resource_path.h"
#include "controller/core/config_map_texts.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr double kWritesPerSecond = 1.0 / 30;
constexpr int kWriteBurst = 8;
// Beyond kFull bytes a batch is written at once. Beyond kMostFresh, lines are dropped.
constexpr std::size_t kFull = 64 * 1024;
constexpr std::size_t kMostFresh = 128 * 1024;
constexpr std::size_t kMostObjects = 4096;
constexpr double kWaitsPerSecond = 2;
constexpr int kWaitBurst = 200;
constexpr std::chrono::milliseconds kDeadline = 10s;
constexpr std::chrono::milliseconds kLastDeadline = 2s;

// Another process has written or deleted the ConfigMap.
bool is_stale(const Error& error) {
  return error.kind == ErrorKind::kConflict || error.kind == ErrorKind::kAlreadyExists ||
         error.kind == ErrorKind::kNotFound;
}

}  // namespace

History::History(Parts parts)
    : parts_(std::move(parts)),
      loop_(parts_.client.loop()),
      tasks_(loop_),
      writes_(kWritesPerSecond, kWriteBurst),
      gate_(kWaitsPerSecond, kWaitBurst) {}

void History::start() {
  noting_ = true;
  if (parts_.keeps) tasks_.spawn(run());
}

void History::note(HistoryLine line) {
  if (!noting_ || !is_new(line)) return;
  line.at = loop_.wall_now();
  if (line.what == kWaits) log_wait(line);
  if (!parts_.keeps) return;
  fresh_ += encode_line(line);
  bound_fresh();
  if (fresh_.size() >= kFull) full_.request_stop();
}

void History::note_write(const Origin& origin, const Write& write) {
  if (!write.in_history) return;
  note({.actor = "berth",
        .object = write.object.str(),
        .what = to_string(write.verb),
        .reason = write.reason,
        .cause = origin.cause});
}

bool History::is_new(const HistoryLine& line) {
  const std::hash<std::string> hash;
  if (latest_.size() >= kMostObjects) latest_.clear();
  const std::size_t said = hash(line.what + '\t' + line.reason + '\t' + line.cause);
  const auto [last, first] = latest_.try_emplace(hash(line.object), said);
  return first || std::exchange(last->second, said) != said;
}

void History::log_wait(const HistoryLine& line) {
  const auto held = gate_.pass(loop_.now());
  if (!held) return;
  const std::string_view why = line.reason;
  const std::size_t colon = std::min(why.find(": "), why.size());
  parts_.log.info("waits", {{"object", line.object},
                            {"reason", why.substr(0, colon)},
                            {"message", why.substr(std::min(colon + 2, why.size()))},
                            {"cause", line.cause},
                            {"not_logged", *held}});
}

// Drops lines beyond the memory limit, for example while the API server is unavailable for hours.
void History::bound_fresh() {
  if (fresh_.size() <= kMostFresh) return;
  const std::size_t end = fresh_.find('\n', fresh_.size() / 4);
  lost_ += static_cast<std::uint64_t>(std::count(fresh_.begin(), fresh_.begin() + end + 1, '\n'));
  fresh_.erase(0, end + 1);
}

Task<void> History::run() {
  const std::stop_token stop = tasks_.token();
  while (!stop.stop_requested()) {
    full_ = std::stop_source();
    const std::stop_callback<std::function<void()>> on_stop(stop, [this] { full_.request_stop(); });
    co_await sleep_for(kBatch, full_.get_token());
    if (fresh_.empty()) continue;
    co_await sleep_for(writes_.take(loop_.now()), stop);
    if (!stop.stop_requested()) co_await flush(stop);
  }
}

Task<bool> History::flush(std::stop_token stop) {
  std::optional<Error> error;
  for (int attempt = 1; attempt <= 2; ++attempt) {
    if (parts_.time_left() <= 0ns) co_return false;
    error.reset();
    if (!loaded_) error = co_await load(stop);
    if (!error && fresh_.empty()) co_return true;
    if (!error) error = co_await write_fresh(stop);
    if (!error) {
      if (std::exchange(failing_, false)) parts_.log.info("history is written again");
      co_return true;
    }
    if (!is_stale(*error)) break;
    loaded_ = false;
  }
  if (!stop.stop_requested()) tell_failure(*error);
  co_return false;
}

// Warns once, because it retries twice a minute.
void History::tell_failure(const Error& error) {
  parts_.log.write(std::exchange(failing_, true) ? LogLevel::kDebug : LogLevel::kWarn,
                   "history not written; berth tries again", {{"error", describe(error)}});
}

// If a write's reply was lost, its lines may already be in the cluster.
Task<std::optional<Error>> History::load(std::stop_token stop) {
  chunk_ = {};
  for (std::size_t place = 0; place < places_.size(); ++place) {
    ObjectKey key{parts_.namespace_, config_map_of_chunk(static_cast<std::int64_t>(place))};
    CallOptions call = call_options(stop);
    Result<ConfigMap> found = co_await parts_.client.get<ConfigMap>(std::move(key), call);
    places_[place].reset();
    if (!found.has_value() && found.error().kind == ErrorKind::kNotFound) continue;
    if (!found.has_value()) co_return std::move(found).error();
    HistoryChunk chunk = unpack(*found);
    if (chunk.seq > chunk_.seq) chunk_ = std::move(chunk);
    found->data.clear();
    places_[place] = *std::move(found);
  }
  loaded_ = true;
  fresh_ = lines_beside(fresh_, chunk_.text);
  co_return std::nullopt;
}

// Adds the fresh lines to the newest chunk, or to the next one if that is full.
History::Packed History::pack_fresh() {
  if (lost_ > 0)
    fresh_.insert(0, encode_line({.at = loop_.wall_now(),
                                  .actor = "berth",
                                  .object = "History/" + parts_.namespace_,
                                  .what = std::to_string(lost_) + " lines are missing here"}));
  lost_ = 0;
  const std::string fresh = std::exchange(fresh_, {});
  Packed next{.chunk = {.seq = chunk_.seq, .text = chunk_.text + fresh},
              .fresh_from = chunk_.text.size(),
              .data = {}};
  if (chunk_.seq > 0 && next.chunk.text.size() <= kMaxChunkText) next.data = pack(next.chunk);
  if (next.data) {
    chunk_.text = std::string();
    return next;
  }
  next = {.chunk = {.seq = chunk_.seq + 1, .text = fresh}, .fresh_from = 0, .data = {}};
  while (!(next.data = pack(next.chunk)))
    next.chunk.text.erase(0, next.chunk.text.find('\n', next.chunk.text.size() / 2) + 1);
  return next;
}

void History::put_back(HistoryChunk chunk, std::size_t fresh_from) {
  fresh_.insert(0, chunk.text, fresh_from);
  bound_fresh();
  if (fresh_from == 0) return;
  chunk.text.resize(fresh_from);
  chunk_ = std::move(chunk);
}

Task<std::optional<Error>> History::write_fresh(std::stop_token stop) {
  Packed next = pack_fresh();
  const std::string name = config_map_of_chunk(next.chunk.seq);
  std::optional<ConfigMap>& place =
      places_[static_cast<std::size_t>(next.chunk.seq % kHistoryChunks)];
  ObjectKey key{parts_.namespace_, name};
  Write write = write_texts(key, names::kManagerHistory, place ? &*place : nullptr, *next.data, {});
  WriteOptions options{.field_manager = names::kManagerHistory};
  ApiRequest request =
      place ? merge_patch_request(kKind<ConfigMap>, key, std::move(write.body), options)
            : create_request(kKind<ConfigMap>, key.namespace_, std::move(write.body), options);
  next.data.reset();
  CallOptions call = call_options(std::move(stop));
  Result<Reply> reply = co_await parts_.client.send(std::move(request), call);
  Result<ConfigMap> written = reply.has_value() ? decode_object<ConfigMap>(reply->body)
                                                : Result<ConfigMap>(std::move(reply).error());
  if (!written.has_value()) {
    put_back(std::move(next.chunk), next.fresh_from);
    co_return std::move(written).error();
  }
  written->data.clear();
  place = *std::move(written);
  chunk_ = std::move(next.chunk);
  co_return std::nullopt;
}

CallOptions History::call_options(std::stop_token stop) const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.time_left());
  CallOptions call(Lane::kWrite, std::move(stop),
                   std::clamp(noting_ ? kDeadline : kLastDeadline, 1ms, std::max(left, 1ms)));
  call.traffic = Traffic::kReporting;
  return call;
}

Task<void> History::finish(bool in_order) {
  if (!std::exchange(noting_, false) || !parts_.keeps) co_return;
  auto ended = std::make_shared<Handoff<bool>>(loop_);
  tasks_.stop([ended] { ended->set(true); });
  co_await ended->wait();
  if (in_order && !fresh_.empty()) co_await flush(std::stop_token());
}

}  // namespace berth
