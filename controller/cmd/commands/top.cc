// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apis/base/names.h"
#include "controller/cmd/cluster/cluster_dump.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/line/console.h"
#include "controller/explain/top.h"
#include "controller/explain/top_costs.h"
#include "controller/explain/top_usage.h"
#include "controller/preview/yaml.h"

namespace berth {
namespace {

constexpr std::array kTables = {"queues", "namespaces", "pools"};

CostBy cost_by(const std::string& by) {
  if (by == "namespace") return CostBy::kNamespace;
  if (by == "queue") return CostBy::kQueue;
  return by == "owner" ? CostBy::kOwner : CostBy::kPool;
}

UsageBy usage_by(const std::string& by) {
  if (by == "pool") return UsageBy::kPool;
  return by == "queue" ? UsageBy::kQueue : UsageBy::kNamespace;
}

Result<TopTable> table_of(const TopFlags& flags, const Snapshot& snapshot,
                          const std::string& namespace_) {
  if (flags.cost || !flags.by.empty()) {
    const Result<Time> since = parse_since(flags.since, snapshot.now);
    if (!since) return since.error();
    if (flags.cost) return top_costs(snapshot, cost_by(flags.by), *since);
    if (flags.by == "owner") return invalid_spec("--by", "is owner, which only --cost tells of");
    return top_usage(snapshot, usage_by(flags.by), *since);
  }
  if (flags.of == "queues") return top_queues(snapshot);
  if (flags.of == "pools") return top_pools(snapshot);
  return top_namespaces(snapshot, namespace_);
}

// The resource that the table needs. Users who may not read others' pods see only their own.
std::string_view needed_for(const std::string& of) {
  return of == "pools" ? "nodes" : "gpuqueues.gpu.berth.dev";
}

Result<std::string> namespace_for(const TopFlags& flags) {
  if (flags.of != "namespaces" || flags.all_namespaces) return std::string();
  if (!flags.namespace_.empty()) return flags.namespace_;
  if (!flags.snapshot.empty()) return std::string();
  return namespace_of(flags.connection);
}

}  // namespace

FlagTable top_flags(TopFlags& flags) {
  FlagTable table = {
      {.name = "TABLE",
       .help = "queues (what each holds of its quotas, and who waits), namespaces (what they hold "
               "and wait for) or pools (what their nodes offer, and what was promised)",
       .kind = Flag::Kind::kWords,
       .set = [&flags](const std::string& text) -> Result<void> {
         if (std::ranges::find(kTables, text) == kTables.end())
           return invalid_spec("TABLE",
                               fmt::format("is {}; write queues, namespaces or pools", text));
         flags.of = text;
         return {};
       },
       .show = [] { return std::string("queues"); }},
      text_flag("-n,--namespace", flags.namespace_,
                "of namespaces: this one; else the one of the kubeconfig's context"),
      switch_flag("-A,--all-namespaces", flags.all_namespaces, "of namespaces: all"),
      choice_flag("--by", flags.by, {"queue", "namespace", "pool", "owner"},
                  "GPU hours that each queue, namespace or pool has used, instead of a table; with "
                  "--cost also by owner"),
      switch_flag("--cost", flags.cost,
                  "what GPUs have cost, by pool if --by says nothing else: at work, idle, free"),
      text_flag("--since", flags.since,
                "of --by and --cost: since then, as 24h, 7d or 2026-11-01; days count whole"),
      file_flag("--snapshot", flags.snapshot,
                "look into this file, as `berth snapshot` wrote it, instead of a live cluster"),
      choice_flag("-o,--output", flags.output, {"text", "json", "yaml"},
                  "how the table is written"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  return table;
}

int run_top(const TopFlags& flags) {
  const Result<std::string> namespace_ = namespace_for(flags);
  if (!namespace_) return complain("berth top", namespace_.error());
  const DumpQuery query{.settings = flags.settings,
                        .namespace_ = *namespace_,
                        .workloads = flags.of == "namespaces" || !flags.by.empty(),
                        .tolerant = true};
  const Result<ClusterDump> read = read_cluster(flags.snapshot, flags.connection, query);
  if (!read) return complain("berth top", read.error());
  const Dump& dump = read->dump;
  if (const Unread* unread = dump.clues.find_unread(needed_for(flags.of)))
    return complain("berth top", {.message = fmt::format(
                                      "this account may not list {}: bind it to ClusterRole "
                                      "berth-why, or set the chart's rbac.everyoneReadsQueues",
                                      unread->resource)});
  const Answers answers;
  const Snapshot snapshot{.cluster = dump.cluster,
                          .answers = answers,
                          .settings = flags.settings,
                          .now = dump.taken_at,
                          .offline = true};
  if (const Unread* unread = dump.clues.find_unread("configmaps");
      unread != nullptr && (flags.cost || !flags.by.empty()) &&
      unread->namespace_ == flags.settings.berth_namespace)
    return complain("berth top", {.message = fmt::format(
                                      "this account may not read ConfigMap {} in {}: bind it "
                                      "to Role berth-snapshot",
                                      flags.cost ? names::kCostsConfigMap : names::kUsageConfigMap,
                                      unread->namespace_)});
  const Result<TopTable> told = table_of(flags, snapshot, *namespace_);
  if (!told) return complain("berth top", told.error());
  const TopTable& table = *told;
  put(flags.output == "text"   ? print_text(table)
      : flags.output == "json" ? print_json(table)
                               : json_to_yaml(print_json(table)));
  return 0;
}

}  // namespace berth
