// SPDX-License-Identifier: Apache-2.0
#include "controller/import/not_carried.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "apis/base/cut.h"

namespace berth {
namespace {

using Json = nlohmann::json;

struct FieldFate {
  std::string_view path;  // without the indexes of list items
  std::string_view why;   // empty: the field is read, or only its inner fields are judged
  std::array<std::string_view, 2> harmless = {};  // values that equal berth's behaviour
  bool whole = true;                              // inner fields are not judged
};

constexpr bool kInside = false;
constexpr std::string_view kNoKnowledge = "berth import does not know this field";
constexpr std::string_view kFlat =
    "cohorts are flat: nothing passes between two of them; to let their queues borrow from one "
    "another, write the same cohortName into all of them";

constexpr FieldFate kClusterQueue[] = {
    {"spec", "", {}, kInside},
    {"spec.cohort", ""},
    {"spec.cohortName", ""},
    {"spec.namespaceSelector", ""},
    {"spec.queueingStrategy", ""},
    {"spec.stopPolicy", ""},
    {"spec.resourceGroups", "", {}, kInside},
    {"spec.resourceGroups.coveredResources", ""},
    {"spec.resourceGroups.flavors", "", {}, kInside},
    {"spec.resourceGroups.flavors.name", ""},
    {"spec.resourceGroups.flavors.resources", "", {}, kInside},
    {"spec.resourceGroups.flavors.resources.name", ""},
    {"spec.resourceGroups.flavors.resources.nominalQuota", ""},
    {"spec.resourceGroups.flavors.resources.borrowingLimit", ""},
    {"spec.resourceGroups.flavors.resources.lendingLimit", ""},
    {"spec.preemption", "", {}, kInside},
    {"spec.preemption.withinClusterQueue", ""},
    {"spec.preemption.reclaimWithinCohort", ""},
    {"spec.preemption.borrowWithinCohort",
     "who borrows takes nothing from other queues; reclaimWithinCohort is for what a queue is due",
     {R"({"policy":"Never"})"}},
    {"spec.fairSharing", "", {}, kInside},
    {"spec.fairSharing.weight", ""},
    {"spec.flavorFungibility", "", {}, kInside},
    {"spec.flavorFungibility.whenCanBorrow",
     "berth borrows in one pool before it looks at the next; order the quotas by preference",
     {"MayStopSearch", "Borrow"}},
    {"spec.flavorFungibility.whenCanPreempt",
     "berth looks at every pool before it preempts in one; order the quotas by preference",
     {"TryNextFlavor"}},
    {"spec.flavorFungibility.preference",
     "berth borrows before it preempts",
     {"BorrowingOverPreemption"}},
    {"spec.admissionChecks",
     "berth has no admission checks; leave to Kueue what needs one, or check by a webhook of your "
     "own"},
    {"spec.admissionChecksStrategy",
     "berth has no admission checks; leave to Kueue what needs one, or check by a webhook of your "
     "own"},
    {"spec.admissionScope",
     "berth knows no shares by past usage; queues share by fairSharing.weight",
     {R"({"admissionMode":"NoAdmissionFairSharing"})"}},
    {"spec.concurrentAdmissionPolicy",
     "a workload goes to one pool and stays there; order the quotas by preference"},
};

constexpr FieldFate kLocalQueue[] = {
    {"spec", "", {}, kInside},
    {"spec.clusterQueue", ""},
    {"spec.stopPolicy",
     "a GPUQueue is held as a whole; set its stopPolicy, or take the namespace out of its "
     "namespaceSelector",
     {"None"}},
    {"spec.fairSharing",
     "shares are between queues, not between the namespaces of one; write a GPUQueue of its own, "
     "with its weight, for this namespace"},
};

constexpr FieldFate kResourceFlavor[] = {
    {"spec", "", {}, kInside},
    {"spec.nodeLabels", ""},
    {"spec.nodeTaints",
     "taints in spec.pools[].taints are put on the nodes by berth, and tolerated for pods; write "
     "them there if that is meant, else they stay as they are and pods tolerate them themselves"},
    {"spec.tolerations",
     "berth adds tolerations for the taints of a pool only; write others into the workloads"},
    {"spec.topologyName", ""},
};

constexpr FieldFate kCohort[] = {
    {"spec", "", {}, kInside},
    {"spec.parent", kFlat},
    {"spec.parentName", kFlat},
    {"spec.resourceGroups", "", {}, kInside},
    {"spec.resourceGroups.coveredResources", ""},
    {"spec.resourceGroups.flavors", "", {}, kInside},
    {"spec.resourceGroups.flavors.name", ""},
    {"spec.resourceGroups.flavors.resources", "", {}, kInside},
    {"spec.resourceGroups.flavors.resources.name", ""},
    {"spec.resourceGroups.flavors.resources.nominalQuota", ""},
    {"spec.resourceGroups.flavors.resources.borrowingLimit", kFlat},
    {"spec.resourceGroups.flavors.resources.lendingLimit", kFlat},
    {"spec.fairSharing", "shares are between queues; write fairSharing.weight of the queues"},
};

constexpr FieldFate kPriorityClass[] = {
    {"value", ""},
    {"description", "an entry of priorityClasses has no description; write a comment"},
};

constexpr FieldFate kTopology[] = {
    {"spec", "", {}, kInside},
    {"spec.levels", "", {}, kInside},
    {"spec.levels.nodeLabel", ""},
};

constexpr FieldFate kResourceQuota[] = {
    {"spec", "", {}, kInside},
    {"spec.hard", ""},
    {"spec.scopes", ""},
    {"spec.scopeSelector", ""},
};

constexpr std::string_view kCommon[] = {"apiVersion", "kind", "metadata", "status"};

std::span<const FieldFate> fates_of(std::string_view kind) {
  if (kind == "ClusterQueue") return std::span<const FieldFate>(kClusterQueue);
  if (kind == "LocalQueue") return std::span<const FieldFate>(kLocalQueue);
  if (kind == "ResourceFlavor") return std::span<const FieldFate>(kResourceFlavor);
  if (kind == "Cohort") return std::span<const FieldFate>(kCohort);
  if (kind == "WorkloadPriorityClass") return std::span<const FieldFate>(kPriorityClass);
  if (kind == "Topology") return std::span<const FieldFate>(kTopology);
  return std::span<const FieldFate>(kResourceQuota);
}

bool says_nothing(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty()) ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

class FieldWalk {
 public:
  FieldWalk(const Source& source, ImportReport& report)
      : source_(source), report_(report), fates_(fates_of(source.document.kind)) {}

