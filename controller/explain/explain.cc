// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/explain.h"

#include "controller/core/stop.h"
#include "controller/explain/explain_layout.h"
#include "controller/explain/explain_node.h"
#include "controller/explain/explain_pod.h"
#include "controller/explain/explain_workload.h"

namespace berth {

namespace {

Explanation explain_subject(const Snapshot& snapshot, const Subject& subject, const Clues& clues) {
  if (subject.node != nullptr) return explain_node(snapshot, *subject.node, clues);
  if (subject.layout != nullptr) return explain_layout(snapshot, *subject.layout, clues);
  if (subject.workload) return explain_workload(snapshot, *subject.workload, clues);
  return explain_pod(snapshot, *subject.pod, clues);
}

}  // namespace

Explanation explain(const Snapshot& snapshot, const Subject& subject, const Clues& clues) {
  Explanation out = explain_subject(snapshot, subject, clues);
  if (const auto stopped = why_stopped(snapshot); stopped && !out.reason.empty())
    out.add("stop", stopped->message, stopped->reason);
  return out;
}

}  // namespace berth
