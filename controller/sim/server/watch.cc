// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/server/defaults.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

Watch::Watch(const Target& target, Selector selector, WatchSink sink, MonotonicTime end)
    : type_(target.type),
      namespace_(target.namespace_),
      name_(target.name),
      selector_(std::move(selector)),
      resource_version_(target.option("resourceVersion")),
      wants_initial_events_(target.flag("sendInitialEvents")),
      wants_bookmarks_(target.flag("allowWatchBookmarks")),
      sink_(std::move(sink)),
      end_(end) {}

void Watch::begin(const Store& store) {
  const std::int64_t from = parse_revision(resource_version_).value_or(0);
  seen_ = store.revision();
  if (wants_initial_events_) {
    // The real server waits three seconds until its cache has that version.
    if (from > store.revision())
      return send_error(version_too_large(from, store.revision()).status(), store.revision());
    return send_initial(store, wants_bookmarks_);
  }
  if (from == 0) return send_initial(store, false);
  if (from < store.compacted())
    return send_error(
        expired(fmt::format("too old resource version: {} ({})", from, store.compacted())).status(),
        store.revision());
  seen_ = from;
  for (const Change* change : store.since(from)) {
    if (ended_) return;
    on_change(*change);
  }
}

void Watch::send_initial(const Store& store, bool with_bookmark) {
  for (const ObjectPtr& object : store.list(*type_, namespace_)) {
    if (!name_.empty() && text_at(*object, {"metadata", "name"}) != name_) continue;
    if (!selector_.matches(*object)) continue;
    const std::string version = text_at(*object, {"metadata", "resourceVersion"});
    send_object("ADDED", *object, parse_revision(version).value_or(0), nullptr);
  }
  if (with_bookmark) send_bookmark(store.revision(), true);
}

bool Watch::concerns(const StoreKey& key) const {
  return key.type == type_ && (namespace_.empty() || key.namespace_ == namespace_) &&
         (name_.empty() || key.name == name_);
}

void Watch::on_change(const Change& change) {
  if (ended_ || change.revision <= seen_ || !concerns(change.key)) return;
  seen_ = change.revision;
  if (selector_.empty()) return sink_.on_frame(change.frame(), change.revision, &change);
  const bool was = change.before != nullptr && selector_.matches(*change.before);
  const bool is = change.kind != Change::Kind::kDeleted && selector_.matches(*change.after);
  if (is && (was || change.kind == Change::Kind::kAdded))
    return sink_.on_frame(change.frame(), change.revision, &change);
  if (is) return send_object("ADDED", *change.after, change.revision, &change);
  if (!was) return;
  if (change.kind == Change::Kind::kDeleted)
    return sink_.on_frame(change.frame(), change.revision, &change);
  // For this watcher the object is deleted, in the state that it saw last.
  json last = *change.before;
  last["metadata"]["resourceVersion"] = std::to_string(change.revision);
  send_object("DELETED", last, change.revision, &change);
}

void Watch::on_beat(const Store& store, MonotonicTime now) {
  if (ended_) return;
  if (end_.count() > 0 && now >= end_) return end();
  // After a restore the server's cache stays at a revision that is yet to come.
  seen_ = std::max(seen_, store.revision());
  if (wants_bookmarks_) send_bookmark(seen_, false);
}

void Watch::send_object(const char* type, const json& object, std::int64_t revision,
                        const Change* change) {
  sink_.on_frame(fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, to_text(object)),
                 revision, change);
}

void Watch::send_bookmark(std::int64_t revision, bool initial_events_end) {
  json object = {{"kind", type_->kind},
                 {"apiVersion", type_->api_version()},
                 {"metadata", {{"resourceVersion", std::to_string(revision)}}}};
  if (initial_events_end) object["metadata"]["annotations"]["k8s.io/initial-events-end"] = "true";
  send_object("BOOKMARK", object, revision, nullptr);
}

void Watch::send_error(const json& status, std::int64_t revision) {
  send_object("ERROR", status, revision, nullptr);
  end();
}

void Watch::end() {
  ended_ = true;
  if (sink_.on_end) sink_.on_end();
}

}  // namespace berth::sim
