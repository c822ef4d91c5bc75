// SPDX-License-Identifier: Apache-2.0
// Watch: one open watch. It gets every change of the store and passes on those that match its
// collection and selectors. An object that stops matching is DELETED for it; one that starts to
// match is ADDED.
#pragma once

#include <cstdint>
#include <string>

#include "controller/sim/server/api_server.h"
#include "controller/sim/server/selectors.h"
#include "controller/sim/server/target.h"
#include "controller/sim/world/virtual_clock.h"

namespace berth::sim {

class Watch {
 public:
  Watch(const Target& target, Selector selector, WatchSink sink, MonotonicTime end);

  // Sends the frames that are due at once. An ERROR frame ends the stream.
  void begin(const Store& store);
  void on_change(const Change& change);
  // Sends a bookmark if the client asked for bookmarks, and ends the watch at its timeout.
  void on_beat(const Store& store, MonotonicTime now);
  bool ended() const { return ended_; }

 private:
  bool concerns(const StoreKey& key) const;
  void send_initial(const Store& store, bool with_bookmark);
  void send_object(const char* type, const nlohmann::json& object, std::int64_t revision,
                   const Change* change);
  void send_bookmark(std::int64_t revision, bool initial_events_end);
  void send_error(const nlohmann::json& status, std::int64_t revision);
  void end();

  const ResourceType* type_;
  const std::string namespace_;
  const std::string name_;
  const Selector selector_;
  const std::string resource_version_;
  const bool wants_initial_events_;
  const bool wants_bookmarks_;
  WatchSink sink_;
  const MonotonicTime end_;
  std::int64_t seen_ = 0;  // no frame up to this revision is sent any more
  bool ended_ = false;
};

}  // namespace berth::sim
