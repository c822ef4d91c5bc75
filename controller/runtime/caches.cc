// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/caches.h"

#include "controller/runtime/history_guard.h"

namespace berth {

Caches::Caches(ApiClient& client, Log& log, InformerObserver& observer, Hooks hooks,
               std::uint64_t seed)
    : client_(client), log_(log), observer_(observer), hooks_(std::move(hooks)), seed_(seed) {}

InformerBase::Callbacks Caches::callbacks() {
  InformerBase::Callbacks callbacks;
  callbacks.on_cached = hooks_.on_cached;
  callbacks.on_synced = [this] {
    if (laggards().empty()) hooks_.on_synced();
  };
  callbacks.on_fatal = hooks_.on_fatal;
  return callbacks;
}

void Caches::start() {
  for (const auto& informer : informers_) informer->start();
  beside_.spawn(guard_history(
      client_, [this] { return namespaces_version(); }, hooks_.on_fatal, beside_.token()));
}

void Caches::stop() {
  for (const auto& informer : informers_) informer->stop();
  beside_.stop(nullptr);
}

std::string Caches::namespaces_version() const {
  for (const auto& informer : informers_)
    if (informer->kind().kind == kKind<Namespace>.kind) return informer->machine().resource_version;
  return "";
}

std::vector<std::string> Caches::laggards() const {
  std::vector<std::string> names;
  for (const auto& informer : informers_)
    if (!informer->synced())
      names.push_back(informer->name() + " (" + to_string(informer->machine().state) + ")");
  return names;
}

std::vector<ReadinessCheck> Caches::readiness() const {
  std::vector<ReadinessCheck> checks;
  for (const auto& informer : informers_) {
    ReadinessCheck check{.name = "informer-" + informer->name()};
    if (!informer->synced())
      check.problem = std::string("not synced: ") + to_string(informer->machine().state);
    checks.push_back(std::move(check));
  }
  return checks;
}

std::optional<CachedVersion> Caches::version(const ObjectRef& object) const {
  std::optional<CachedVersion> version;
  Watched::each([&]<class T>() {
    if (object.kind != kKind<T>.kind) return;
    if (const T* found = cluster_.store<T>().find(object.namespace_, object.name))
      version = {found->meta.uid, found->meta.resource_version,
                 found->meta.deletion_timestamp.has_value()};
  });
  return version;
}

void Caches::refetch(const ObjectRef& object) {
  log_.debug("fetching past the watch", {{"object", object.str()}});
  for (const auto& informer : informers_) {
    ObjectMeta meta;
    meta.namespace_ = object.namespace_;
    meta.name = object.name;
    if (informer->kind().kind != object.kind || !informer->scope().holds(meta)) continue;
    informer->refetch(ObjectKey{object.namespace_, object.name});
    return;
  }
}

}  // namespace berth
