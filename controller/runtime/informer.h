// SPDX-License-Identifier: Apache-2.0
// Informer<T>: keeps ClusterState's store of one kind equal to the API server. Every object goes
// through apply() or remove(), so a refresh reports only changes, as a watch event does.
//
// Loop thread only. It must outlive its requests: stop() it and run the loop until they have ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apis/codec/decode.h"
#include "controller/client/api_client.h"
#include "controller/core/cluster_state.h"
#include "controller/core/ended_pods.h"
#include "controller/io/log.h"
#include "controller/runtime/informer_base.h"

namespace berth {

template <class T>
class Informer : public InformerBase {
 public:
  // `now` is null for a removed object, `old` for a new one. Called only if facts changed.
  using OnChange = std::function<void(const T* old, const T* now)>;

  Informer(ApiClient& client, ClusterState& cluster, Log& log, InformerObserver& observer,
           std::string name, InformerScope scope, bool optional, Callbacks callbacks,
           OnChange on_change, std::uint64_t seed)
      : InformerBase(client, log, observer, std::move(name), kKind<T>, std::move(scope), optional,
                     std::move(callbacks), seed),
        cluster_(cluster),
        on_change_(std::move(on_change)) {}

  void refetch(ObjectKey key) override {
    spawn(client_.loop(), refetch_task(std::move(key), fetches_.get_token(), alive_));
  }

 private:
  class Handler : public WatchHandler {
   public:
    Handler(Informer& informer, Ticket ticket)
        : informer_(informer), alive_(informer.alive_), ticket_(ticket) {}
    void on_open() override {
      if (mine()) informer_.on_watch_open();
    }
    void on_event(std::string& event, Encoding encoding) override {
      if (mine()) informer_.on_event(event, encoding);
    }
    void on_end(WatchEnd end) override {
      if (*alive_) informer_.on_watch_end(ticket_, std::move(end));
    }

   private:
    bool mine() const { return *alive_ && informer_.current(ticket_); }
    Informer& informer_;
    std::shared_ptr<bool> alive_;
    Ticket ticket_;
  };

  void open_watch(WatchOptions options, Ticket ticket, std::stop_token stop) override {
    client_.template start_watch<T>(options, std::make_shared<Handler>(*this, ticket), stop);
  }

  void on_event(std::string& bytes, Encoding encoding) {
    if (ending()) return;
    const std::size_t length = bytes.size();
    const bool initial = machine_.state == InformerState::kStreaming;
    auto event = decode_watch_event<T>(bytes, encoding);
    if (!event.has_value()) {
      note(InformerEvent::kUndecodable);
      if (auto key = initial ? key_of_event(bytes) : std::nullopt) unread_.insert(*std::move(key));
      on_unreadable(event.error());
      return;
    }
    using Type = typename WatchEvent<T>::Type;
    switch (event->type) {
      case Type::kError:
        note(InformerEvent::kError);
        end_stream(std::move(event->error));
        return;
      case Type::kBookmark: {
        note(InformerEvent::kBookmark);
        const std::string version = event->object.meta.resource_version;
        if (initial && event->initial_events_end)
          feed({.kind = InformerInput::Kind::kInitialEventsEnd, .resource_version = version});
        else if (!initial)
          advance(version);
        if (!event->initial_events_end) on_bookmark();
        return;
      }
      case Type::kAdded:
      case Type::kModified:
        note(event->type == Type::kAdded ? InformerEvent::kAdded : InformerEvent::kModified);
        on_object();
        // A synthetic ADDED has the version of its object's last change, not of the list.
        if (initial) {
          if (given_up(bounds_.take_event(length))) return;
          take(std::move(event->object));
          return;
        }
        advance(event->object.meta.resource_version);
        if (is_selected(event->object))
          apply(std::move(event->object));
        else
          lose(event->object.meta);
        return;
      case Type::kDeleted:
        note(InformerEvent::kDeleted);
        on_object();
        if (initial) return;
        advance(event->object.meta.resource_version);
        lose(event->object.meta);
        return;
    }
  }

  void fetch_page(ListOptions options, Ticket ticket, std::stop_token stop) override {
    spawn(client_.loop(), fetch_page_task(std::move(options), ticket, std::move(stop), alive_));
  }
  Task<void> fetch_page_task(ListOptions options, Ticket ticket, std::stop_token stop,
                             std::shared_ptr<bool> alive) {
    CallOptions call(Lane::kBulk, std::move(stop), std::chrono::seconds(60));
    Result<ListPage<T>> page = co_await client_.template list_page<T>(std::move(options), call);
    if (!*alive || !current(ticket)) co_return;
    if (!page.has_value()) {
      feed({.kind = InformerInput::Kind::kListFailed, .error = std::move(page).error()});
      co_return;
    }
    if (given_up(bounds_.take_page(page->items.size(), page->bytes, page->continue_token)))
      co_return;
    for (T& object : page->items) take(std::move(object));
    for (UnreadItem& item : page->unread) {
      note(InformerEvent::kUndecodable);
      on_unread(item.key, item.error);
      unread_.insert(std::move(item.key));
    }
    continue_token_ = page->continue_token;
    feed({.kind = InformerInput::Kind::kPage,
          .resource_version = page->resource_version,
          .last = continue_token_.empty()});
  }

