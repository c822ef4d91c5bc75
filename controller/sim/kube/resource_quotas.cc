// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/resource_quotas.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/kube/workload.h"
#include "controller/sim/server/resource_quota.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kResync = 5min;

}  // namespace

ResourceQuotas::ResourceQuotas(Simulation& simulation, const KubeOptions& options)
    : simulation_(simulation),
      client_(simulation.server(), "resourcequota-controller"),
      queue_(simulation, options.controller_lag, [this](const StoreKey& key) { look_at(key); }) {}

void ResourceQuotas::on_change(const Change& change) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  if (is(change.key, "resourcequotas")) {
    if (!deleted &&
        (change.before == nullptr || differ(*change.before, *change.after, {"spec", "hard"})))
      queue_.wake(change.key);
    return;
  }
  if (!is(change.key, "pods")) return;
  const bool ended =
      change.before != nullptr && !is_finished(*change.before) && is_finished(*change.after);
  if (!deleted && !ended) return;
  for (const ObjectPtr& quota : client_.list("resourcequotas", change.key.namespace_))
    queue_.wake(key_of("resourcequotas", *quota));
}

void ResourceQuotas::look_at(const StoreKey& key) {
  const ObjectPtr quota = simulation_.store().find(key);
  if (quota == nullptr) return;
  Amounts taken;
  for (const ObjectPtr& pod : client_.list("pods", key.namespace_))
    add(taken, usage_of(*pod, simulation_.clock().wall()));
  json status = {{"hard", json::object()}, {"used", json::object()}};
  if (const json* hard = find_at(*quota, {"spec", "hard"})) {
    status["hard"] = *hard;
    for (const auto& [name, most] : hard->items())
      if (bounds_pods(name)) status["used"][name] = amount_text(name, taken[name]);
  }
  // A merge patch keeps what it does not name, so this names limits that were removed.
  for (const char* part : {"hard", "used"})
    if (const json* old = find_at(*quota, {"status", part}))
      for (const auto& [name, amount] : old->items())
        if (!status[part].contains(name)) status[part][name] = nullptr;
  write_status(client_, key, *quota, std::move(status));
  queue_.wake(key, kResync);
}

}  // namespace berth::sim
