// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/gpu_queue_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/kinds/gpu_queue.h"

namespace berth {
namespace {

// With these prefixes the device plugin offers only a few names. Another name is a typing error,
// and no pod would ever use its quota.
bool is_unknown_gpu(std::string_view resource) {
  constexpr std::string_view kNvidia = "nvidia.com/";
  if (!resource.starts_with(kNvidia)) return false;
  resource.remove_prefix(kNvidia.size());
  if (resource.starts_with("gpu")) return resource != "gpu" && resource != "gpu.shared";
  if (!resource.starts_with("mig")) return false;
  return !(resource.size() > 4 && resource[3] == '-' && resource[4] >= '0' && resource[4] <= '9');
}

class QueueRules {
 public:
  explicit QueueRules(std::vector<Error>& errors) : errors_(errors) {}

  void require(bool good, std::string where, const char* message) {
    if (!good) errors_.push_back(invalid_spec(std::move(where), message));
  }

  void check(const QuotaSpec& quota, const std::string& path) {
    require(!is_unknown_gpu(quota.resource), path + ".resource", rules::kUnknownGpu);
    require(quota.lending_limit.value_or(0) <= quota.nominal_quota, path + ".lendingLimit",
            rules::kLendAboveNominal);
  }

 private:
  std::vector<Error>& errors_;
};

}  // namespace

std::vector<Error> check_rules(const GPUQueue& queue) {
  std::vector<Error> errors;
  QueueRules checks(errors);
  const GPUQueueSpec& spec = queue.spec;
  const bool alone = spec.cohort_name.empty();
  checks.require(queue.meta.name.size() <= limits::kMaxQueueName, "metadata.name",
                 rules::kQueueName);
  if (spec.namespace_selector)
    check_expressions(*spec.namespace_selector, "spec.namespaceSelector", errors);
  checks.require(!spec.default_queue || spec.namespace_selector, "spec.default",
                 rules::kDefaultOfNone);
  for (std::size_t i = 0; i < spec.quotas.size(); ++i)
    checks.check(spec.quotas[i], fmt::format("spec.quotas[{}]", i));
  const auto none = [&](auto QuotaSpec::*limit) {
    return std::none_of(spec.quotas.begin(), spec.quotas.end(),
                        [&](const QuotaSpec& quota) { return (quota.*limit).has_value(); });
  };
  checks.require(!alone || none(&QuotaSpec::borrowing_limit), "spec.quotas", rules::kBorrowAlone);
  checks.require(!alone || none(&QuotaSpec::lending_limit), "spec.quotas", rules::kLendAlone);
  checks.require(!alone || spec.preemption.reclaim_within_cohort == ReclaimWithinCohort::kNever,
                 "spec.preemption.reclaimWithinCohort", rules::kReclaimAlone);
  checks.require(spec.topology.required.empty() || spec.topology.preferred.empty(), "spec.topology",
                 rules::kTwoTopologies);
  const NamespaceQuotaSpec& own = spec.namespace_quota;
  checks.require(!own.enabled || !own.hard.empty() || !own.max_per_pod.empty(),
                 "spec.namespaceQuota", rules::kNothingLimited);
  return errors;
}

}  // namespace berth
