// SPDX-License-Identifier: Apache-2.0
// Outline: which waiting workloads get a reason by now; the annotation on their objects; a limit
// per run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "apis/base/time.h"
#include "controller/core/merge_patch.h"
#include "controller/core/refused_write.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/cycle/uncovered.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/named.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/status/queueless.h"
#include "controller/queue/status/reconcile.h"

namespace berth::queue {
namespace {

// A workload that starts within a minute gets no reason. That is so for most.
constexpr Duration kToldAfter = std::chrono::minutes(1);
constexpr Duration kEach = std::chrono::seconds(1);
constexpr std::size_t kMostAtOnce = 5;

// Whether only a user's change can end this wait.
bool lasts(const Outcome& outcome) {
  switch (outcome.verdict.reason) {
    case Reason::kQueueNotFound:
    case Reason::kQueueInTrouble:
    case Reason::kGangSizesDisagree:
    case Reason::kNotReady:
    case Reason::kRecordNewer:
    case Reason::kNoQuota:
    case Reason::kExceedsMaximum:
    case Reason::kReleaseRefused:
      return true;
    default:
      return false;
  }
}

Time told_from(const Waiting& waiting) {
  const Time since{std::chrono::microseconds(waiting.workload->standing.created)};
  return lasts(waiting.outcome) ? since : since + kToldAfter;
}

// Numbers change all the time, so berth writes again only if the reason changes.
bool is_told(const ObjectMeta& meta, const std::string& reason) {
  return meta.annotations.get(names::kPendingReasonAnnotation).view().starts_with(reason + ":");
}

template <class T>
Write tell(const T& object, const std::string& reason, const std::string& words) {
  return {.verb = Verb::kMergePatch,
          .object = ref_of(object),
          .body = MergePatch::same_version(object.meta)
                      .annotation(names::kPendingReasonAnnotation, words)
                      .str(),
          .field_manager = names::kManagerQueue,
          .reason = "tell that it waits: " + reason,
          .in_history = false};
}

class Teller {
 public:
  Teller(const Snapshot& snapshot, const ClusterIndex& index)
      : snapshot_(snapshot), index_(index) {}

  void tell_all_of(const Waiting& waiting) {
    const std::string& name = *waiting.workload->name;
    const std::string reason = reason_of(waiting.outcome);
    const std::string words = fmt::format(
        "{}: {}{} (as of {})", reason, describe(waiting.outcome, index_.facts().catalog()),
        describe_kept(snapshot_, waiting.outcome), format_time(snapshot_.now));
    if (waiting.workload->job) {
      if (const berth::Job* job = find_named(snapshot_.cluster.jobs(), name))
        add(*job, reason, words);
      return;
    }
    for (const berth::Pod* pod : pods_of(snapshot_.cluster, index_, name)) add(*pod, reason, words);
  }
  // Later members of a gang may arrive one after the other. Each gets a reason once it has waited
  // itself.
  void tell_uncovered(const Workload& workload) {
    std::map<std::string_view, std::string> why;
    for (UncoveredMember& member : uncovered_members(workload, index_.facts()))
      why.emplace(*member.pod->uid, std::move(member.why));
    for (const berth::Pod* pod : pods_of(snapshot_.cluster, index_, *workload.name)) {
      const auto found = why.find(pod->meta.uid);
      if (found == why.end()) continue;
      if (const Time from = pod->meta.creation_timestamp + kToldAfter; from > snapshot_.now) {
        again_in(std::chrono::ceil<Duration>(from - snapshot_.now));
        continue;
      }
      add(*pod, reasons::kExceedsAdmission,
          fmt::format("{}: {} (as of {})", reasons::kExceedsAdmission, found->second,
                      format_time(snapshot_.now)));
    }
  }
  bool full() const { return plan_.objects.size() >= kMostAtOnce; }
  Plan take() { return std::move(plan_); }
  void again_in(Duration delay) { plan_.requeue_in(delay); }

