// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/printable.h"
#include "apis/base/quantity.h"
#include "apis/base/time.h"
#include "controller/queue/facts/amount.h"
#include "controller/queue/index/cluster_index.h"

namespace berth {
namespace {

constexpr char kTopApiVersion[] = "top.gpu.berth.dev/v1";

std::string age(const Snapshot& snapshot, const std::optional<Time>& since) {
  if (!since) return "";
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(snapshot.now - *since);
  return format_duration_short(std::max(waited, std::chrono::seconds(0)));
}

struct Holding {
  std::int64_t admitted = 0;
  std::int64_t pending = 0;
  std::map<std::string, std::pair<queue::ResourceId, std::int64_t>> held;  // by resource
  std::optional<Time> oldest;
};

std::string print(const Holding& holding) {
  std::string text;
  for (const auto& [resource, amount] : holding.held)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        queue::format_amount(amount.second, amount.first), resource);
  return text;
}

void count(const queue::Workload& workload, const queue::Catalog& catalog, Holding& out) {
  const queue::Standing& standing = workload.standing;
  out.admitted += standing.admitted && !standing.waits ? 1 : 0;
  for (const queue::Charge& charge : standing.charges) {
    const queue::ResourceId resource = catalog.key_parts(charge.key).first;
    auto& held = out.held[catalog.resource_name(resource)];
    held = {resource, held.second + charge.total};
  }
  if (!standing.pending && !standing.waits) return;
  ++out.pending;
  const Time since{std::chrono::microseconds(standing.created)};
  if (!out.oldest || since < *out.oldest) out.oldest = since;
}

// "Job/team-a/train" → "team-a".
std::string_view namespace_in(std::string_view workload) {
  workload.remove_prefix(workload.find('/') + 1);
  return workload.substr(0, workload.find('/'));
}

struct PoolRow {
  std::int64_t nodes = 0;
  std::int64_t out = 0;  // nodes on which no new pod can start
  Quantity offered;      // by the other nodes
  Quantity promised;     // the sum of nominal quotas
  Quantity used;
};

void add(Quantity& sum, const std::string& amount) {
  if (const Result<Quantity> parsed = Quantity::parse(amount)) sum += *parsed;
}

std::string padded(const TopTable& table, std::size_t row, std::size_t column, std::size_t width) {
  const std::string& cell = row == 0 ? table.columns[column] : table.rows[row - 1][column];
  return column + 1 == table.columns.size() ? cell : fmt::format("{:<{}}", cell, width + 2);
}

// A column's name, without the locale.
std::string in_lower_case(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

}  // namespace

TopTable top_queues(const Snapshot& snapshot) {
  TopTable table{"QueueTop",
                 {"QUEUE", "COHORT", "POOL", "RESOURCE", "NOMINAL", "USED", "BORROWED", "ASKED",
                  "ADMITTED", "PENDING", "OLDEST"},
                 {}};
  std::map<std::string, const GPUQueue*> by_name;
  for (const auto& queue : snapshot.cluster.gpu_queues()) by_name[queue->meta.name] = queue.get();
  for (const auto& [name, queue] : by_name) {
    const QueueTotals& totals = queue->status.totals;
    for (const QuotaUsage& usage : queue->status.usage)
      table.rows.push_back({name, queue->spec.cohort_name, usage.pool, usage.resource,
                            usage.nominal, usage.admitted, usage.borrowed, usage.pending,
                            std::to_string(totals.admitted), std::to_string(totals.pending),
                            age(snapshot, totals.oldest_pending)});
  }
  return table;
}

TopTable top_namespaces(const Snapshot& snapshot, std::string_view namespace_) {
  TopTable table{
      "NamespaceTop", {"NAMESPACE", "QUEUE", "HOLDS", "ADMITTED", "PENDING", "OLDEST"}, {}};
  const auto& facts = snapshot.cluster.view<queue::ClusterIndex>().facts();
  std::map<std::pair<std::string, std::string>, Holding> holdings;
  for (const auto& [name, workload] : facts.workloads()) {
    const std::string where(namespace_in(name));
    if (!namespace_.empty() && where != namespace_) continue;
    const queue::Standing& standing = workload.standing;
    if (!standing.pending && standing.charges.empty()) continue;
    const queue::QueueId of =
        standing.charges.empty()
            ? standing.queue
            : facts.catalog().holder_parts(standing.charges.front().holder).first;
    count(workload, facts.catalog(), holdings[{where, facts.catalog().queue_name(of)}]);
  }
  for (const auto& [of, holding] : holdings)
    table.rows.push_back({of.first, of.second, print(holding), std::to_string(holding.admitted),
                          std::to_string(holding.pending), age(snapshot, holding.oldest)});
  return table;
}

TopTable top_pools(const Snapshot& snapshot) {
  TopTable table{"PoolTop", {"POOL", "RESOURCE", "NODES", "OUT", "OFFERED", "NOMINAL", "USED"}, {}};
  std::map<std::pair<std::string, std::string>, PoolRow> rows;
  for (const auto& node : snapshot.cluster.nodes()) {
    const std::string pool = node->meta.labels.get(names::kPoolLabel).str();
    if (pool.empty()) continue;
    for (const auto& [resource, amount] : gpus_in(node->allocatable)) {
      PoolRow& row = rows[{pool, resource.str()}];
      ++row.nodes;
      if (node->unschedulable || !node->ready)
        ++row.out;
      else
        row.offered += amount;
    }
  }
  for (const auto& queue : snapshot.cluster.gpu_queues())
    for (const QuotaUsage& usage : queue->status.usage) {
      PoolRow& row = rows[{usage.pool, usage.resource}];
      add(row.promised, usage.nominal), add(row.used, usage.admitted);
    }
  for (const auto& [of, row] : rows)
    table.rows.push_back({of.first, of.second, std::to_string(row.nodes), std::to_string(row.out),
                          row.offered.str(), row.promised.str(), row.used.str()});
  return table;
}

std::string print_text(const TopTable& table) {
  if (table.rows.empty()) return "Nothing to tell.\n";
  TopTable shown = table;
  std::vector<std::size_t> widths;
  for (const std::string& column : shown.columns) widths.push_back(column.size());
  for (auto& row : shown.rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = row[i].empty() ? "-" : printable(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (std::size_t row = 0; row <= shown.rows.size(); ++row) {
    for (std::size_t column = 0; column < shown.columns.size(); ++column)
      text += padded(shown, row, column, widths[column]);
    text += '\n';
  }
  return text;
}

std::string print_json(const TopTable& table) {
  nlohmann::ordered_json out = {{"apiVersion", kTopApiVersion},
                                {"kind", table.kind},
                                {"items", nlohmann::ordered_json::array()}};
  for (const auto& row : table.rows) {
    nlohmann::ordered_json item;
    for (std::size_t i = 0; i < row.size(); ++i) {
      item[in_lower_case(table.columns[i])] = row[i];
    }
    out["items"].push_back(std::move(item));
  }
  return out.dump(2) + "\n";
}

}  // namespace berth
