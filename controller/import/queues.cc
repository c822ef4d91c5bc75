// SPDX-License-Identifier: Apache-2.0
#include "controller/import/queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/base/names.h"
#include "apis/kinds/mig_layout.h"
#include "controller/import/fitted_name.h"

namespace berth {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxCohort = 63;
constexpr char kNamespaceName[] = "kubernetes.io/metadata.name";
constexpr char kKueueLabel[] = "kueue.x-k8s.io/queue-name";
constexpr char kDefaultName[] = "default";

std::string queue_name(const std::string& name) {
  return fitted_name(name, limits::kMaxQueueName, NameGrammar::kSubdomain);
}

std::string cohort_name(const std::string& name) {
  return name.empty() ? "" : fitted_name(name, kMaxCohort, NameGrammar::kLabel);
}

// Restricts the ClusterQueue's selector to the namespaces of its LocalQueues.
std::string with_namespaces(const std::string& selector,
                            const std::vector<std::string>& namespaces) {
  OrderedJson json = OrderedJson::parse(selector);
  if (namespaces.size() == 1 &&
      !(json.contains("matchLabels") && json["matchLabels"].contains(kNamespaceName))) {
    json["matchLabels"][kNamespaceName] = namespaces.front();
  } else {
    json["matchExpressions"].push_back(
        {{"key", kNamespaceName}, {"operator", "In"}, {"values", namespaces}});
  }
  return json.dump();
}

class QueueImport {
 public:
  QueueImport(const KueueObjects& kueue, const PoolNames& pools, FlavorUses& uses,
              ImportReport& report)
      : kueue_(kueue), pools_(pools), uses_(uses), report_(report) {
    for (const LocalQueue& local : kueue.local_queues)
      locals_[local.cluster_queue].push_back(&local);
  }

  std::vector<QueueDraft> run() {
    for (const ClusterQueue& queue : kueue_.cluster_queues) add(queue);
    for (const Cohort& cohort : kueue_.cohorts) add(cohort);
    for (const LocalQueue& local : kueue_.local_queues) tell_orphan(local);
    std::ranges::sort(drafts_, {}, &QueueDraft::name);
    return std::move(drafts_);
  }

 private:
  void add(const ClusterQueue& queue) {
    QueueDraft draft{.name = queue_name(queue.name),
                     .cohort = cohort_name(queue.cohort),
                     .sources = {queue.source},
                     .cluster_queue = &queue,
                     .namespace_selector = queue.namespace_selector};
    draft.quotas =
        import_quotas(*queue.source, queue.groups, !queue.cohort.empty(), pools_, uses_, report_);
    if (draft.quotas.empty())
      return report_.lose(*queue.source, "",
                          "it has no quota of GPUs or of another extended resource; its workloads "
                          "need no GPUQueue");
    if (draft.name != queue.name)
      report_.ask(*queue.source, "metadata.name",
                  fmt::format("becomes GPUQueue {}: a queue's name may have {} characters, as pods "
                              "carry it in a label",
                              draft.name, limits::kMaxQueueName));
    if (draft.cohort != queue.cohort)
      report_.ask(*queue.source, "spec",
                  fmt::format("its cohort {} becomes {}: a cohortName is one label of at most {} "
                              "characters",
                              queue.cohort, draft.cohort, kMaxCohort));
    made_.insert(queue.name);
    let_in(queue, draft);
    drafts_.push_back(std::move(draft));
  }

  // Converts a Cohort's own quota to a queue that lends it and selects no namespace.
  void add(const Cohort& cohort) {
    std::vector<QuotaSpec> quotas =
        import_quotas(*cohort.source, cohort.groups, /*limited=*/true, pools_, uses_, report_);
    if (quotas.empty()) return;
    for (QuotaSpec& quota : quotas) quota.borrowing_limit = quota.lending_limit = std::nullopt;
    const auto taken = [&](const std::string& name) {
      return std::ranges::any_of(kueue_.cluster_queues,
                                 [&](const ClusterQueue& queue) { return queue.name == name; });
    };
    std::string name = cohort.name;
    while (taken(name)) name += "-cohort";
    drafts_.push_back({.name = queue_name(name),
                       .cohort = cohort_name(cohort.name),
                       .sources = {cohort.source},
                       .quotas = std::move(quotas)});
  }

  void let_in(const ClusterQueue& queue, QueueDraft& draft) {
    if (kueue_.local_queues.empty()) {
      if (queue.namespace_selector)
        report_.ask(*queue.source, "spec.namespaceSelector",
                    "there is no LocalQueue among the files, so every namespace that it selects "
                    "may use the queue; with the LocalQueues only theirs may");
      return;
    }
    const std::vector<const LocalQueue*>& locals = locals_[queue.name];
    for (const LocalQueue* local : locals) draft.sources.push_back(local->source);
    if (!queue.namespace_selector || locals.empty()) {
      draft.namespace_selector.reset();
      report_.ask(*queue.source, queue.namespace_selector ? "" : "spec.namespaceSelector",
                  locals.empty() ? "no LocalQueue leads to it: the queue lends, and runs nothing"
                                 : "it is not set, so the queue takes workloads from no namespace, "
                                   "here as in Kueue; it lends, and runs nothing");
      return;
    }
    select_namespaces(locals, draft);
    for (const LocalQueue* local : locals)
      if (std::ranges::binary_search(draft.namespaces, local->namespace_))
        tell_label(*local, draft);
  }

