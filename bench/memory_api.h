// SPDX-License-Identifier: Apache-2.0
// MemoryApi: an API server inside the process, behind Transport: bytes in, bytes out, no sockets.
// It keeps whole objects, answers lists, watches and the writes that berth sends, and tells its
// owner about every write, so that a measurement can play the node agents.
//
// It is not a test double: it checks only what berth's own writes rely on.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "controller/io/loop.h"
#include "controller/io/transport.h"

namespace berth {

class MemoryApi : public Transport {
 public:
  // A write that succeeded; `object` is as it stands now, null if it is gone.
  struct Written {
    std::string resource;  // "nodes", "pods/eviction", "configmaps"
    std::string namespace_;
    std::string name;
    bool dry_run = false;
    const nlohmann::json* object = nullptr;
  };
  struct Hooks {
    std::function<void(const HttpRequest&)> on_leaving;  // berth has just handed a request over
    std::function<void(const Written&)> on_written;      // before anybody hears of it
    // A watch is about to hand the object's news to berth.
    std::function<void(const std::string& resource, const nlohmann::json& object)> on_delivery;
  };
  MemoryApi(Loop& loop, Hooks hooks) : loop_(loop), hooks_(std::move(hooks)) {}

  void start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
             std::stop_token stop) override;

  // From outside berth: a person, a kubelet, an agent. Gives the object its next resourceVersion.
  void put(const std::string& resource, nlohmann::json object);
  void remove(const std::string& resource, const std::string& namespace_, const std::string& name);
  const nlohmann::json& get(const std::string& resource, const std::string& name) const;

  // Time spent in here and not in berth, since the start.
  std::chrono::nanoseconds own_time() const { return own_time_; }
  // For as long as one lives, time is spent in here: by whoever plays beside berth too.
  class Inside {
   public:
    explicit Inside(MemoryApi& api) : api_(api), since_(api.loop_.now()) { ++api_.depth_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
      if (--api_.depth_ == 0) api_.own_time_ += api_.loop_.now() - since_;
    }

   private:
    MemoryApi& api_;
    const MonotonicTime since_;
  };

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  struct Target;
  struct Watch {
    std::string resource;
    Key scope;  // empty parts: all
    std::shared_ptr<ResponseSink> sink;
    std::stop_token stop;
  };
  struct Answer {
    int status = 200;
    std::string body;
  };
  Answer answer(const HttpRequest& request, const Target& target);
  Answer list(const Target& target) const;
  Answer write(const HttpRequest& request, const Target& target);
  void open_watch(const Target& target, std::shared_ptr<ResponseSink> sink, std::stop_token stop);
  void announce(const char* type, const std::string& resource, nlohmann::json object);
  void reply(std::shared_ptr<ResponseSink> sink, Answer answer);

  Loop& loop_;
  Hooks hooks_;
  std::map<std::string, std::map<Key, nlohmann::json>> objects_;         // by resource
  std::map<std::string, std::map<Key, const nlohmann::json*>> pods_on_;  // by node
  std::vector<std::shared_ptr<Watch>> watches_;
  std::int64_t version_ = 200'000;
  std::chrono::nanoseconds own_time_{0};
  int depth_ = 0;  // of Insides
};

}  // namespace berth
