// SPDX-License-Identifier: Apache-2.0
// Caches: the cluster's state, and the informers that fill it and keep it current.
//
// Loop thread only. It must outlive its informers' requests: stop() them and run the loop until
// they have ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/core/cluster_state.h"
#include "controller/core/plan.h"
#include "controller/io/log.h"
#include "controller/io/task_group.h"
#include "controller/runtime/informer.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

// One line of /readyz.
struct ReadinessCheck {
  std::string name;
  std::optional<std::string> problem;
};

class Caches {
 public:
  struct Hooks {
    // See InformerBase::Callbacks.
    std::function<void(std::string_view kind, const ObjectMeta& meta)> on_cached;
    std::function<void()> on_synced;  // the last informer has synced
    std::function<void(std::string why)> on_fatal;
  };
  Caches(ApiClient& client, Log& log, InformerObserver& observer, Hooks hooks, std::uint64_t seed);

  template <class T>
  void add(std::string name, InformerScope scope, typename Informer<T>::OnChange on_change,
           bool optional) {
    informers_.push_back(std::make_unique<Informer<T>>(
        client_, cluster_, log_, observer_, std::move(name), std::move(scope), optional,
        callbacks(), std::move(on_change), seed_ + informers_.size()));
  }
  void start();
  void stop();

  const ClusterState& cluster() const { return cluster_; }
  // The informers that have not synced, each with its state.
  std::vector<std::string> laggards() const;
  // One check for each informer: whether it has synced.
  std::vector<ReadinessCheck> readiness() const;
  // The version of the API server's history at the namespace informer; empty: it has not synced.
  std::string namespaces_version() const;
  // nullopt for an object that is absent.
  std::optional<CachedVersion> version(const ObjectRef& object) const;
  // GETs one object from the server, if the watch seems to lag.
  void refetch(const ObjectRef& object);

 private:
  InformerBase::Callbacks callbacks();

  ApiClient& client_;
  Log& log_;
  InformerObserver& observer_;
  const Hooks hooks_;
  const std::uint64_t seed_;
  ClusterState cluster_;
  std::vector<std::unique_ptr<InformerBase>> informers_;
  TaskGroup beside_{client_.loop()};
};

}  // namespace berth