 private:
  template <class T>
  void add(const T& object, const std::string& reason, const std::string& words) {
    if (full() || is_told(object.meta, reason)) return;
    // An object that the API server does not let berth write must not delay the others.
    if (refused_write(snapshot_, ref_of(object), names::kManagerQueue)) return;
    plan_.add(ref_of(object), tell(object, reason, words));
    // No queue's status lists this workload. The annotation ensures that there is only one event.
    if (reason == reasons::kQueueNotFound)
      plan_.events.push_back({ref_of(object), true, reason, "Admit", not_found(object.meta)});
  }
  static std::string not_found(const ObjectMeta& meta) {
    return fmt::format(
        "waits for GPUQueue {}, which does not exist: create it, or name another "
        "in label {}",
        meta.labels.get(names::kQueueLabel).view(), names::kQueueLabel);
  }

  const Snapshot& snapshot_;
  const ClusterIndex& index_;
  Plan plan_;
};

// Adds the oldest workloads of each queue that does not exist, as no report contains them.
void add_queueless(const FactsIndex& facts, const Survey& survey, std::vector<Waiting>& all) {
  for (const auto& [id, pending] : facts.pending().by_queue()) {
    if (survey.find(facts.catalog().queue_name(id)) != nullptr) continue;
    std::vector<const Workload*> oldest(pending.unready.begin(), pending.unready.end());
    oldest.insert(oldest.end(), pending.left_out.begin(), pending.left_out.end());
    for (const auto& [workloads, same] : pending.ready)
      oldest.insert(oldest.end(), same.in_order.begin(), same.in_order.end());
    std::ranges::sort(oldest, {}, [](const Workload* workload) {
      return std::tie(workload->standing.created, *workload->standing.uid);
    });
    if (oldest.size() > limits::kMaxPendingWorkloads) oldest.resize(limits::kMaxPendingWorkloads);
    for (const Workload* workload : oldest)
      all.push_back({.workload = workload, .outcome = survey.outcome(*workload)});
  }
}

// Returns waiting workloads of all queues, the oldest first.
std::vector<Waiting> waiting_of(const Snapshot& snapshot, const FactsIndex& facts,
                                const Survey& survey) {
  std::vector<Waiting> all;
  add_queueless(facts, survey, all);
  for (const auto& queue : snapshot.cluster.gpu_queues())
    if (const QueueReport* report = survey.find(queue->meta.name))
      for (const Waiting& waiting : report->waiting)
        if (!waiting.outcome.admitted_to) all.push_back(waiting);
  std::ranges::sort(all, {}, [](const Waiting& waiting) {
    return std::tie(waiting.workload->standing.created, *waiting.workload->standing.uid);
  });
  return all;
}

}  // namespace

Plan reconcile_reasons(const Snapshot& snapshot) {
  if (snapshot.offline) return {};
  if (snapshot.cluster.gpu_queues().size() == 0 && !any_waits_for_named_queue(snapshot.cluster))
    return {};
  const auto& index = snapshot.cluster.view<ClusterIndex>();
  const Survey survey(index.facts(), limits::kMaxPendingWorkloads, preemption_terms(snapshot));
  Teller teller(snapshot, index);
  for (const Waiting& waiting : waiting_of(snapshot, index.facts(), survey)) {
    if (const Time from = told_from(waiting); from > snapshot.now) {
      teller.again_in(std::chrono::ceil<Duration>(from - snapshot.now));
      continue;
    }
    teller.tell_all_of(waiting);
    if (!teller.full()) continue;
    teller.again_in(kEach);
    break;
  }
  for (const Workload* workload : index.facts().with_uncovered()) {
    teller.tell_uncovered(*workload);
    if (!teller.full()) continue;
    teller.again_in(kEach);
    break;
  }
  return teller.take();
}

}  // namespace berth::queue
