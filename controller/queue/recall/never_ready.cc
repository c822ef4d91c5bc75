// SPDX-License-Identifier: Apache-2.0
// Outline: which pods have not been Ready, and since when; whether the workload can be taken back.
#include "controller/queue/recall/never_ready.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "controller/core/patience.h"
#include "controller/queue/facts/backoff.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/named.h"
#include "controller/queue/recall/gang_recall.h"
#include "controller/queue/recall/requeue.h"
#include "controller/queue/record/setback.h"

namespace berth::queue {
namespace {

Time moment(std::int64_t microseconds) { return Time(std::chrono::microseconds(microseconds)); }

const AdmissionFact* runs_as(const Workload& workload) {
  if (is_running_gang(workload)) return workload.standing.admission;
  return workload.job && !workload.job->suspended ? workload.job->admitted.get() : nullptr;
}

std::optional<Duration> time_to_be_ready(const ClusterState& cluster, const Workload& workload) {
  const AdmissionFact* record = runs_as(workload);
  if (record == nullptr) return std::nullopt;
  const GPUQueue* queue = cluster.gpu_queues().find(record->queue);
  return queue == nullptr ? std::nullopt : queue->spec.pods_ready_timeout;
}

// Counts pods that were never created. Once a pod has ended, missing pods are replacements on their
// way. The Job's own count must agree, because it may be older than the last pod's end.
std::int64_t never_made(const Workload& workload, const berth::Job& job) {
  const bool ended = job.failed + job.succeeded + job.uncounted + job.terminating > 0;
  if (ended || job.ignores_disruptions) return 0;
  std::int64_t live = 0;
  if (workload.pods) {
    for (const auto& [shape, members] : workload.pods->shapes) {
      if (members.leaving > 0) return 0;
      live += members.live();
    }
  }
  return job.active == live ? std::max<std::int64_t>(0, workload.job->wanted - live) : 0;
}

class Lateness {
 public:
  explicit Lateness(std::int64_t admitted) : admitted_(admitted) {}
  void add(std::int64_t pods, std::int64_t created) {
    if (pods == 0) return;
    const std::int64_t expected = std::max(admitted_, created);
    since_ = pods_ == 0 ? expected : std::min(since_, expected);
    pods_ += pods;
  }
  std::int64_t pods() const { return pods_; }
  Time since() const { return moment(since_); }

 private:
  std::int64_t admitted_;
  std::int64_t pods_ = 0;
  std::int64_t since_ = 0;  // valid if pods_ > 0
};

Lateness lateness_of(const Workload& workload, const berth::Job& job,
                     const std::vector<const berth::Pod*>& bound) {
  Lateness late(workload.job->admitted->since);
  late.add(never_made(workload, job), 0);
  if (workload.pods) {
    for (const Pod* pod : workload.pods->all)
      if (!pod->on_node()) late.add(1, pod->created);
  }
  for (const berth::Pod* pod : bound)
    if (!pod->has_been_ready && !pod->terminating())
      late.add(1, pod->meta.creation_timestamp.time_since_epoch().count());
  return late;
}

// Missing pods are being re-created and have their own time later, so they do not count. A gated
// pod may be one too many, so it does not count either.
NeverReady look_at_gang(const ClusterState& cluster, const Workload& workload, Duration timeout) {
  NeverReady out;
  const std::int64_t since = workload.standing.admission->since;
  std::vector<const berth::Pod*> round = round_of(cluster, workload, since);
  Lateness late(since);
  for (const berth::Pod* pod : round) {
    if (pod->terminating()) continue;
    if (!pod->has_been_ready) late.add(1, pod->meta.creation_timestamp.time_since_epoch().count());
    if (!pod->node_name.empty()) out.bound.push_back(pod);
  }
  out.pods = late.pods();
  if (out.pods == 0) return out;
  out.since = late.since();
  out.until = out.since + timeout;
  out.stays = why_gang_stays(cluster, workload, round, out.bound);
  if (out.stays.empty()) out.recalled = std::move(round);
  return out;
}

}  // namespace

Time NeverReady::ends(const Snapshot& snapshot) const {
  return patience_ends(snapshot, since, std::chrono::floor<Duration>(until - since));
}

std::optional<NeverReady> never_ready(const ClusterState& cluster, const Workload& workload) {
  const auto timeout = time_to_be_ready(cluster, workload);
  if (timeout && !workload.job) {
    NeverReady gang = look_at_gang(cluster, workload, *timeout);
    return gang.pods == 0 ? std::nullopt : std::optional(std::move(gang));
  }
  const berth::Job* job = timeout ? find_named(cluster.jobs(), *workload.name) : nullptr;
  if (job == nullptr || job->finished) return std::nullopt;
  NeverReady out{.bound = bound_pods(cluster, *job)};
  const Lateness late = lateness_of(workload, *job, out.bound);
  if (late.pods() == 0) return std::nullopt;
  out.pods = late.pods();
  out.since = late.since();
  out.until = out.since + *timeout;
  if (requeued_of(cluster, workload) == nullptr)
    out.stays = "its queue would not let it go again";
  else if (const auto overdraft = find_overdraft(cluster, out.bound))
    out.stays = fmt::format("PodDisruptionBudget {} keeps its pods", overdraft->budget->meta.name);
  else
    out.requeued = job;
  return out;
}

bool has_overcome_setbacks(const ClusterState& cluster, const Workload& workload) {
  if (!workload.job || runs_as(workload) == nullptr) return false;
  const berth::Job* job = find_named(cluster.jobs(), *workload.name);
  if (job == nullptr || job->finished || !setback_on(job->meta)) return false;
  const auto ready = std::ranges::count_if(
      bound_pods(cluster, *job), [](const berth::Pod* pod) { return pod->has_been_ready; });
  return ready >= workload.job->wanted;
}

bool is_timed(const ClusterState& cluster, const Workload& workload) {
  if (workload.job && workload.job->setbacks > 0) return workload.job->setbacks < kMostSetbacks;
  return time_to_be_ready(cluster, workload).has_value();
}

}  // namespace berth::queue
