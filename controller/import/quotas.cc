// SPDX-License-Identifier: Apache-2.0
#include "controller/import/quotas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/kinds/gpu_queue_fields.h"

namespace berth {
namespace {

// Judged by the rules of GPUQueue itself. A name without a slash is a resource of Kubernetes, and
// berth's `gpu`, which stands for all GPUs, does not exist in Kueue.
bool has_quota_here(const std::string& resource) {
  static constexpr std::string_view kField = "resource";
  if (resource.find('/') == resource.npos) return false;
  const Field* quotas = queue_spec_field().find("quotas");
  std::vector<Complaint> complaints;
  check_field(resource, *quotas->children.front().find(kField), "", UnknownFields::kReport,
              complaints);
  GPUQueue queue;
  queue.meta.name = "any";
  queue.spec.quotas = {{.resource = resource, .pool = "*"}};
  return complaints.empty() && check_rules(queue).empty();
}

class QuotaImport {
 public:
  QuotaImport(const Source& source, bool limited, ImportReport& report)
      : source_(source), limited_(limited), report_(report) {}

  void add(const FlavorResource& item, const std::string& pool) {
    if (quotas_.size() > static_cast<std::size_t>(limits::kMaxQuotas)) return;  // already too many
    QuotaSpec quota{.resource = item.resource, .pool = pool};
    quota.nominal_quota = count(item.path + ".nominalQuota", item.nominal);
    quota.borrowing_limit = limit(item.path + ".borrowingLimit", item.borrowing_limit);
    quota.lending_limit = limit(item.path + ".lendingLimit", item.lending_limit);
    if (quota.lending_limit.value_or(0) > quota.nominal_quota) {
      report_.alter(source_, item.path + ".lendingLimit", "more cannot be lent than nominalQuota");
      quota.lending_limit = quota.nominal_quota;
    }
    const auto same = std::ranges::find_if(quotas_, [&](const QuotaSpec& other) {
      return other.resource == quota.resource && other.pool == quota.pool;
    });
    if (same == quotas_.end())
      quotas_.push_back(quota);
    else
      merge(quota, *same, item.path);
  }

  std::vector<QuotaSpec> take() { return std::move(quotas_); }

 private:
  std::int64_t count(const std::string& field, const Quantity& amount) {
    return import_count(source_, field, amount, report_);
  }

  std::optional<std::int64_t> limit(const std::string& field,
                                    const std::optional<Quantity>& amount) {
    if (!amount) return std::nullopt;
    if (limited_) return count(field, *amount);
    report_.lose(source_, field, "without a cohort there is nobody to borrow from or lend to");
    return std::nullopt;
  }

  // Two flavors without node labels both mean any node, so their quotas add up.
  void merge(const QuotaSpec& more, QuotaSpec& quota, const std::string& path) {
    const std::int64_t lent = quota.lending_limit.value_or(quota.nominal_quota) +
                              more.lending_limit.value_or(more.nominal_quota);
    if (quota.lending_limit || more.lending_limit) quota.lending_limit = lent;
    if (quota.borrowing_limit && more.borrowing_limit)
      *quota.borrowing_limit += *more.borrowing_limit;
    else
      quota.borrowing_limit.reset();
    quota.nominal_quota += more.nominal_quota;
    for (std::int64_t* amount :
         {&quota.nominal_quota, quota.lending_limit ? &*quota.lending_limit : nullptr,
          quota.borrowing_limit ? &*quota.borrowing_limit : nullptr})
      if (amount != nullptr) *amount = std::min(*amount, limits::kMaxQuota);
    report_.alter(source_, path,
                  fmt::format("pool {} has a quota of {} already, from another flavor without "
                              "nodeLabels; the two are added up",
                              quota.pool, quota.resource));
  }

  const Source& source_;
  const bool limited_;
  ImportReport& report_;
  std::vector<QuotaSpec> quotas_;
};

}  // namespace

std::int64_t import_count(const Source& source, const std::string& field, const Quantity& amount,
                          ImportReport& report) {
  std::int64_t count =
      amount.as_whole().value_or(std::max<std::int64_t>(amount.rounded_up() - 1, 0));
  if (Quantity::whole(count) != amount && count <= limits::kMaxQuota)
    report.lose(
        source, field,
        fmt::format("{} is no whole number of devices; {} is written", amount.str(), count));
  if (count <= limits::kMaxQuota) return count;
  report.alter(source, field,
               fmt::format("{0} is more than a quota can be; {1} is written, the most",
                           amount.str(), limits::kMaxQuota));
  return limits::kMaxQuota;
}

std::vector<QuotaSpec> import_quotas(const Source& source, const std::vector<ResourceGroup>& groups,
                                     bool limited, const PoolNames& pools, FlavorUses& uses,
                                     ImportReport& report) {
  QuotaImport quotas(source, limited, report);
  for (const ResourceGroup& group : groups) {
    std::set<std::string> others;
    for (const FlavorQuotas& flavor : group.flavors)
      for (const FlavorResource& item : flavor.resources) {
        if (!has_quota_here(item.resource)) {
          others.insert(item.resource);
          continue;
        }
        quotas.add(item, pools.of(flavor.flavor));
        uses.try_emplace(flavor.flavor, FlavorUse{&source, flavor.path + ".name"});
      }
    if (!others.empty())
      report.lose(source, group.path + ".coveredResources",
                  fmt::format("a GPUQueue holds no quota of {}; the nodes bound it, or a "
                              "ResourceQuota by namespace",
                              fmt::join(others, ", ")));
  }
  return quotas.take();
}

}  // namespace berth
