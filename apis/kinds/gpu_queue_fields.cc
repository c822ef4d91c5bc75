// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/gpu_queue_fields.h"

#include "apis/kinds/field_shapes.h"
#include "apis/kinds/gpu_queue.h"

namespace berth {
namespace {

using namespace shape;

constexpr std::int64_t kMaxCohortName = 63;
constexpr std::int64_t kMaxQueuePool = 40;      // the same limit as in GPUClusterPolicy
constexpr std::int64_t kMaxResourceName = 317;  // a prefix of 253 characters, slash, name of 63
constexpr char kCohortName[] = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
constexpr char kQuotaPool[] = "^(\\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$";
constexpr char kQuotaPoolAdvice[] =
    "write a pool of the GPUClusterPolicy, or \"*\" for any pool, in quotes";
constexpr char kQuotaResource[] =
    "^(gpu|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
    "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$";
constexpr char kQuotaResourceAdvice[] =
    "write an extended resource, as nvidia.com/gpu or nvidia.com/mig-1g.10gb, or gpu for whole-GPU "
    "equivalents; cpu and memory have no quota here";
constexpr char kHardResource[] =
    "^requests\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
    "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
constexpr char kHardAdvice[] =
    "write requests. and an extended resource, as requests.nvidia.com/gpu; Kubernetes enforces no "
    "limits. of these";
constexpr char kPodResource[] =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
    "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
constexpr char kWeight[] = "^[0-9]{1,3}(\\.[0-9]{1,3})?$";
constexpr char kGpuHours[] = "^[0-9]{1,9}(\\.[0-9]{1,3})?$";
constexpr char kBudgetZone[] = "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$";
constexpr std::int64_t kMaxClassName = 253;
constexpr char kClassName[] = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
constexpr char kWholeAdvice[] = "write a whole number of GPUs, at least 0";

Field quota_count(std::string name) {
  return integer(std::move(name), 0, limits::kMaxQuota, kWholeAdvice);
}

Field queue_quotas() {
  return required(keyed_by(
      {"resource", "pool"},
      list("quotas", 1, limits::kMaxQuotas,
           object("", {required(text("resource", 1, kMaxResourceName, kQuotaResource,
                                     kQuotaResourceAdvice)),
                       required(text("pool", 1, kMaxQueuePool, kQuotaPool, kQuotaPoolAdvice)),
                       required(quota_count("nominalQuota")), quota_count("borrowingLimit"),
                       quota_count("lendingLimit")}))));
}

Field queue_preemption() {
  return with_default(
      object("preemption",
             {with_default(one_of("withinQueue", {"Never", "LowerPriority"}), "\"Never\""),
              with_default(one_of("reclaimWithinCohort", {"Never", "LowerPriority", "Any"}),
                           "\"Never\""),
              with_default(duration("noticePeriod", 0), "\"0s\""),
              with_default(duration("preemptMinRuntime", 0), "\"0s\""),
              with_default(duration("reclaimMinRuntime", 0), "\"0s\""),
              with_default(duration("reclaimTimeout", 0), "\"10m\""),
              with_default(one_of("unreclaimable", {"WithinNominalQuota", "MayBorrow"}),
                           "\"WithinNominalQuota\"")}),
      "{}");
}

Field fair_sharing() {
  return with_default(
      object("fairSharing",
             {with_default(text("weight", 1, 7, kWeight,
                                "write a decimal in quotes from \"0\" to \"999.999\", as \"2\""),
                           "\"1\"")}),
      "{}");
}

Field namespace_quota() {
  return with_default(
      object("namespaceQuota",
             {with_default(boolean("enabled"), "false"),
              map("hard", limits::kMaxQueueResources, kHardResource, kHardAdvice, quota_count("")),
              map("maxPerPod", limits::kMaxQueueResources, kPodResource,
                  "write an extended resource, as nvidia.com/gpu", quota_count(""))}),
      "{}");
}

Field queue_budget() {
  return object(
      "budget",
      {required(text("gpuHours", 1, 13, kGpuHours,
                     "write a decimal in quotes from \"0\" to \"999999999.999\", as \"2000\"")),
       required(one_of("period", {"Day", "Week", "Month"})),
       with_default(
           text("timeZone", 1, 64, kBudgetZone, "write an IANA time zone, as Europe/Berlin or UTC"),
           "\"UTC\""),
       with_default(one_of("whenExceeded", {"Warn", "Hold"}), "\"Warn\"")});
}

}  // namespace

const Field& queue_spec_field() {
  static const Field field = required(object(
      "spec",
      {text("cohortName", 1, kMaxCohortName, kCohortName,
            "write lower case letters, digits and '-', starting and ending with a letter or "
            "digit"),
       label_selector("namespaceSelector"), with_default(boolean("default"), "false"),
       queue_quotas(),
       with_default(one_of("queueingStrategy", {"BestEffortFIFO", "StrictFIFO"}),
                    "\"BestEffortFIFO\""),
       queue_preemption(), fair_sharing(), duration("reserveAfter", 60),
       with_default(object("topology", {label_key("required"), label_key("preferred")}), "{}"),
       namespace_quota(), with_default(one_of("placement", {"Nodes", "None"}), "\"Nodes\""),
       with_default(duration("placementTimeout", 10), "\"5m\""), duration("podsReadyTimeout", 10),
       duration("forceDeleteAfter", 60), queue_budget(),
       set_of(list("priorityClasses", 0, limits::kMaxAcceptedClasses,
                   text("", 1, kMaxClassName, kClassName, "write the name of a PriorityClass"))),
       with_default(one_of("stopPolicy", {"None", "Hold", "HoldAndDrain"}), "\"None\"")}));
  return field;
}

}  // namespace berth
