// SPDX-License-Identifier: Apache-2.0
// InformerBase: the part of an informer that does not depend on the kind. It performs the actions
// of InformerMachine, one request to the API server at a time, and reports the results to it.
// Informer<T> (informer.h) handles the objects.
//
// Loop thread only. It must outlive its requests: stop() it and run the loop until they have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "controller/client/api_client.h"
#include "controller/client/list_bounds.h"
#include "controller/io/log.h"
#include "controller/runtime/informer_machine.h"
#include "controller/runtime/jitter.h"

namespace berth {

// Which objects of the kind. An informer owns its scope: it removes objects in it that the server
// no longer has, and touches no others.
struct InformerScope {
  std::string namespace_;  // empty: all
  std::string name;        // empty: all
  // Drops pods by core/ended_pods.h while it reads them, because no field selector can.
  bool unfinished = false;
  std::string field_selector() const;
  bool holds(const ObjectMeta& meta) const {
    return (namespace_.empty() || meta.namespace_ == std::string_view(namespace_)) &&
           (name.empty() || meta.name == name);
  }
};

enum class InformerEvent {
  kAdded,
  kModified,
  kDeleted,
  kBookmark,
  kError,
  kUndecodable,
  kOutOfBounds,  // a cancelled refresh (client/list_bounds.h)
  kStale
};
const char* to_string(InformerEvent event);

// What an informer reports about itself; metrics.h counts it.
class InformerObserver {
 public:
  virtual ~InformerObserver() = default;
  virtual void on_state(const std::string& informer, InformerState state) = 0;
  virtual void on_refresh(const std::string& informer) = 0;
  virtual void on_event(const std::string& informer, InformerEvent event) = 0;
  virtual void on_objects(const std::string& informer, std::size_t count) = 0;
};

class InformerBase {
 public:
  struct Callbacks {
    // The cache took in a change of the object, also a removal.
    std::function<void(std::string_view kind, const ObjectMeta& meta)> on_cached;
    std::function<void()> on_synced;                // the first time only
    std::function<void(std::string why)> on_fatal;  // history went back: the process must restart
  };
  InformerBase(ApiClient& client, Log& log, InformerObserver& observer, std::string name,
               const KindInfo& kind, InformerScope scope, bool optional, Callbacks callbacks,
               std::uint64_t seed);
  InformerBase(const InformerBase&) = delete;
  InformerBase& operator=(const InformerBase&) = delete;
  virtual ~InformerBase();

  void start();
  void stop();
  bool synced() const { return machine_.synced; }
  const std::string& name() const { return name_; }  // "configmaps/berth-system"
  const InformerMachine& machine() const { return machine_; }
  const InformerScope& scope() const { return scope_; }
  const KindInfo& kind() const { return kind_; }
  // GETs one object from the server and puts it into the cache. For use if the watch seems to have
  // lost berth's own write.
  virtual void refetch(ObjectKey key) = 0;

 protected:
  // Identifies one request; results of an earlier request are ignored.
  using Ticket = std::uint64_t;

  void feed(InformerInput input);
  void on_watch_open() { opened_at_ = client_.loop().now(); }
  void on_watch_end(Ticket ticket, WatchEnd end);
  // Three kinds of messages in a stream. The last two kinds are limited to a number in a row.
  void on_object() {
    heard_at_ = client_.loop().now();
    idle_events_ = 0;
  }
  void on_bookmark() { on_idle_event("bookmarks"); }
  void on_unreadable(const Error& error);
  void on_unread(const ObjectKey& key, const Error& error);  // in a list
  void end_stream(Error error);  // ends it as if the server had sent this error
  // If `bound` names an exceeded limit of client/list_bounds.h, cancels the refresh and returns
  // true.
  bool given_up(const std::string& bound);
  bool ending() const { return ended_by_us_.has_value(); }
  void note(InformerEvent event) { observer_.on_event(name_, event); }
  bool current(Ticket ticket) const { return ticket == ticket_; }
  WatchOptions watch_options(bool initial_events);
  ListOptions list_options() const;

  virtual void open_watch(WatchOptions options, Ticket ticket, std::stop_token stop) = 0;
  virtual void fetch_page(ListOptions options, Ticket ticket, std::stop_token stop) = 0;
  virtual void clear_buffer() = 0;
  virtual std::size_t replace() = 0;

  ApiClient& client_;
  Log& log_;
  InformerObserver& observer_;
  const std::string name_;
  const KindInfo kind_;
  const InformerScope scope_;
  Callbacks callbacks_;
  InformerMachine machine_;
  std::string continue_token_;
  ListBounds bounds_;  // of the refresh in progress
  // Set to false by the destructor; a callback that runs later checks it first.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::stop_source fetches_;  // stops the requests of refetch()

 private:
  void perform(InformerAction action);
  void begin_exchange();
  void watch_for_silence(Ticket ticket);
  void on_idle_event(const char* what);
  void tell_skipped();

  Jitter jitter_;
  Ticket ticket_ = 0;
  std::stop_source exchange_;
  std::optional<Error> ended_by_us_;
  std::string undecodable_at_;     // the version at which a line was unreadable
  std::uint64_t skipped_ = 0;      // unreadable lines of this stream
  std::uint32_t idle_events_ = 0;  // since the last object
  MonotonicTime asked_at_{0};      // for this stream
  MonotonicTime opened_at_{0};
  MonotonicTime heard_at_{0};  // of the last object
  Loop::TimerId timer_ = 0;
};

}  // namespace berth
