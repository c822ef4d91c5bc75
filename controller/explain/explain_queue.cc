// SPDX-License-Identifier: Apache-2.0
// Outline: what is told of any workload; of a pod, and of a Job; who waits.
#include "controller/explain/explain_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/names.h"
#include "apis/reasons.h"
#include "controller/core/conditions.h"
#include "controller/core/plural.h"
#include "controller/explain/job_fate.h"
#include "controller/preview/queue_membership.h"
#include "controller/queue/facts_from.h"
#include "controller/queue/gang_adapters.h"
#include "controller/queue/queue_conditions.h"

namespace berth {
namespace {

// Named of those that come before it.
constexpr std::size_t kMostBehind = 3;

// Null if the pod is let go by itself, or with its gang.
const Job* job_of(const ClusterState& cluster, const Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr || !queue::workload_name(pod).starts_with("Job/")) return nullptr;
  return cluster.jobs().find(pod.meta.namespace_.view(), owner->name.view());
}

// Why the queue admits nobody, as it says itself; null: it does.
const Condition* pause_of(const ClusterState& cluster, const std::string& queue) {
  const GPUQueue* found = cluster.gpu_queues().find(queue);
  return found == nullptr ? nullptr : find_true(found->status.conditions, kAdmissionsPaused);
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

// ", on n1, n2": of what is pinned to them.
std::string nodes_of(const queue::Workload& workload, const queue::FactsIndex& facts) {
  const queue::AdmissionFact* decided = queue::admission_of(workload);
  queue::AdmissionFact all = decided == nullptr ? queue::AdmissionFact() : *decided;
  if (workload.pods)  // each of a gang says its own
    for (const queue::Pod* pod : workload.pods->admitted)
      all.nodes.insert(all.nodes.end(), pod->admitted->nodes.begin(), pod->admitted->nodes.end());
  const std::string nodes = where(place_of(all, facts));
  return nodes.empty() ? "" : ", " + nodes;
}

// Who made it means it to run with others, and nobody says with how many.
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

}  // namespace

QueueWhy::QueueWhy(const ClusterState& cluster, const Clues& clues, Time now) : cluster_(cluster) {
  if (cluster.store<GPUQueue>().size() > 0) picture_.emplace(cluster, now);
  for (const char* resource :
       {"nodes", "pods", "jobs.batch", "namespaces", "gpuclusterpolicies.gpu.berth.dev"})
    if (!clues.knows(resource)) unread_.emplace_back(resource);
}

const QueueVerdict* QueueWhy::tell(const std::string& workload, const ObjectMeta& meta,
                                   const PodShape& shape, bool runs, bool answers,
                                   Explanation& out) const {
  if (workload.empty()) return nullptr;
  if (!picture_) {  // none, or none that may be read
    if (const Text* queue = meta.labels.find(names::kQueueLabel))
      out.add("queue", fmt::format("names queue {}", queue->view()));
    return nullptr;
  }
  const QueueMembership membership = membership_of(cluster_, picture_->index(), meta, shape);
  if (membership.queue.empty()) {
    if (membership.cause.reason == reasons::kNoGPUs) return nullptr;
    out.add("queue", membership.cause.message, membership.cause.reason);
    if (!membership.advice.message.empty())
      out.remedies.push_back({membership.advice.message, membership.advice.line, {}});
    return nullptr;
  }
  if (!unread_.empty()) {
    out.add("queue", fmt::format("{}; its place there hangs on what this account may not read: {}",
                                 membership.queue, fmt::join(unread_, ", ")));
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
    if (kueues && answers)  // a label gives a pod no gate
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
  if (known != nullptr && (known->standing.admitted || known->recall))
    for (const std::string& fate : job_fate(cluster_, *known)) out.add("queue", fate);
  return verdict;
}

void QueueWhy::answer(const QueueVerdict& verdict, const char* held_by, Explanation& out) const {
  const Condition* pause = verdict.admissible() ? pause_of(cluster_, verdict.queue) : nullptr;
  out.reason = pause != nullptr ? pause->reason : verdict.reason;
  out.message =
      pause != nullptr
          ? fmt::format("{}, and waits in queue {}: {}", held_by, verdict.queue, pause->message)
      : verdict.admissible()
          ? fmt::format("{}; queue {} admits it next: {}", held_by, verdict.queue, verdict.message)
          : fmt::format("{}, and waits in queue {}: {}", held_by, verdict.queue, verdict.message);
  const QueueAdvice advice = advice_for(verdict, picture_->index());
  if (!advice.message.empty())
    out.remedies.insert(out.remedies.begin(), {advice.message, advice.line, {}});
}

void QueueWhy::note(const Pod& pod, Explanation& out) const {
  const Job* job = job_of(cluster_, pod);
  const bool runs = !pod.node_name.empty();
  const bool gated = queue::is_gated(pod);
  const QueueVerdict* verdict =
      job != nullptr ? tell(queue::workload_name(*job), job->meta, job->pod_shape, runs, gated, out)
                     : tell(queue::workload_name(pod), pod.meta, pod.shape, runs, gated, out);
  if (verdict == nullptr || !gated) return;
  answer(*verdict, "it is gated", out);
  note_unsized_gang(pod, out);
}

void QueueWhy::note(const Job& job, Explanation& out) const {
  const QueueVerdict* verdict =
      tell(queue::workload_name(job), job.meta, job.pod_shape, false, true, out);
  if (verdict != nullptr) answer(*verdict, "it is suspended", out);
}

std::vector<const Job*> QueueWhy::waiting_jobs(std::string_view namespace_) const {
  std::vector<const Job*> jobs;
  if (!picture_ || !unread_.empty()) return jobs;
  for (const auto& job : cluster_.jobs())
    if ((namespace_.empty() || job->meta.namespace_ == namespace_) &&
        picture_->find(queue::workload_name(*job)) != nullptr)
      jobs.push_back(job.get());
  return jobs;
}

}  // namespace berth
