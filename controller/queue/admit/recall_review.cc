// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/admit/recall_review.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "controller/queue/index/named.h"
#include "controller/queue/recall/gang_recall.h"
#include "controller/queue/record/recall.h"

namespace berth::queue {
namespace {

// A release that was sent just before the mark was written may take effect within this time.
constexpr Duration kSettled = kRequestTimeout;
// Between the old and the new pods of a gang there may be none. After this time the gang is gone.
constexpr Duration kGoneAfter = std::chrono::minutes(5);
// Beyond this many marks that only count failures or keep the gang's age, the oldest are removed.
constexpr std::size_t kMostKept = kMostRecalls / 2;

Time moment_at(std::int64_t microseconds) { return Time(std::chrono::microseconds(microseconds)); }

// Whether all pods of the re-created gang have been Ready.
bool has_begun(const Snapshot& snapshot, const ClusterIndex& index, const Workload& workload) {
  if (!workload.standing.admitted || workload.standing.to_release) return false;
  const auto ready = std::ranges::count_if(
      pods_of(snapshot.cluster, index, *workload.name),
      [](const berth::Pod* pod) { return pod->has_been_ready && !pod->finished(); });
  return ready >= workload.standing.pods;
}

class RecallReviewer {
 public:
  RecallReviewer(const Snapshot& snapshot, const ClusterIndex& index, LedgerReview& out)
      : snapshot_(snapshot), index_(index), out_(out) {}

  void take(const std::string& key, const RecallFact& recall) {
    const Workload* workload = index_.facts().find(recall.workload);
    out_.bytes += encode_recall(recall).size();
    if (recall.version > kRecordVersion) return;
    if (workload != nullptr && has_round(*workload, recall.since)) return;
    if (recall.leaves_out()) return take_left_out(key, recall, workload);
    if (is_early(moment_at(recall.at) + kSettled)) return;
    if (is_gone(workload)) return take_gone(key, recall);
    const bool done =
        recall.times > 0 ? has_begun(snapshot_, index_, *workload) : !workload->standing.pending;
    if (done) return drop(key);
    counting_.emplace(recall.at, key);
  }
  void finish() {
    for (; counting_.size() > kMostKept; counting_.erase(counting_.begin()))
      drop(counting_.begin()->second);
  }

 private:
  // The gang's wait is over, or a user has deleted its oldest pod to try it again. Only a complete
  // gang shows which pod is the oldest.
  void take_left_out(const std::string& key, RecallFact recall, const Workload* workload) {
    if (recall.until != 0 && !is_early(moment_at(recall.until))) {
      recall.until = 0;
      recall.first.clear();
      return put(key, recall);
    }
    if (is_gone(workload)) {
      if (recall.until == 0) take_gone(key, recall);
      return;
    }
    const Standing& standing = workload->standing;
    if (!standing.pending || standing.pods_here < standing.pods) return;
    if (recall.first.empty()) {
      recall.first = *standing.uid;
      return put(key, recall);
    }
    if (recall.first == *standing.uid) return;
    recall.times = recall.until = 0;
    recall.first.clear();
    put(key, recall);
  }
  void take_gone(const std::string& key, const RecallFact& recall) {
    if (!is_early(moment_at(recall.at) + kGoneAfter)) drop(key);
  }
  static bool is_gone(const Workload* workload) { return workload == nullptr || !workload->pods; }
  bool is_early(Time time) {
    if (time <= snapshot_.now) return false;
    out_.again = out_.again ? std::min(*out_.again, time) : time;
    return true;
  }
  void put(const std::string& key, const RecallFact& recall) {
    out_.changes[key] = encode_recall(recall);
    out_.at_once = true;
  }
  void drop(const std::string& key) { out_.changes[key] = std::nullopt; }

  const Snapshot& snapshot_;
  const ClusterIndex& index_;
  LedgerReview& out_;
  std::set<std::pair<std::int64_t, std::string>> counting_;  // by the time of writing
};

}  // namespace

void review_recalls(const Snapshot& snapshot, const AdmissionLedger& ledger,
                    const ClusterIndex& index, LedgerReview& review) {
  RecallReviewer reviewer(snapshot, index, review);
  for (const auto& [key, recall] : ledger.recalls) reviewer.take(key, recall);
  reviewer.finish();
}

}  // namespace berth::queue
