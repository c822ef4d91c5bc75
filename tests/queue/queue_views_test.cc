// SPDX-License-Identifier: Apache-2.0
// The queue's small views (core/view.h): after many changes they equal new ones.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "controller/core/cluster_state.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/index/queue_choice.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/starts/run_shares.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

constexpr const char* kNamespaces[] = {"a", "b", "berth-system"};

std::string told(const AdmissionLedgers& ledgers) {
  std::string out;
  for (const char* namespace_ : kNamespaces) {
    const AdmissionLedger& ledger = ledgers.in(namespace_);
    out += fmt::format("{} {} epoch {} unreadable {}:", namespace_, ledger.config_map != nullptr,
                       ledger.epoch, fmt::join(ledger.unreadable, ","));
    for (const auto& [uid, entry] : ledger.entries)
      out += fmt::format(" {}={}", uid, encode_entry(entry));
    out += "\n";
  }
  return out;
}

std::string told(const UsageLedgers& ledgers) {
  std::string out;
  for (const char* namespace_ : kNamespaces) {
    GpuHours hours = ledgers.in(namespace_);
    out += namespace_;
    for (const auto& [key, text] : encode_usage(hours)) out += fmt::format(" {}={}", key, text);
    out += "\n";
  }
  return out;
}

std::string told(const RunShares& shares) {
  std::string out;
  for (const char* namespace_ : kNamespaces) {
    const Shares& of = shares.in(namespace_);
    out +=
        fmt::format("{} {} {:.6f} {:.6f}\n", namespace_, of.size(), of.at(0.1, 0), of.at(0.9, 0));
  }
  return out;
}

std::string told(const QueueChoice& choice) {
  std::string out;
  for (const char* namespace_ : kNamespaces) {
    out += fmt::format("{} is in {}", namespace_, choice.choose(namespace_, ""));
    if (const auto* selecting = choice.selecting(namespace_))
      out += fmt::format(", selected by {}", fmt::join(*selecting, ","));
    out += "\n";
  }
  for (const auto& [queue, lost] : choice.lost_defaults())
    out += fmt::format("{} is not the default of {}\n", queue, fmt::join(lost, ","));
  for (const auto& [name, queue] : choice.queues())
    out += fmt::format("{} {}\n", name, queue->spec.default_queue);
  return out;
}

template <class View>
void expect_as_made_anew(const ClusterState& cluster) {
  EXPECT_EQ(told(cluster.view<View>()), told(cluster.rebuilt<View>()));
}

// Any object in two teams' namespaces or in berth's is created, changed or deleted.
class QueueChance {
 public:
  explicit QueueChance(unsigned seed) : random_(seed) {}

  void change(ClusterState& cluster) {
    switch (below(8)) {
      case 0:
        cluster.erase<Namespace>("", namespace_());
        return;
      case 1:
        cluster.erase<GPUQueue>("", team());
        return;
      case 2:
        cluster.erase<berth::Job>(namespace_(), job());
        return;
      case 3:
        cluster.erase<ConfigMap>(namespace_(), ledger());
        return;
      case 4:
        cluster.upsert(namespace_of(namespace_(), team()), {});
        return;
      case 5:
        cluster.upsert(some_queue(), {});
        return;
      case 6:
        cluster.upsert(some_job(), {});
        return;
      default:
        cluster.upsert(some_ledger(), {});
    }
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  std::string namespace_() { return kNamespaces[below(3)]; }
  std::string team() { return below(2) == 0 ? "vision" : "nlp"; }
  std::string job() { return fmt::format("job-{}", below(3)); }
  std::string ledger() {
    return below(2) == 0 ? names::kAdmissionsConfigMap : names::kUsageConfigMap;
  }

  GPUQueue some_queue() {
    GPUQueue made = queue_of(team(), 4);
    made.spec.namespace_selector->match_labels["team"] = team();
    made.spec.default_queue = below(3) > 0;
    made.meta.creation_timestamp = Time(std::chrono::hours(below(3)));
    if (below(6) == 0) made.spec.namespace_selector.reset();
    return made;
  }

  berth::Job some_job() {
    berth::Job made = job_of(namespace_(), job(), 1);
    made.start_time = Time(std::chrono::hours(1));
    if (below(3) > 0) made.active_deadline_seconds = 3600 * (1 + below(3));
    if (below(2) == 0) made.finished_at = Time(std::chrono::hours(2 + below(2)));
    return made;
  }

  ConfigMap some_ledger() {
    ConfigMap made;
    made.meta.namespace_ = namespace_();
    made.meta.name = made.meta.uid = below(4) == 0 ? "another" : ledger();
    made.meta.annotations.set(names::kEpochAnnotation, std::to_string(below(5)));
    if (below(2) == 0)
      made.data["uid-1"] = encode_entry({.workload = "Job/a/" + job(), .generation = 1 + below(3)});
    if (below(4) == 0) made.data["uid-2"] = "no JSON";
    if (below(2) == 0) {
      GpuHours hours;
      hours.at = Time(std::chrono::hours(24));
      hours.days["1970-01-01"][team()][namespace_()] = 1 + below(3);
      made.data.merge(encode_usage(hours));
    }
    return made;
  }

  std::mt19937 random_;
};

TEST(QueueViews, KeptChangeByChangeTheySayWhatTheyWouldMadeAnew) {
  for (unsigned seed = 0; seed < 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    QueueChance chance(seed);
    ClusterState cluster;
    std::vector<ClusterState> copies;
    for (int step = 0; step < 150 && !HasFailure(); ++step) {
      // A copy changes on its own; its changes do not affect the original.
      if (step % 40 == 20) copies.push_back(cluster);
      if (!copies.empty()) chance.change(copies.back());
      chance.change(cluster);
      for (const ClusterState* state : {&cluster, copies.empty() ? &cluster : &copies.back()}) {
        expect_as_made_anew<AdmissionLedgers>(*state);
        expect_as_made_anew<UsageLedgers>(*state);
        expect_as_made_anew<RunShares>(*state);
        expect_as_made_anew<QueueChoice>(*state);
      }
    }
  }
}

}  // namespace
}  // namespace berth::queue