  Task<void> refetch_task(ObjectKey key, std::stop_token stop, std::shared_ptr<bool> alive) {
    CallOptions call(Lane::kWrite, std::move(stop), std::chrono::seconds(10));
    Result<T> object = co_await client_.template get<T>(key, call);
    if (!*alive) co_return;
    // The watch may have removed an object that left the selection before this reply.
    if (object.has_value() && is_selected(*object)) {
      apply(std::move(object).value());
    } else if (object.has_value() || object.error().kind == ErrorKind::kNotFound) {
      ObjectMeta gone;
      gone.namespace_ = key.namespace_;
      gone.name = key.name;
      remove(gone);
    }
  }

  bool is_selected(const T& object) const {
    if constexpr (std::is_same_v<T, Pod>)
      return !scope_.unfinished || is_looked_at(object);
    else
      return true;
  }
  void take(T object) {
    if (is_selected(object)) buffer_.push_back(std::make_shared<T>(std::move(object)));
  }

  void clear_buffer() override {
    buffer_.clear();
    unread_.clear();
  }

  // Makes the buffer the cache: reports changed objects and removes objects that are not in it. An
  // object that exists but is unreadable keeps its last readable state.
  std::size_t replace() override {
    std::vector<const T*> present;
    present.reserve(buffer_.size());
    for (; !buffer_.empty(); buffer_.pop_front())
      present.push_back(apply(std::move(*buffer_.front())));
    buffer_.shrink_to_fit();
    std::sort(present.begin(), present.end());
    std::vector<ObjectMeta> gone;
    for (const auto& object : cluster_.template store<T>()) {
      if (!scope_.holds(object->meta)) continue;
      if (!std::binary_search(present.begin(), present.end(), object.get()) &&
          !unread_.contains(key_of(object->meta)))
        gone.push_back(object->meta);
    }
    unread_.clear();
    for (const ObjectMeta& meta : gone) remove(meta);
    if (!gone.empty()) cluster_.template hear<T>(machine_.resource_version);
    hear_all();
    return present.size();
  }

  void advance(const std::string& version) {
    machine_.advance(version);
    hear_all();
  }
  // If a kind has several informers, none of them knows a version for the whole kind.
  void hear_all() {
    if (scope_.namespace_.empty() && scope_.name.empty())
      cluster_.template hear_all<T>(machine_.resource_version);
  }

  // Returns the object that is in the cache afterwards.
  const T* apply(T object) {
    const auto& store = cluster_.template store<T>();
    const T* known = store.find(object.meta.namespace_.view(), object.meta.name);
    // A live GET may have overtaken the watch. The cache never goes back to an older version, nor
    // to a deleted object of the same name: versions of one kind can be compared across objects.
    if (known != nullptr &&
        is_older_version(object.meta.resource_version, known->meta.resource_version)) {
      note(InformerEvent::kStale);
      return known;
    }
    cluster_.template hear<T>(object.meta.resource_version);
    auto upserted = cluster_.upsert(std::move(object), client_.wall_now());
    if (upserted.change == StoreChange::kAdded) count_objects();
    if (upserted.change != StoreChange::kUnchanged && on_change_)
      on_change_(upserted.old.get(), upserted.current.get());
    if (callbacks_.on_cached) callbacks_.on_cached(kKind<T>.kind, upserted.current->meta);
    return upserted.current.get();
  }

  // The object is deleted, or has left the selection, at this version.
  void lose(const ObjectMeta& meta) {
    cluster_.template hear<T>(meta.resource_version);
    remove(meta);
  }

  // An empty uid means any object with the name. Ignores an object that the cache does not hold: a
  // refresh or a live GET has already reported its removal.
  void remove(const ObjectMeta& meta) {
    const T* known = cluster_.template store<T>().find(meta.namespace_.view(), meta.name);
    if (known == nullptr || (!meta.uid.empty() && known->meta.uid != meta.uid)) return;
    const std::string name = meta.name;
    const Text namespace_ = meta.namespace_;
    auto old = cluster_.template erase<T>(namespace_.view(), name);
    count_objects();
    if (on_change_) on_change_(old.get(), nullptr);
    if (callbacks_.on_cached) callbacks_.on_cached(kKind<T>.kind, old->meta);
  }

  void count_objects() { observer_.on_objects(name_, cluster_.template store<T>().size()); }

  ClusterState& cluster_;
  OnChange on_change_;
  // Decoded objects, never raw bytes. Each has exactly the memory block that the store needs, so
  // that moving the buffer into the store leaves no holes in the heap.
  std::deque<std::shared_ptr<T>> buffer_;
  std::set<ObjectKey> unread_;  // of the refresh in progress
};

}  // namespace berth