  void object(const Json& value, const std::string& path, const std::string& plain) {
    constexpr std::size_t kShown = 60;
    const std::string dot = path.empty() ? "" : ".";
    for (const auto& [key, child] : value.items()) {
      if (path.empty() && std::ranges::find(kCommon, key) != std::end(kCommon)) continue;
      const std::string shown = cut(key, kShown);
      field(child, path + dot + shown, plain + dot + shown);
    }
  }

 private:
  void field(const Json& value, const std::string& path, const std::string& plain) {
    if (says_nothing(value)) return;
    const auto fate = std::ranges::find(fates_, plain, &FieldFate::path);
    if (fate == fates_.end())
      report_.lose(source_, path, std::string(kNoKnowledge));
    else if (!fate->whole)
      inside(value, path, plain);
    else if (!fate->why.empty() && !is_harmless(value, *fate))
      report_.lose(source_, path, std::string(fate->why));
  }

  void inside(const Json& value, const std::string& path, const std::string& plain) {
    if (value.is_object()) return object(value, path, plain);
    if (!value.is_array()) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      if (value[i].is_object()) object(value[i], path + "[" + std::to_string(i) + "]", plain);
  }

  static bool is_harmless(const Json& value, const FieldFate& fate) {
    const std::string text = value.is_string()
                                 ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return std::ranges::find(fate.harmless, text) != fate.harmless.end();
  }

  const Source& source_;
  ImportReport& report_;
  std::span<const FieldFate> fates_;
};

}  // namespace

void tell_not_carried(const Source& source, ImportReport& report) {
  const Json json = Json::parse(source.document.json, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) FieldWalk(source, report).object(json, "", "");
}

std::string_view why_no_counterpart(std::string_view kind) {
  static constexpr std::pair<std::string_view, std::string_view> kWhy[] = {
      {"AdmissionCheck", "berth has no admission checks; leave to Kueue what needs one"},
      {"ProvisioningRequestConfig", "berth makes no ProvisioningRequests"},
      {"MultiKueueCluster", "a GPUQueue admits into its own cluster only"},
      {"MultiKueueConfig", "a GPUQueue admits into its own cluster only"},
      {"Workload",
       "what runs and waits is not moved; create the Job or the pods anew, with label "
       "gpu.berth.dev/queue"},
      {"Configuration",
       "these are settings of Kueue's manager; see berth controller --help, and "
       "podsReadyTimeout of a GPUQueue for waitForPodsReady"},
  };
  const auto found = std::ranges::find(kWhy, kind, [](const auto& row) { return row.first; });
  return found == std::end(kWhy) ? std::string_view() : found->second;
}

}  // namespace berth
