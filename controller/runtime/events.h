// SPDX-License-Identifier: Apache-2.0
// Events: writes events.k8s.io/v1, best effort. Equal notes become one Event whose series counts
// them. Different notes about one object are limited to a burst, then to one per five minutes. No
// step waits for an event; a failure is only logged.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"
#include "controller/io/permits.h"
#include "controller/io/task_group.h"

namespace berth {

class Events {
 public:
  struct Options {
    std::string instance;  // reporting instance: the process's identity
    // different notes with one reason on one object; further ones are merged
    std::size_t similar_limit = 10;
    std::chrono::nanoseconds window = std::chrono::minutes(10);
    std::size_t burst = 25;  // events per object
    // time for one more event per object
    std::chrono::nanoseconds refill = std::chrono::minutes(5);
    std::chrono::nanoseconds series_period = std::chrono::seconds(30);  // between series updates
    std::size_t remembered = 1000;
  };
  Events(ApiClient& client, Log& log, Options options);

  void send(const EventNote& note);
  std::size_t on_their_way() const { return tasks_.running(); }
  // Cancels events in flight and sends no new ones.
  void stop(std::function<void()> on_empty) { tasks_.stop(std::move(on_empty)); }
  std::size_t remembered() const { return series_.size(); }

 private:
  struct Series {
    std::string name;  // of the Event; empty until the server accepted its POST
    std::string namespace_;
    std::int64_t count = 1;  // occurrences
    MonotonicTime first{0};
    MonotonicTime last{0};
    MonotonicTime last_sent{0};
  };
  struct Bucket {
    double tokens = 0;
    MonotonicTime at{0};
  };
  bool within_budget(const ObjectRef& regarding);
  void forget_old();
  Task<void> create(std::string series, EventNote note);
  Task<std::optional<Error>> post(std::string namespace_, std::string body);
  Task<void> update(std::string series);

  ApiClient& client_;
  Loop& loop_;
  Log& log_;
  const Options options_;
  TaskGroup tasks_;
  Permits permits_;
  std::uint64_t serial_ = 0;
  std::map<std::string, Series> series_;  // by the whole content of the note
  // keys of series, by all fields of the note but its text
  std::map<std::string, std::vector<std::string>> similar_;
  std::map<ObjectRef, Bucket> buckets_;
};

}  // namespace berth
