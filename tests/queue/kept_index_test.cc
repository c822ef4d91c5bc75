// SPDX-License-Identifier: Apache-2.0
// An index that follows random changes of a cluster must plan the same as a new index, after every
// change.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "apis/base/names.h"
#include "controller/queue/admit/queue_keys.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

class RandomCluster {
 public:
  explicit RandomCluster(std::uint32_t seed) : random_(seed) {}

  // Changes or removes one object.
  std::string change() {
    switch (below(16)) {
      case 0:
        return put_or_erase(random_queue());
      case 1:
        return put_or_erase(namespace_of(fmt::format("ns{}", below(3)), team()));
      case 2:
        return put_or_erase(random_policy());
      case 3:
        return put_or_erase(random_class());
      case 4:
      case 5:
        return put_or_erase(random_node());
      case 6:
      case 7:
      case 8:
      case 9:
        return put_or_erase(random_job());
      case 10:
        return put_or_erase(random_ledger());
      default:
        return put_or_erase(random_pod());
    }
  }
  ClusterState cluster;

 private:
  std::uint32_t below(std::uint32_t end) { return random_() % end; }
  std::string team() { return fmt::format("team{}", below(3)); }

  template <class T>
  std::string put_or_erase(T object) {
    std::string told =
        fmt::format("{} {}/{}", kKind<T>.kind, object.meta.namespace_.view(), object.meta.name);
    if (below(5) == 0) {
      cluster.erase<T>(object.meta.namespace_, object.meta.name);
      return "erase " + told;
    }
    // Sometimes a new object with an old name, and a version without a change.
    object.meta.uid = fmt::format("{}-{}", told, below(10) == 0 ? 1 : 0);
    if (below(3) == 0) note_admission(object.meta, team(), {{"nvidia.com/gpu", below(4)}});
    cluster.upsert(std::move(object), Time{});
    return "put " + told;
  }
  GPUQueue random_queue() {
    GPUQueue queue = queue_of(team(), below(8));
    queue.meta.creation_timestamp += std::chrono::seconds(below(3));
    queue.spec.default_queue = below(2) == 0;
    if (below(4) == 0) queue.spec.quotas.front().pool = "*";
    if (below(6) == 0) queue.spec.quotas.front().resource = "gpu";
    if (below(2) == 0) queue.spec.priority_classes = {"p0", "p1"};
    if (below(4) == 0) queue.spec.stop_policy = StopPolicy::kHold;
    if (below(3) == 0) queue.spec.cohort_name.clear();
    return queue;
  }
  GPUClusterPolicy random_policy() {
    GPUClusterPolicy policy = policy_with(below(3) == 0 ? "other" : "training");
    if (below(2) == 0) policy.spec.priority_classes = {{.name = "p2", .value = 2}};
    return policy;
  }
  PriorityClass random_class() {
    PriorityClass made;
    made.meta.name = fmt::format("p{}", below(2));
    made.value = static_cast<std::int32_t>(below(5));
    made.global_default = below(2) == 0;
    return made;
  }
  Node random_node() {
    Node node = node_of(fmt::format("n{}", below(3)), static_cast<int>(below(9)));
    if (below(4) == 0) node.unschedulable = true;
    if (below(4) == 0) node.meta.labels.set("tier", "none");
    return node;
  }
  void label(ObjectMeta& meta) {
    meta.creation_timestamp += std::chrono::seconds(below(4));
    if (below(3) == 0) meta.labels.set(names::kQueueLabel, team());
    if (below(4) == 0) meta.labels.set(names::kPriorityClassLabel, fmt::format("p{}", below(3)));
  }
  // Entries for possible pods and Jobs, with their possible names and uids.
  ConfigMap random_ledger() {
    ConfigMap ledger;
    ledger.meta.name = names::kAdmissionsConfigMap;
    ledger.meta.namespace_ = "berth";
    ledger.meta.annotations.set(names::kEpochAnnotation, "1");
    for (std::uint32_t entries = below(4); entries > 0; --entries) {
      const std::string in = fmt::format("ns{}", below(3));
      const bool job = below(2) == 0;
      const std::string name = fmt::format("{}/{}{}", in, job ? "j" : "pod", below(4));
      LedgerFact entry{.workload = fmt::format("{}/{}", job ? "Job" : "Pod", name)};
      if (!job && below(2) == 0) entry.workload = fmt::format("PodGroup/{}/g", in);
      entry.admission = {.uid = fmt::format("{} {}-0", job ? "Job" : "Pod", name),
                         .queue = team(),
                         .pool = "training",
                         .amounts = {{"nvidia.com/gpu", below(4)}}};
      ledger.data[entry.admission.uid] = encode_entry(entry);
    }
    return ledger;
  }
  berth::Job random_job() {
    berth::Job job = job_of(fmt::format("ns{}", below(3)), fmt::format("j{}", below(4)),
                            static_cast<int>(below(6)));
    label(job.meta);
    job.suspended = below(3) != 0;
    job.finished = below(6) == 0;
    if (below(4) == 0) job.priority_class_name = fmt::format("p{}", below(3));
    if (below(5) == 0)
      job.meta.owner_references.push_back({.kind = "JobSet", .name = "set", .controller = true});
    return job;
  }
  berth::Pod random_pod() {
    berth::Pod pod;
    pod.meta.namespace_ = fmt::format("ns{}", below(3));
    pod.meta.name = fmt::format("pod{}", below(6));
    label(pod.meta);
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(below(4)));
    if (below(3) == 0) {
      pod.meta.labels.set(names::kPodGroupLabel, "g");
      pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
    }
    if (below(5) == 0)
      pod.shape.edit()->node_selector.set(names::kPoolLabel, below(2) == 0 ? "training" : "x");
    if (below(2) == 0)
      pod.shape.edit()->scheduling_gates.push_back(names::kQueueGate);
    else if (below(2) == 0)
      pod.node_name = fmt::format("n{}", below(4));
    if (below(3) == 0)
      pod.meta.owner_references.push_back(
          {.kind = "Job", .name = Text(fmt::format("j{}", below(4))), .controller = true});
    return pod;
  }

  std::mt19937 random_;
};

std::string planned(const ClusterState& cluster) {
  const Answers answers;
  const Settings settings{.berth_namespace = "berth"};
  const Snapshot snapshot{cluster, answers, settings, Time{}, 1};
  std::string told = print(reconcile_admissions(snapshot));
  for (const StatusUpdate& update : reconcile_queues(snapshot).statuses)
    told += update.object.str() + " " + update.body + "\n";
  for (const std::string& key : all_queue_keys(cluster, settings))
    if (key.starts_with(kReleaseKeys))
      told += print(reconcile_release(snapshot, std::string_view(key).substr(kReleaseKeys.size())));
  return told;
}

TEST(KeptIndex, PlansWhatOneMadeAnewPlans) {
  int queues_seen = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    RandomCluster random(seed);
    std::string history;
    for (int step = 0; step < 100; ++step) {
      history += random.change() + "\n";
      const std::string kept = planned(random.cluster);
      // A copy of the state has no index: it builds one from the stores.
      ASSERT_EQ(kept, planned(ClusterState(random.cluster))) << "seed " << seed << "\n" << history;
      queues_seen += kept.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(queues_seen, 500);
}

}  // namespace
}  // namespace berth::queue
