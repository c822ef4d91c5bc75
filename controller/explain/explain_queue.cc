// SPDX-License-Identifier: Apache-2.0
// Outline: what a cycle says about any workload; what the controller has recorded about it; the
// answers for a pod and for a Job; which Jobs wait.
#include "controller/explain/explain_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/conditions.h"
#include "controller/core/plural.h"
#include "controller/explain/job_fate.h"
#include "controller/explain/recorded_wait.h"
#include "controller/preview/queue_membership.h"
#include "controller/queue/cycle/uncovered.h"
#include "controller/queue/facts/record_cover.h"
#include "controller/queue/index/dead_nodes.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/recall/idle_work.h"
#include "controller/queue/record/gang_adapters.h"
#include "controller/queue/status/queue_conditions.h"
#include "controller/queue/status/queueless.h"

namespace berth {
namespace {

// The most workloads ahead to name.
constexpr std::size_t kMostBehind = 3;
// The most of its pods on dead nodes to name.
constexpr std::size_t kMostLost = 3;

constexpr char kQueues[] = "gpuqueues.gpu.berth.dev";
constexpr char kSuspended[] = "it is suspended";
constexpr char kGated[] = "it is gated";

// Null if berth releases the pod by itself or with its gang.
const Job* job_of(const ClusterState& cluster, const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr || !queue::workload_name(pod).starts_with("Job/")) return nullptr;
  return cluster.jobs().find(pod.meta.namespace_.view(), owner->name.view());
}

// Why the queue admits no workload, according to its conditions; null: it admits.
const Condition* pause_of(const ClusterState& cluster, const std::string& queue) {
  const GPUQueue* found = cluster.gpu_queues().find(queue);
  return found == nullptr ? nullptr : find_true(found->status.conditions, queue::kAdmissionsPaused);
}

std::string turn_of(const QueueVerdict& verdict, const QueuePicture& picture,
                    const std::string& workload) {
  if (verdict.position == 0) return "";
  std::string place =
      fmt::format("place {} of {}", verdict.position, picture.waiting_in(verdict.queue));
  const std::vector<std::string> behind = picture.before(workload, kMostBehind);
  if (behind.empty()) return place;
  const auto more = verdict.position - 1 - static_cast<std::int64_t>(behind.size());
  return fmt::format("{}, behind {}{}", place, fmt::join(behind, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// ", on n1, n2": the nodes of its pin.
std::string nodes_of(const queue::Workload& workload, const queue::FactsIndex& facts) {
  const queue::AdmissionFact* decided = queue::admission_of(workload);
  queue::AdmissionFact all = decided == nullptr ? queue::AdmissionFact() : *decided;
  if (workload.pods)  // each pod of a gang has its own
    for (const queue::Pod* pod : workload.pods->admitted)
      all.nodes.insert(all.nodes.end(), pod->admitted->nodes.begin(), pod->admitted->nodes.end());
  const std::string nodes = where(place_of(all, facts));
  return nodes.empty() ? "" : ", " + nodes;
}

// The owner started it as a gang, but its size is unknown.
void note_unsized_gang(const Pod& pod, Explanation& out) {
  const queue::Gang gang = queue::gang_of(pod.meta);
  if (gang.name.empty() || gang.size > 0) return;
  const Text* said = pod.meta.annotations.find(names::kPodGroupSizeAnnotation);
  out.add("queue",
          fmt::format("{} {}, so each of its pods is admitted by itself; annotation "
                      "{}: \"N\" on the pod template makes N of them a gang",
                      gang.maker,
                      said == nullptr ? std::string("says no size")
                                      : fmt::format("says '{}', which is no size", said->view()),
                      names::kPodGroupSizeAnnotation));
}

void note_membership(const QueueMembership& membership, Explanation& out) {
  out.add("queue", membership.cause.message, membership.cause.reason);
  if (!membership.advice.message.empty())
    out.remedies.push_back({membership.advice.message, membership.advice.line, {}});
}

std::string name_queue(const std::string& queue) {
  return queue.empty() ? "its queue" : "queue " + queue;
}

// berth suspended it because its GPUs were idle, and its owner must requeue it.
bool is_held_as_idle(const Job& job) {
  return job.suspended && !job.finished && !job.meta.deletion_timestamp &&
         job.meta.annotations.get(names::kHoldAnnotation) == queue::kHeldAsIdle;
}

void answer_held(const Job& job, Explanation& out) {
  out.message =
      fmt::format("{}, and annotation {} keeps it out of its queue: {}", kSuspended,
                  names::kHoldAnnotation, job.meta.annotations.get(names::kHoldAnnotation).view());
  out.remedies.insert(out.remedies.begin(),
                      {"remove the annotation, and it queues again",
                       fmt::format("kubectl annotate job -n {} {} {}-", job.meta.namespace_.view(),
                                   job.meta.name, names::kHoldAnnotation),
                       {}});
}

}  // namespace

QueueWhy::QueueWhy(const Snapshot& snapshot, const Clues& clues)
    : snapshot_(snapshot), cluster_(snapshot.cluster), queues_read_(clues.knows(kQueues)) {
  for (const char* resource :
       {"nodes", "pods", "jobs.batch", "namespaces", "gpuclusterpolicies.gpu.berth.dev", kQueues})
    if (!clues.knows(resource)) unread_.emplace_back(resource);
  if (unread_.empty() &&
      (cluster_.store<GPUQueue>().size() > 0 || queue::any_waits_for_named_queue(cluster_)))
    picture_.emplace(cluster_, snapshot.now);
  for (const auto& pod : cluster_.pods())
    if (pod->terminating() && queue::lost_since(*pod))
      lost_[queue::workload_name(*pod)].push_back(pod.get());
}

void QueueWhy::note_lost(const std::string& workload, Explanation& out) const {
  const auto found = lost_.find(workload);
  if (found == lost_.end()) return;
  const std::vector<const Pod*>& pods = found->second;
  for (std::size_t i = 0; i < pods.size() && i < kMostLost; ++i)
    out.add("lost", queue::describe_lost(pods[i]->meta.name, pods[i]->node_name.view()),
            reasons::kPodsOnDeadNode);
  if (pods.size() > kMostLost)
    out.add("lost", fmt::format("and {} more", plural(pods.size() - kMostLost, "pod")));
}

const QueueVerdict* QueueWhy::tell(const std::string& workload, const ObjectMeta& meta,
                                   const PodShape& shape, bool runs, bool answers,
                                   Explanation& out) const {
  if (workload.empty()) return nullptr;
  if (cluster_.gpu_queues().size() == 0) {
    const Text* queue = meta.labels.find(names::kQueueLabel);
    if (queue == nullptr) return nullptr;
    if (!picture_ || picture_->find(workload) == nullptr) {
      out.add("queue", fmt::format("names queue {}, which does not exist", queue->view()));
      return nullptr;
    }
  }
  const QueueMembership membership = membership_of(cluster_, picture_->index(), meta, shape);
  if (membership.queue.empty()) {
    if (membership.cause.reason != reasons::kNoGPUs) note_membership(membership, out);
    return nullptr;
  }
  const QueueVerdict* verdict = picture_->find(workload);
  const queue::Workload* known = picture_->index().facts().find(workload);
  if (verdict == nullptr) {
    const bool kueues = queue::is_left_to_kueue(meta);
    out.add("queue",
            fmt::format("{}, {}", membership.queue,
                        known != nullptr && known->standing.admitted
                            ? "which has admitted it" + nodes_of(*known, picture_->index().facts())
                        : runs   ? "which counts it: it runs without having been admitted"
                        : kueues ? "which leaves it to Kueue, whose label it has"
                                 : "which does not hold it back"));
    if (kueues && answers)  // a label gives an existing pod no gate
      out.remedies.push_back(
          {"once Kueue is gone, give it berth's label",
           fmt::format("labels: {{{}: {}}}", names::kQueueLabel, membership.queue),
           {}});
  } else {
    const std::string place = turn_of(*verdict, *picture_, workload);
    out.add("queue", verdict->queue + (place.empty() ? "" : ", " + place));
    if (!answers) out.add("queue", verdict->message, verdict->reason);
    const Condition* pause = pause_of(cluster_, verdict->queue);
    if (pause != nullptr && (!answers || !verdict->admissible()))
      out.add("queue", pause->message, pause->reason);
    for (const std::string& line : {where(verdict->place), why_not_narrower(verdict->place)})
      if (!line.empty()) out.add("queue", line);
    for (const DisplacedWork& displaced : verdict->displaced) out.add("queue", describe(displaced));
    if (!verdict->displaced.empty()) out.add("queue", when_room_is_back(verdict->ended));
    if (const std::string begins = picture_->when_it_begins(workload); !begins.empty())
      out.add("queue", begins);
  }
  if (known != nullptr && known->standing.newer && verdict == nullptr)
    out.add("queue",
            fmt::format("a later berth has recorded its admission, with version {}; this one knows "
                        "{} and leaves it alone: run the later one again",
                        queue::newer_version(*known).value_or(0), queue::kRecordVersion),
            reasons::kRecordNewer);
  if (known != nullptr && (known->standing.admitted || known->recall))
    for (const std::string& fate : job_fate(snapshot_, *known)) out.add("queue", fate);
  return verdict;
}

void QueueWhy::answer(const QueueVerdict& verdict, const char* held_by, Explanation& out) const {
  const Condition* pause = verdict.admissible() ? pause_of(cluster_, verdict.queue) : nullptr;
  const std::string& why = pause != nullptr ? pause->message : verdict.message;
  const std::string words = why.empty() ? "" : ": " + why;
  const std::string queue = name_queue(verdict.queue);
  out.reason = pause != nullptr ? pause->reason : verdict.reason;
  out.message = pause == nullptr && verdict.admissible()
                    ? fmt::format("{}; {} admits it next{}", held_by, queue, words)
                    : fmt::format("{}, and waits in {}{}", held_by, queue, words);
  const QueueAdvice advice = advice_for(verdict, index());
  if (!advice.message.empty())
    out.remedies.insert(out.remedies.begin(), {advice.message, advice.line, {}});
}

bool QueueWhy::knows_queue_of(const ObjectMeta& meta) const {
  return queues_read_ && cluster_.namespaces().find(meta.namespace_.view()) != nullptr;
}

void QueueWhy::note_recorded(const std::string& workload, const ObjectMeta& meta,
                             const PodShape& shape, const char* held_by, Explanation& out) const {
  std::string queue = meta.labels.get(names::kQueueLabel).str();
  if (knows_queue_of(meta) && cluster_.gpu_queues().size() > 0) {
    QueueMembership membership = membership_of(cluster_, index(), meta, shape);
    if (membership.queue.empty() && membership.cause.reason == reasons::kNoGPUs) return;
    if (membership.queue.empty()) return note_membership(membership, out);
    queue = std::move(membership.queue);
  }
  if (queue.empty() && !shape->asks_for_gpus()) return;
  if (queue.empty())
    if (const GPUQueue* listing = queue_listing(cluster_, workload)) queue = listing->meta.name;
  const GPUQueue* found = cluster_.gpu_queues().find(queue);
  if (held_by == nullptr) {
    const bool admitted = meta.annotations.contains(names::kAdmittedAnnotation);
    if (!queue.empty()) out.add("queue", queue + (admitted ? ", which has admitted it" : ""));
    return;
  }
  QueueVerdict verdict{.queue = queue};
  if (found == nullptr && queues_read_ && !queue.empty()) {
    verdict.reason = reasons::kQueueNotFound;
    verdict.message = "the queue that it names does not exist";
    out.add("queue", queue);
    return answer(verdict, held_by, out);
  }
  const std::optional<RecordedWait> wait = recorded_wait(found, workload, meta);
  if (!wait) return note_unknown(queue, held_by, out);
  verdict.reason = wait->reason;
  verdict.message = wait->message;
  if (wait->reason == reasons::kAdmissible) verdict.pool = queue::kAnyPool;
  const std::string place = place_in_queue(*wait);
  if (!queue.empty()) out.add("queue", queue + (place.empty() ? "" : ", " + place));
  if (const std::string start = expected_start(*wait, snapshot_.now); !start.empty())
    out.add("queue", start);
  const Condition* pause = verdict.admissible() ? nullptr : pause_of(cluster_, queue);
  if (pause != nullptr) out.add("queue", pause->message, pause->reason);
  answer(verdict, held_by, out);
}

// The answer is that it waits, and that this account may not read the recorded reason.
void QueueWhy::note_unknown(const std::string& queue, const char* held_by, Explanation& out) const {
  out.reason = held_by == kGated ? reasons::kSchedulingGated : reasons::kSuspended;
  const GPUQueue* found = cluster_.gpu_queues().find(queue);
  if (queue.empty()) {
    out.message =
        fmt::format("{}; which queue holds it, if any, is not known: this account may not read {}",
                    held_by, queues_read_ ? "its namespace" : kQueues);
    return;
  }
  out.add("queue", queue);
  const std::size_t listed = found == nullptr ? 0 : found->status.pending.size();
  const std::string why =
      found == nullptr ? fmt::format("this account may not read {}", kQueues)
      : found->status.totals.pending > std::ssize(found->status.pending)
          ? fmt::format("GPUQueue {} lists the {} that have waited longest, and not this one",
                        queue, listed)
          : fmt::format("GPUQueue {} does not list it yet", queue);
  out.message = fmt::format("{}, and waits in queue {}; why is not known: {}", held_by, queue, why);
}

// Its gang is admitted without it.
void QueueWhy::answer_uncovered(const Pod& pod, const std::string& workload,
                                Explanation& out) const {
  const queue::Workload* known = picture_ ? index().facts().find(workload) : nullptr;
  if (known == nullptr) return;
  for (const queue::UncoveredMember& member : uncovered_members(*known, index().facts()))
    if (*member.pod->uid == pod.meta.uid)
      answer({.queue = index().facts().catalog().queue_name(known->standing.queue),
              .reason = reasons::kExceedsAdmission,
              .message = member.why},
             kGated, out);
}

void QueueWhy::note(const Pod& pod, Explanation& out) const {
  const Job* job = job_of(cluster_, pod);
  const bool runs = !pod.node_name.empty();
  const bool gated = queue::is_gated(pod);
  const std::string workload =
      job != nullptr ? queue::workload_name(*job) : queue::workload_name(pod);
  const ObjectMeta& meta = job != nullptr ? job->meta : pod.meta;
  const PodShape& shape = job != nullptr ? job->pod_shape : pod.shape;
  note_lost(workload, out);
  if (!unread_.empty()) {
    if (!workload.empty()) note_recorded(workload, meta, shape, gated ? kGated : nullptr, out);
    if (gated) note_unsized_gang(pod, out);
    return;
  }
  const QueueVerdict* verdict = tell(workload, meta, shape, runs, gated, out);
  if (gated && verdict == nullptr) answer_uncovered(pod, workload, out);
  if (verdict == nullptr || !gated) return;
  answer(*verdict, kGated, out);
  note_unsized_gang(pod, out);
}

void QueueWhy::note(const Job& job, Explanation& out) const {
  note_lost(queue::workload_name(job), out);
  if (is_held_as_idle(job)) return answer_held(job, out);
  if (const Text* preempted = job.meta.annotations.find(names::kPreemptedAnnotation);
      preempted != nullptr && job.suspended)
    out.add("queue", fmt::format("berth suspended it at {}", preempted->view()));
  if (!unread_.empty()) {
    const bool held = job.suspended && !job.meta.annotations.contains(names::kHoldAnnotation) &&
                      !queue::is_left_to_kueue(job.meta);
    return note_recorded(queue::workload_name(job), job.meta, job.pod_shape,
                         held ? kSuspended : nullptr, out);
  }
  const QueueVerdict* verdict =
      tell(queue::workload_name(job), job.meta, job.pod_shape, false, true, out);
  if (verdict != nullptr) answer(*verdict, kSuspended, out);
}

std::vector<const Job*> QueueWhy::waiting_jobs(std::string_view namespace_) const {
  std::vector<const Job*> jobs;
  for (const auto& job : cluster_.jobs())
    if ((namespace_.empty() || job->meta.namespace_ == namespace_) && waits(*job))
      jobs.push_back(job.get());
  return jobs;
}

bool QueueWhy::waits(const Job& job) const {
  if (is_held_as_idle(job)) return true;
  const std::string name = queue::workload_name(job);
  if (picture_) return picture_->find(name) != nullptr;
  if (unread_.empty() || !job.suspended || job.finished || job.meta.deletion_timestamp ||
      job.meta.annotations.contains(names::kHoldAnnotation) || queue::is_left_to_kueue(job.meta))
    return false;
  if (job.meta.annotations.contains(names::kPendingReasonAnnotation)) return true;
  // A queue that this account may not read may hold it.
  if (!knows_queue_of(job.meta))
    return job.meta.labels.contains(names::kQueueLabel) || job.pod_shape->asks_for_gpus();
  if (cluster_.gpu_queues().size() == 0) return false;
  const queue::Workload* known = index().facts().find(name);
  return known != nullptr && known->standing.pending;
}

}  // namespace berth