  void select_namespaces(const std::vector<const LocalQueue*>& locals, QueueDraft& draft) {
    std::set<std::string> all, with_default;
    for (const LocalQueue* local : locals) {
      all.insert(local->namespace_);
      if (local->name == kDefaultName) with_default.insert(local->namespace_);
    }
    draft.default_queue = with_default == all;
    for (const std::string& ns : all)
      if (draft.namespaces.size() < limits::kMaxSelectorValues) draft.namespaces.push_back(ns);
    draft.namespace_selector = with_namespaces(*draft.namespace_selector, draft.namespaces);
    for (const LocalQueue* local : locals) {
      if (!std::ranges::binary_search(draft.namespaces, local->namespace_))
        report_.lose(
            *local->source, "metadata.namespace",
            fmt::format("a selector takes {} names; give all namespaces of GPUQueue/{} one "
                        "label, and write that into its namespaceSelector",
                        limits::kMaxSelectorValues, draft.name));
      else if (local->name == kDefaultName && !draft.default_queue)
        report_.lose(*local->source, "metadata.name",
                     fmt::format("GPUQueue/{} is the default of some of its namespaces only; "
                                 "label the workloads of this one",
                                 draft.name));
    }
  }

  void tell_label(const LocalQueue& local, const QueueDraft& draft) {
    std::string text =
        fmt::format("on workloads of namespace {}, label {}: {} becomes {}: {}", local.namespace_,
                    kKueueLabel, local.name, names::kQueueLabel, draft.name);
    if (draft.default_queue && local.name == kDefaultName)
      text += ", and without a label it is used too";
    report_.ask(*local.source, "metadata.name", std::move(text));
  }

  void tell_orphan(const LocalQueue& local) {
    if (made_.contains(local.cluster_queue)) return;
    const bool known = std::ranges::any_of(kueue_.cluster_queues, [&](const ClusterQueue& queue) {
      return queue.name == local.cluster_queue;
    });
    report_.lose(
        *local.source, "spec.clusterQueue",
        fmt::format("ClusterQueue {} {}", local.cluster_queue,
                    known ? "has no GPUQueue" : "is not among the files; import the two together"));
  }

  const KueueObjects& kueue_;
  const PoolNames& pools_;
  FlavorUses& uses_;
  ImportReport& report_;
  std::map<std::string, std::vector<const LocalQueue*>> locals_;
  std::set<std::string> made_;  // ClusterQueues with a GPUQueue
  std::vector<QueueDraft> drafts_;
};

OrderedJson write_quotas(const std::vector<QuotaSpec>& quotas) {
  OrderedJson list = OrderedJson::array();
  for (const QuotaSpec& quota : quotas) {
    OrderedJson& item = list.emplace_back();
    item["resource"] = quota.resource;
    item["pool"] = quota.pool;
    item["nominalQuota"] = quota.nominal_quota;
    if (quota.borrowing_limit) item["borrowingLimit"] = *quota.borrowing_limit;
    if (quota.lending_limit) item["lendingLimit"] = *quota.lending_limit;
  }
  return list;
}

// The weight as text: "2", "0.125".
std::string write_weight(const ClusterQueue& queue, ImportReport& report) {
  constexpr std::int64_t kMostThousandths = 999'999;
  const std::int64_t thousandths =
      std::min(queue.weight->thousandths_rounded_up(), kMostThousandths);
  std::string text = fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  if (Result<Quantity> written = Quantity::parse(text); !written || *written != *queue.weight)
    report.alter(*queue.source, "spec.fairSharing.weight",
                 fmt::format("{} is no weight from 0 to 999.999 in thousandths; {} is written",
                             queue.weight->str(), text));
  return text;
}

void write_preemption(const ClusterQueue& queue, OrderedJson& spec, ImportReport& report) {
  constexpr char kNever[] = "Never";
  if (queue.within_queue != kNever) spec["preemption"]["withinQueue"] = "LowerPriority";
  if (queue.within_queue == "LowerOrNewerEqualPriority")
    report.alter(*queue.source, "spec.preemption.withinClusterQueue",
                 "of equal priority nobody is preempted; LowerPriority is written");
  if (queue.reclaim_within_cohort == kNever) return;
  if (queue.cohort.empty())
    report.lose(*queue.source, "spec.preemption.reclaimWithinCohort",
                "without a cohort nothing has been lent that it could reclaim");
  else
    spec["preemption"]["reclaimWithinCohort"] = queue.reclaim_within_cohort;
}

}  // namespace

std::vector<QueueDraft> draft_queues(const KueueObjects& kueue, const PoolNames& pools,
                                     FlavorUses& uses, ImportReport& report) {
  return QueueImport(kueue, pools, uses, report).run();
}

std::string write_queue(const QueueDraft& draft, ImportReport& report) {
  OrderedJson object;
  object["apiVersion"] = api_version(kKind<GPUQueue>);
  object["kind"] = kKind<GPUQueue>.kind;
  object["metadata"]["name"] = draft.name;
  OrderedJson& spec = object["spec"];
  if (!draft.cohort.empty()) spec["cohortName"] = draft.cohort;
  if (draft.namespace_selector)
    spec["namespaceSelector"] = OrderedJson::parse(*draft.namespace_selector);
  if (draft.default_queue) spec["default"] = true;
  spec["quotas"] = write_quotas(draft.quotas);
  if (const ClusterQueue* queue = draft.cluster_queue) {
    if (queue->queueing_strategy != to_string(QueueingStrategy::kBestEffortFIFO))
      spec["queueingStrategy"] = queue->queueing_strategy;
    write_preemption(*queue, spec, report);
    if (queue->weight) spec["fairSharing"]["weight"] = write_weight(*queue, report);
    if (queue->stop_policy != to_string(StopPolicy::kNone)) spec["stopPolicy"] = queue->stop_policy;
  }
  if (!draft.hard.empty()) spec["namespaceQuota"] = {{"enabled", true}, {"hard", draft.hard}};
  return object.dump();
}

}  // namespace berth
