// SPDX-License-Identifier: Apache-2.0
// WatchFeed: list-and-watch of one collection on a thread of its own, which calls `on_change` for
// every change. After a broken watch it lists again and reports existing objects (as "ADDED") and
// removed ones (as "DELETED").
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "tests/support/kube.h"

namespace berth::test {

class WatchFeed {
 public:
  using OnChange = std::function<void(const std::string& type, const Object& object)>;

  WatchFeed(const Credentials& credentials, const std::string& user_agent, std::string collection,
            OnChange on_change);
  ~WatchFeed();
  WatchFeed(const WatchFeed&) = delete;

 private:
  void run();
  void list();
  void watch();

  Kube kube_;
  std::string collection_;
  OnChange on_change_;
  std::map<std::string, Object> known_;  // by uid
  std::string resource_version_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace berth::test
