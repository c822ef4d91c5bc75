// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {
namespace {

const char* to_string(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kAdded:
      return "ADDED";
    case Change::Kind::kModified:
      return "MODIFIED";
    case Change::Kind::kDeleted:
      return "DELETED";
  }
  return "?";
}

bool within(const StoreKey& key, std::string_view namespace_) {
  return namespace_.empty() || key.namespace_ == namespace_;
}

}  // namespace

std::string StoreKey::str() const {
  std::string text(type == nullptr ? "?" : type->kind);
  if (!namespace_.empty()) text += "/" + namespace_;
  return text + "/" + name;
}

const std::string& Change::frame() const {
  if (frame_ == nullptr) {
    frame_ = std::make_shared<const std::string>(R"({"type":")" + std::string(to_string(kind)) +
                                                 R"(","object":)" + to_text(*after) + "}\n");
  }
  return *frame_;
}

std::string_view Change::written_object() const {
  if (frame_ == nullptr) return {};
  constexpr std::string_view kBefore = "\"object\":", kAfter = "}\n";
  const std::size_t from = frame_->find(kBefore) + kBefore.size();
  return std::string_view(*frame_).substr(from, frame_->size() - from - kAfter.size());
}

ObjectPtr Store::find(const StoreKey& key) const {
  const auto kind = objects_.find(key.type);
  if (kind == objects_.end()) return nullptr;
  const auto found = kind->second.find(key);
  return found == kind->second.end() ? nullptr : found->second;
}

std::vector<ObjectPtr> Store::list(const ResourceType& type, std::string_view namespace_) const {
  std::vector<ObjectPtr> objects;
  const auto kind = objects_.find(&type);
  if (kind == objects_.end()) return objects;
  auto at = namespace_.empty() ? kind->second.begin()
                               : kind->second.lower_bound({&type, std::string(namespace_), ""});
  for (; at != kind->second.end() && within(at->first, namespace_); ++at)
    objects.push_back(at->second);
  return objects;
}

std::vector<ObjectPtr> Store::list_at(const ResourceType& type, std::string_view namespace_,
                                      std::int64_t revision) const {
  std::map<StoreKey, ObjectPtr> then;
  if (const auto kind = objects_.find(&type); kind != objects_.end()) {
    for (const auto& [key, object] : kind->second)
      if (within(key, namespace_)) then.emplace(key, object);
  }
  for (auto change = history_.rbegin(); change != history_.rend(); ++change) {
    if (change->revision <= revision) break;
    if (change->key.type != &type || !within(change->key, namespace_)) continue;
    if (change->before == nullptr)
      then.erase(change->key);
    else
      then[change->key] = change->before;
  }
  std::vector<ObjectPtr> objects;
  for (auto& [key, object] : then) objects.push_back(std::move(object));
  return objects;
}

ObjectPtr Store::put(const StoreKey& key, nlohmann::json object, const std::string& user) {
  object["metadata"]["resourceVersion"] = std::to_string(++revision_);
  ObjectPtr& slot = objects_[key.type][key];
  ObjectPtr before = std::exchange(slot, std::make_shared<const nlohmann::json>(std::move(object)));
  const ObjectPtr after = slot;
  const Change::Kind kind = before == nullptr ? Change::Kind::kAdded : Change::Kind::kModified;
  record({.kind = kind,
          .key = key,
          .revision = revision_,
          .before = std::move(before),
          .after = after,
          .user = user});
  return after;
}

void Store::erase(const StoreKey& key, const std::string& user) {
  const auto kind = objects_.find(key.type);
  if (kind == objects_.end()) return;
  const auto found = kind->second.find(key);
  if (found == kind->second.end()) return;
  ObjectPtr before = found->second;
  kind->second.erase(found);
  nlohmann::json last = *before;
  last["metadata"]["resourceVersion"] = std::to_string(++revision_);
  record({.kind = Change::Kind::kDeleted,
          .key = key,
          .revision = revision_,
          .before = std::move(before),
          .after = std::make_shared<const nlohmann::json>(std::move(last)),
          .user = user});
}

void Store::record(Change change) {
  // Present watchers have the frame; a later watcher makes it again.
  if (!history_.empty()) history_.back().frame_.reset();
  history_.push_back(std::move(change));
  for (std::size_t i = 0; i < observers_.size(); ++i) observers_[i](history_.back());
}

void Store::compact(std::int64_t revision) {
  compacted_ = std::max(compacted_, std::min(revision, revision_));
  while (!history_.empty() && history_.front().revision <= compacted_) history_.pop_front();
}

void Store::restore(const Backup& backup) {
  revision_ = backup.revision;
  compacted_ = std::min(compacted_, revision_);
  while (!history_.empty() && history_.back().revision > revision_) history_.pop_back();
  std::map<StoreKey, ObjectPtr> then;
  for (const auto& [type, objects] : backup.objects) then.insert(objects.begin(), objects.end());
  for (const auto& [type, objects] : objects_)
    for (const auto& [key, object] : objects) then.try_emplace(key, nullptr);
  for (auto& [key, object] : then) put_back(key, std::move(object));
}

void Store::put_back(const StoreKey& key, ObjectPtr object) {
  ObjectPtr before = find(key);
  if (before == object) return;
  Change::Kind kind = before == nullptr ? Change::Kind::kAdded : Change::Kind::kModified;
  if (object == nullptr) {
    kind = Change::Kind::kDeleted;
    objects_[key.type].erase(key);
  } else {
    objects_[key.type][key] = object;
  }
  const Change change{.kind = kind,
                      .key = key,
                      .revision = revision_,
                      .before = before,
                      .after = object == nullptr ? before : object,
                      .user = kRestorer};
  for (std::size_t i = 0; i < observers_.size(); ++i) observers_[i](change);
}

std::vector<const Change*> Store::since(std::int64_t revision) const {
  auto at = std::ranges::upper_bound(history_, revision, {}, &Change::revision);
  std::vector<const Change*> changes;
  for (; at != history_.end(); ++at) changes.push_back(&*at);
  return changes;
}

void Store::observe(std::function<void(const Change&)> observer) {
  observers_.push_back(std::move(observer));
}

}  // namespace berth::sim
