// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_stillness.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apis/decode.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/queue_report.h"
#include "controller/queue/reconcile.h"

namespace berth::explore {
namespace {

template <class T>
void read_all(const sim::Store& store, Time wall, ClusterState& cluster) {
  const sim::ResourceType* type = sim::find_resource_type(kKind<T>.plural);
  if (type == nullptr) return;  // the simulation does not serve it
  for (const sim::ObjectPtr& object : store.list(*type)) {
    std::string text = object->dump();
    Result<T> read = decode_object<T>(text);
    if (!read) throw std::runtime_error(fmt::format("{}: {}", text, describe(read.error())));
    cluster.upsert(*std::move(read), wall);
  }
}

}  // namespace

std::string unstill_queues(const sim::Store& store, const Settings& settings, Time wall) {
  if (store.list(*sim::find_resource_type(kKind<GPUQueue>.plural)).empty()) return "";
  ClusterState cluster;
  Watched::each([&]<class T>() { read_all<T>(store, wall, cluster); });
  const Answers answers;
  for (const StatusUpdate& update : reconcile_queues({cluster, answers, settings, wall}).statuses)
    if (update.differs)
      return fmt::format("{} tells what is not so; it would be {}", update.object.str(),
                         update.body);
  const auto& index = cluster.view<queue::ClusterIndex>().facts();
  const queue::Survey survey(index, limits::kMaxPendingWorkloads);
  for (const auto& [name, workload] : index.workloads())
    if (workload.standing.pending && survey.outcome(workload).admitted_to)
      return fmt::format("{} waits, and could be admitted", name);
  return "";
}

}  // namespace berth::explore
