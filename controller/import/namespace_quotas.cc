// SPDX-License-Identifier: Apache-2.0
#include "controller/import/namespace_quotas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/cut.h"
#include "apis/kinds/gpu_queue_fields.h"

namespace berth {
namespace {

using Counts = std::map<std::string, std::int64_t>;

constexpr char kKeep[] = "keep this ResourceQuota";

bool is_for_a_queue(const std::string& key) {
  const Field* hard = queue_spec_field().find("namespaceQuota")->find("hard");
  return matches_pattern(key, hard->pattern);
}

// The limits that a namespaceQuota can express; the report gets the others.
Counts counts_of(const QuotaObject& quota, ImportReport& report) {
  constexpr std::size_t kShown = 80;
  Counts counts;
  std::vector<std::string> others;
  for (const auto& [key, amount] : quota.hard) {
    if (is_for_a_queue(key))
      counts[key] = import_count(*quota.source, "spec.hard." + key, amount, report);
    else
      others.push_back(cut(key, kShown));
  }
  if (!counts.empty() && !others.empty())
    report.lose(*quota.source, "spec.hard",
                fmt::format("a namespaceQuota holds requests of extended resources only; keep this "
                            "ResourceQuota for {}",
                            fmt::join(others, ", ")));
  return counts;
}

bool has_scopes(const QuotaObject& quota) {
  const nlohmann::json json = nlohmann::json::parse(quota.source->document.json);
  const nlohmann::json& spec = json.at("spec");
  return (spec.contains("scopes") && !spec["scopes"].empty()) ||
         (spec.contains("scopeSelector") && !spec["scopeSelector"].empty());
}

struct QueueQuotas {
  std::vector<const QuotaObject*> objects;
  std::map<std::string, Counts> by_namespace;
};

void add_least(const Counts& counts, Counts& out) {
  for (const auto& [key, count] : counts) {
    const auto [it, fresh] = out.emplace(key, count);
    if (!fresh) it->second = std::min(it->second, count);
  }
}

bool all_agree(const QueueQuotas& quotas, const QueueDraft& draft) {
  return std::ranges::all_of(draft.namespaces, [&](const std::string& ns) {
    const auto own = quotas.by_namespace.find(ns);
    return own != quotas.by_namespace.end() && own->second == quotas.by_namespace.begin()->second;
  });
}

void give(const QueueQuotas& quotas, QueueDraft& draft, ImportReport& report) {
  const bool agree = all_agree(quotas, draft);
  if (agree) draft.hard = quotas.by_namespace.begin()->second;
  for (const QuotaObject* object : quotas.objects) {
    if (agree) {
      draft.sources.push_back(object->source);
      report.ask(*object->source, "spec.hard",
                 fmt::format("GPUQueue/{} has it as namespaceQuota; take its lines out of this "
                             "ResourceQuota once the queue holds them",
                             draft.name));
    } else {
      report.lose(
          *object->source, "spec.hard",
          fmt::format("GPUQueue/{} has one namespaceQuota for all its namespaces, and these "
                      "have different ones; {}",
                      draft.name, kKeep));
    }
  }
}

}  // namespace

void import_namespace_quotas(const std::vector<QuotaObject>& quotas,
                             std::vector<QueueDraft>& drafts, ImportReport& report) {
  std::map<std::string, std::vector<QueueDraft*>> users;
  for (QueueDraft& draft : drafts)
    for (const std::string& ns : draft.namespaces) users[ns].push_back(&draft);
  std::map<QueueDraft*, QueueQuotas> by_queue;
  for (const QuotaObject& quota : quotas) {
    const Counts counts = counts_of(quota, report);
    const std::vector<QueueDraft*>& queues = users[quota.namespace_];
    if (counts.empty()) {
      report.skip(*quota.source, "limits no extended resource; left alone");
    } else if (has_scopes(quota)) {
      report.lose(*quota.source, "spec",
                  fmt::format("a namespaceQuota counts all pods, whatever their scope; {}", kKeep));
    } else if (queues.size() != 1) {
      report.lose(*quota.source, "metadata.namespace",
                  fmt::format("{} uses {}; {}", quota.namespace_,
                              queues.empty() ? "none of the queues" : "several queues", kKeep));
    } else {
      QueueQuotas& own = by_queue[queues.front()];
      own.objects.push_back(&quota);
      add_least(counts, own.by_namespace[quota.namespace_]);
    }
  }
  for (QueueDraft& draft : drafts)
    if (const auto found = by_queue.find(&draft); found != by_queue.end())
      give(found->second, draft, report);
}

}  // namespace berth
