// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/words.h"

#include <fmt/format.h>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "apis/base/time.h"
#include "controller/core/plural.h"
#include "controller/queue/facts/amount.h"
#include "controller/queue/facts/backoff.h"

namespace berth::queue {
namespace {

// Formats cpu in cores, and memory in Mi or Gi.
std::string format_room(std::int64_t amount, ResourceId resource, const Catalog& catalog) {
  constexpr std::int64_t kMi = std::int64_t{1} << 20, kGi = std::int64_t{1} << 30;
  const std::string& name = catalog.resource_name(resource);
  if (name == "cpu") return format_decimal(amount, 1000, 3);
  if ((name != "memory" && name != "ephemeral-storage") || amount < kMi)
    return format_amount(amount, resource);
  return amount % kGi == 0 ? fmt::format("{}Gi", amount / kGi) : fmt::format("{}Mi", amount / kMi);
}

}  // namespace

std::string name_place(PoolId pool, const Catalog& catalog) {
  return pool == Catalog::kAny ? "any pool" : "pool " + catalog.pool_name(pool);
}

const char* to_string(Reason reason) {
  switch (reason) {
    case Reason::kQueueNotFound:
      return reasons::kQueueNotFound;
    case Reason::kQueueHeld:
      return reasons::kQueueHeld;
    case Reason::kBudgetExceeded:
      return reasons::kBudgetExceeded;
    case Reason::kQueueInTrouble:
      return reasons::kQueueInTrouble;
    case Reason::kWaitingForGang:
      return reasons::kWaitingForGang;
    case Reason::kGangSizesDisagree:
      return reasons::kGangSizesDisagree;
    case Reason::kTemplateNotReady:
      return reasons::kTemplateNotReady;
    case Reason::kPodsOnDeadNode:
      return reasons::kPodsOnDeadNode;
    case Reason::kReleaseRefused:
      return reasons::kReleaseRefused;
    case Reason::kWaitingForOthers:
      return reasons::kWaitingForOthers;
    case Reason::kBackingOff:
      return reasons::kBackingOff;
    case Reason::kNotReady:
      return reasons::kNotReady;
    case Reason::kRecordNewer:
      return reasons::kRecordNewer;
    case Reason::kNoQuota:
      return reasons::kNoQuota;
    case Reason::kExceedsMaximum:
      return reasons::kExceedsMaximum;
    case Reason::kWaitingForQuota:
      return reasons::kWaitingForQuota;
    case Reason::kMayNotBorrow:
      return reasons::kMayNotBorrow;
    case Reason::kResourceNotOffered:
      return reasons::kResourceNotOffered;
    case Reason::kWaitingForRoom:
      return reasons::kWaitingForRoom;
    case Reason::kFragmented:
      return reasons::kFragmented;
    case Reason::kNodesNotSelected:
      return reasons::kNodesNotSelected;
    case Reason::kUnknownTopologyLevel:
      return reasons::kUnknownTopologyLevel;
    case Reason::kTopologyNeedsNodes:
      return reasons::kTopologyNeedsNodes;
    case Reason::kNoTopologyDomain:
      return reasons::kNoTopologyDomain;
    case Reason::kUnplaceable:
      return reasons::kUnplaceable;
    case Reason::kReserved:
      return reasons::kReserved;
    case Reason::kBehindInQueue:
      break;
  }
  return reasons::kBehindInQueue;
}

namespace {

constexpr std::size_t kDisplacedNamed = 5;

std::string describe_reserved(const Verdict& verdict) {
  const bool own = verdict.reason != Reason::kReserved;
  const std::string lead = own ? "; what it needs is kept for it" : "";
  if (*verdict.reserved == 0) return lead + ", until when nobody can say";
  return fmt::format("{}, from {} at the latest", lead,
                     format_time(Time(std::chrono::microseconds(*verdict.reserved))));
}

// "admitted; it starts once Job/a/b (displaced for it) and Pod/a/c have gone".
std::string describe_ahead(const LedgerFact& entry) {
  std::vector<std::string> names;
  for (const AheadFact& ahead : entry.ahead)
    names.push_back(ahead.workload + (ahead.evicted ? " (displaced for it)" : ""));
  return fmt::format("it is admitted, and starts once {} {} gone",
                     list_first(names, kDisplacedNamed),
                     word_for(std::ssize(names), "has", "have"));
}

std::string describe_reason(const Verdict& verdict, const Catalog& catalog) {
  const std::string& resource = catalog.resource_name(verdict.resource);
  const std::string& level = catalog.wish_facts(verdict.wish).level;
  const std::string where = name_place(verdict.pool, catalog);
  const std::string needs = format_room(verdict.needs, verdict.resource, catalog);
  const std::string free = format_room(verdict.free, verdict.resource, catalog);
  const std::string most = format_room(verdict.most, verdict.resource, catalog);
  switch (verdict.reason) {
    case Reason::kQueueNotFound:
      return "the queue that it names does not exist";
    case Reason::kQueueHeld:
      return "the queue is held; stopPolicy: None lets it go on";
    case Reason::kBudgetExceeded:
      return fmt::format(
          "the queue has used the {} GPU hours of its budget; the next period begins {}",
          format_thousandths(verdict.most), format_time(Time(std::chrono::seconds(verdict.free))));
    case Reason::kQueueInTrouble:
      return "the queue itself is Stalled; its conditions say why";
    case Reason::kWaitingForGang:
      return fmt::format("{} of {} pods exist", verdict.free, verdict.needs);
    case Reason::kGangSizesDisagree:
      return "the pods of the group state different sizes; give all the same";
    case Reason::kTemplateNotReady:
      return "it can start again when the pods of its last run are gone";
    case Reason::kPodsOnDeadNode:
      return "a pod of its last run can't leave a node that does not answer, and with "
             "podFailurePolicy a Job starts no pod in its place; delete the node, or give it taint "
             "node.kubernetes.io/out-of-service";
    case Reason::kReleaseRefused:
      return refused_entry(*verdict.behind)->refused;
    case Reason::kWaitingForOthers:
      return describe_ahead(*verdict.behind->in_flight);
    case Reason::kBackingOff:
      return fmt::format(
          "not all of its pods were Ready in time, {} of {} times; it queues again after {}",
          verdict.needs, verdict.most, format_duration_short(backoff_after(verdict.needs)));
    case Reason::kNotReady:
      if (!verdict.behind->job)
        return fmt::format(
            "not all of its pods were Ready in time, {} times; delete its pods, and those that are "
            "made anew queue again",
            verdict.needs);
      return fmt::format(
          "not all of its pods were Ready in time, {} times; change its spec, or remove annotation "
          "{}, and it queues again",
          verdict.needs, names::kNeverReadyAnnotation);
    case Reason::kRecordNewer:
      return fmt::format(
          "a later berth has recorded its admission, with version {}; this one knows {} and leaves "
          "it alone: run the later one again",
          verdict.needs, verdict.most);
    case Reason::kNoQuota:
      if (verdict.resource == Catalog::kClass)
        return "its node selector and affinity lead to no pool that the queue has a quota in";
      return fmt::format("no quota of the queue covers {} in {}", resource, where);
    case Reason::kExceedsMaximum:
      return fmt::format("needs {} {} in {}; the queue can never hold more than {}", needs,
                         resource, where, most);
    case Reason::kWaitingForQuota:
      return fmt::format("needs {} {} in {}, {} free with a nominal quota of {}", needs, resource,
                         where, free, most);
    case Reason::kMayNotBorrow:
      return fmt::format(
          "needs {} {} in {} within the nominal quota of {}; it may not borrow, as it could not be "
          "given back: nobody would create its pods again, or their owner could fail for good",
          needs, resource, where, most);
    case Reason::kResourceNotOffered:
      return fmt::format("needs {} {}, the nodes of {} offer {}", needs, resource, where, most);
    case Reason::kWaitingForRoom:
      return fmt::format("needs {} {}, {} of {} free on the nodes of {}", needs, resource, free,
                         most, where);
    case Reason::kFragmented:
      return fmt::format("a pod needs {} {} on one node; {} are free in {}, at most {} on one node",
                         needs, resource, most, where, free);
    case Reason::kNodesNotSelected:
      return fmt::format("no node in service of {} has the labels and tolerable taints it asks for",
                         where);
    case Reason::kUnknownTopologyLevel:
      return fmt::format(
          "it requires one domain of {}, which is none of the policy's topologyLevels", level);
    case Reason::kTopologyNeedsNodes:
      return fmt::format(
          "it requires one domain of {}, and its pods can't be pinned to nodes (see placement)",
          level);
    case Reason::kNoTopologyDomain:
      return fmt::format("its {} pods need one domain of {} in {}; the best has room for {}",
                         verdict.needs, level, where, verdict.free);
    case Reason::kUnplaceable:
      return fmt::format("of its {} pods, {} have a node with room in {}", verdict.needs,
                         verdict.free, where);
    case Reason::kReserved:
      return fmt::format("it would fit in {}, but that is kept for {}, which has waited longer",
                         where, *verdict.behind->name);
    case Reason::kBehindInQueue:
      break;
  }
  if (verdict.behind == nullptr) return "its turn has not come";
  return fmt::format("{} is before it in a StrictFIFO queue", *verdict.behind->name);
}

}  // namespace

std::string describe(const Verdict& verdict, const Catalog& catalog) {
  std::string text = describe_reason(verdict, catalog);
  if (verdict.passed) text += "; others of its StrictFIFO queue no longer wait for it";
  if (verdict.nodes_to_come)
    text += fmt::format("; nodes to come that nobody waits for: {}", *verdict.nodes_to_come);
  if (verdict.reserved) text += describe_reserved(verdict);
  return text;
}

bool names_in_full(std::string_view reason) {
  if (reason == reasons::kExceedsAdmission) return true;
  for (int i = 0; i <= static_cast<int>(Reason::kBehindInQueue); ++i)
    if (const auto known = static_cast<Reason>(i); reason == to_string(known))
      return known != Reason::kReleaseRefused;  // its sentence is the API server's
  return false;
}

namespace {

// "displaces Job/a/b (3 GPU hours of unsaved work) and 2 more".
std::string describe_displaced(const Admission& admission) {
  std::vector<std::string> names;
  for (const Ahead& ahead : admission.ahead)
    if (ahead.idle)
      names.push_back(*ahead.workload->name + " (idle)");
    else if (ahead.evicted)
      names.push_back(
          fmt::format("{} ({} of unsaved GPU time)", *ahead.workload->name,
                      format_duration_short(std::chrono::seconds(ahead.lost_gpu_seconds))));
  return names.empty() ? "" : "; displaces " + list_first(names, kDisplacedNamed);
}

}  // namespace

std::string describe(const Admission& admission, const Catalog& catalog) {
  const std::string where = name_place(admission.pool, catalog);
  if (admission.to_come)
    return fmt::format("quota suffices in {}, and nodes that it is yet to get will do", where);
  if (!admission.after_others) return "quota and room suffice in " + where;
  return fmt::format("quota and room suffice in {} once those that leave have gone{}", where,
                     describe_displaced(admission));
}

}  // namespace berth::queue
