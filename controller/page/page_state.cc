// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apis/base/time.h"
#include "controller/explain/top.h"
#include "controller/explain/top_costs.h"
#include "controller/explain/waiting_list.h"
#include "controller/page/page_nodes.h"
#include "controller/page/page_text.h"
#include "controller/page/viewed_cluster.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;
using Things = std::map<std::string, std::string>;

constexpr Duration kCostsOf = std::chrono::days(30);

void tell_time(Json& out, const char* name, const std::optional<Time>& at) {
  if (at) out[name] = format_time(*at);
}

void tell_ready(Json& out, const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions)
    if (condition.type == "Ready")
      out["ready"] = {{"status", condition.status},
                      {"reason", condition.reason},
                      {"message", condition.message}};
}

Json quotas_of(const GPUQueue& queue) {
  Json out = Json::array();
  for (const QuotaUsage& usage : queue.status.usage)
    out.push_back({{"resource", usage.resource},
                   {"pool", usage.pool},
                   {"nominal", usage.nominal},
                   {"used", usage.admitted},
                   {"borrowed", usage.borrowed},
                   {"asked", usage.pending}});
  return out;
}

Json pending_of(const GPUQueue& queue) {
  Json out = Json::array();
  for (const PendingWorkload& workload : queue.status.pending) {
    Json one = {{"workload", workload.workload},
                {"pods", workload.pods},
                {"position", workload.position},
                {"reason", workload.reason},
                {"message", workload.message}};
    tell_time(one, "since", workload.waiting_since);
    tell_time(one, "earliest", workload.earliest_start);
    tell_time(one, "latest", workload.latest_start);
    tell_time(one, "reserved", workload.reserved_from);
    out.push_back(std::move(one));
  }
  return out;
}

Things queues_of(const Snapshot& snapshot) {
  Things out;
  for (const auto& queue : snapshot.cluster.gpu_queues()) {
    const GPUQueueStatus& status = queue->status;
    Json one = {{"cohort", queue->spec.cohort_name},  {"stop", to_string(queue->spec.stop_policy)},
                {"admitted", status.totals.admitted}, {"waits", status.totals.pending},
                {"quotas", quotas_of(*queue)},        {"pending", pending_of(*queue)}};
    tell_time(one, "oldest", status.totals.oldest_pending);
    if (status.budget) {
      one["budget"] = {{"used", status.budget->used_gpu_hours},
                       {"remaining", status.budget->remaining_gpu_hours}};
      tell_time(one["budget"], "ends", status.budget->period_ends);
    }
    tell_ready(one, status.conditions);
    out[queue->meta.name] = compact(one);
  }
  return out;
}

Things layouts_of(const Snapshot& snapshot) {
  Things out;
  for (const auto& layout : snapshot.cluster.store<MIGLayout>()) {
    const MIGLayoutStatus& status = layout->status;
    Json details = Json::array();
    for (const NodeDetail& detail : status.details) {
      Json one = {{"node", detail.node},
                  {"phase", detail.phase},
                  {"reason", detail.reason},
                  {"message", detail.message}};
      tell_time(one, "since", detail.since);
      details.push_back(std::move(one));
    }
    Json one = {{"selected", status.nodes.selected},      {"updated", status.nodes.updated},
                {"inProgress", status.nodes.in_progress}, {"blocked", status.nodes.blocked},
                {"failed", status.nodes.failed},          {"pending", status.nodes.pending},
                {"details", std::move(details)}};
    tell_ready(one, status.conditions);
    out[layout->meta.name] = compact(one);
  }
  return out;
}

Things waiting_of(const Snapshot& snapshot, const Clues& clues) {
  Things out;
  for (const Explanation& item : list_waiting(snapshot, "", clues).items) {
    Json remedies = Json::array();
    for (const Explanation::Remedy& remedy : item.remedies)
      remedies.push_back({{"message", remedy.message}, {"line", remedy.line}});
    out[item.subject.str()] = compact(
        {{"reason", item.reason}, {"message", item.message}, {"remedies", std::move(remedies)}});
  }
  return out;
}

std::string table_of(const TopTable& table) {
  return compact({{"columns", table.columns}, {"rows", table.rows}});
}

// The pools that the viewer sees, with the GPUs that all pods hold there.
TopTable pools_of(const Snapshot& seen, const Snapshot& all) {
  TopTable table = top_pools(all);
  if (&seen.cluster == &all.cluster) return table;
  std::set<std::pair<std::string, std::string>> known;  // pool and resource, a row's first cells
  for (const auto& row : top_pools(seen).rows) known.emplace(row[0], row[1]);
  std::erase_if(table.rows, [&](const auto& row) { return !known.contains({row[0], row[1]}); });
  return table;
}

constexpr const char* kWork[] = {"pods", "jobs.batch"};

// Whether the viewer may list pods and Jobs in all namespaces, in some, or in none.
std::string waiting_of_whom(const Clues& clues, bool in_some) {
  const bool in_all = std::ranges::all_of(kWork, [&](const char* it) { return clues.knows(it); });
  return in_all ? "all" : in_some ? "some" : "none";
}

PageState state_of(const Snapshot& seen, const Clues& clues, const Snapshot& all, bool in_some) {
  PageState state;
  state.values["waitingOf"] = compact(waiting_of_whom(clues, in_some));
  state.values["takenAt"] = compact(format_time(seen.now));
  state.values["pools"] = table_of(pools_of(seen, all));
  const Time since = seen.now - kCostsOf;
  state.values["costs"] = table_of(top_costs(seen, CostBy::kNamespace, since));
  state.values["poolCosts"] = table_of(top_costs(seen, CostBy::kPool, since));
  state.things["nodes"] = page_nodes(seen, all);
  state.things["queues"] = queues_of(seen);
  state.things["layouts"] = layouts_of(seen);
  state.things["waiting"] = waiting_of(seen, clues);
  return state;
}

}  // namespace

PageState page_state(const Snapshot& snapshot, const Clues& clues) {
  const bool in_some = std::ranges::all_of(kWork, [&](const char* resource) {
    const Unread* unread = clues.find_unread(resource);
    return unread == nullptr || !unread->instead.empty();
  });
  return state_of(snapshot, clues, snapshot, in_some);
}

PageState page_state(const Snapshot& all, const ViewerRights& rights) {
  const ViewedCluster viewed(all, rights);
  const bool in_some =
      std::ranges::all_of(kWork, [&](const char* resource) { return rights.somewhere(resource); });
  return state_of(viewed.snapshot(), viewed.clues(), all, in_some);
}

}  // namespace berth
