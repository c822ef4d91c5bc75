// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/recorded_wait.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/queue/cycle/words.h"

namespace berth {
namespace {

bool is_reason(std::string_view word) {
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z' &&
         std::ranges::all_of(word, is_letter);
}

// "WaitingForQuota: needs … (as of 2026-11-21T12:00:00Z)", the format of reconcile_reasons.
std::optional<RecordedWait> in_annotation(const ObjectMeta& meta) {
  const Text* text = meta.annotations.find(names::kPendingReasonAnnotation);
  if (text == nullptr) return std::nullopt;
  const std::size_t colon = text->view().find(": ");
  if (colon == std::string_view::npos || !is_reason(text->view().substr(0, colon)))
    return std::nullopt;
  return RecordedWait{.reason = std::string(text->view().substr(0, colon)),
                      .message = std::string(text->view().substr(colon + 2))};
}

// The status names a workload without its kind: if two have the same name, it is ambiguous.
const PendingWorkload* in_status(const GPUQueue& queue, std::string_view workload) {
  const std::string_view name = workload.substr(workload.find('/') + 1);
  const PendingWorkload* found = nullptr;
  for (const PendingWorkload& pending : queue.status.pending) {
    if (pending.workload != name) continue;
    if (found != nullptr) return nullptr;
    found = &pending;
  }
  return found;
}

}  // namespace

std::optional<RecordedWait> recorded_wait(const GPUQueue* queue, std::string_view workload,
                                          const ObjectMeta& meta) {
  std::optional<RecordedWait> annotation = in_annotation(meta);
  const PendingWorkload* pending = queue == nullptr ? nullptr : in_status(*queue, workload);
  if (pending == nullptr) return annotation;
  RecordedWait wait{.reason = pending->reason,
                    .message = pending->message,
                    .position = pending->position,
                    .waiting = std::max(queue->status.totals.pending, pending->position),
                    .earliest = pending->earliest_start,
                    .latest = pending->latest_start};
  // The page omits a status message that may name other users' workloads.
  if (wait.message.empty() && annotation && annotation->reason == wait.reason)
    wait.message = std::move(annotation->message);
  return wait;
}

const GPUQueue* queue_listing(const ClusterState& cluster, std::string_view workload) {
  const GPUQueue* found = nullptr;
  for (const auto& queue : cluster.gpu_queues()) {
    if (in_status(*queue, workload) == nullptr) continue;
    if (found != nullptr) return nullptr;
    found = queue.get();
  }
  return found;
}

std::string words_for(std::string_view reason, std::string message,
                      const std::function<bool(std::string_view namespace_)>& sees) {
  if (!queue::names_in_full(reason)) return "";
  // "Job/team-b/train"
  for (const std::string_view kind : {"Job/", "Pod/", "PodGroup/"})
    for (std::size_t at = message.find(kind); at != message.npos; at = message.find(kind, at + 1)) {
      const std::size_t begin = at + kind.size();
      if (sees(std::string_view(message).substr(begin, message.find('/', begin) - begin))) continue;
      const std::size_t clause = message.rfind("; ", at);
      message.resize(clause == message.npos ? 0 : clause);
    }
  return message;
}

std::string place_in_queue(const RecordedWait& wait) {
  return wait.position == 0 ? "" : fmt::format("place {} of {}", wait.position, wait.waiting);
}

std::string expected_start(const RecordedWait& wait, Time now) {
  if (!wait.earliest) return "";
  const auto told = [now](Time at) { return at <= now ? "now" : format_time(at); };
  if (!wait.latest) return fmt::format("it begins at {} or later", told(*wait.earliest));
  return fmt::format(
      "it begins between {} and {}, by declared run times and those of finished Jobs",
      told(*wait.earliest), told(*wait.latest));
}

}  // namespace berth
