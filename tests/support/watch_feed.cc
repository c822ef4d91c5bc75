// SPDX-License-Identifier: Apache-2.0
#include "tests/support/watch_feed.h"

#include <chrono>

namespace berth::test {

using std::chrono::milliseconds;

WatchFeed::WatchFeed(const Credentials& credentials, const std::string& user_agent,
                     std::string collection, OnChange on_change)
    : kube_(credentials, user_agent),
      collection_(std::move(collection)),
      on_change_(std::move(on_change)),
      thread_([this] { run(); }) {}

WatchFeed::~WatchFeed() {
  stop_ = true;
  thread_.join();
}

void WatchFeed::run() {
  while (!stop_) {
    if (resource_version_.empty()) list();
    if (!resource_version_.empty()) watch();
    if (resource_version_.empty())
      std::this_thread::sleep_for(milliseconds(200));  // the server is down
  }
}

void WatchFeed::list() {
  const Reply reply = kube_.send("GET", collection_);
  if (!reply.ok()) return;
  std::map<std::string, Object> now;
  for (const Object& item : reply.body.items()) now[item.uid()] = item;
  for (const auto& [uid, object] : known_)
    if (now.count(uid) == 0) on_change_("DELETED", object);
  for (const auto& [uid, object] : now) on_change_("ADDED", object);
  known_ = std::move(now);
  resource_version_ = reply.body.resource_version();
}

void WatchFeed::watch() {
  // The server ends the watch after two seconds, so that the destructor never waits long; the next
  // watch continues from there.
  const std::string query =
      "?watch=1&allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion=" + resource_version_;
  const int status = kube_.watch(
      collection_ + query,
      [this](const std::string& type, const Object& object) {
        if (type == "ERROR") {
          resource_version_.clear();
          return false;
        }
        resource_version_ = object.resource_version();
        if (type == "BOOKMARK") return !stop_;
        if (type == "DELETED")
          known_.erase(object.uid());
        else
          known_[object.uid()] = object;
        on_change_(type, object);
        return !stop_;
      },
      milliseconds(10000));
  if (status != 200) resource_version_.clear();
}

}  // namespace berth::test
