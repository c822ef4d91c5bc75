// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/pod_trouble.h"

#include "apis/base/cut.h"
#include "apis/kinds/exporter_pod.h"

namespace berth {
namespace {

// The kubelet writes short reasons, but other writers may write much more.
constexpr std::size_t kLongestReason = 64;

}  // namespace

void note_waiting(std::string_view reason, std::string& first) {
  if (!first.empty() || reason == "ContainerCreating" || reason == "PodInitializing") return;
  first = head(reason, kLongestReason);
}

void PodTrouble::keep_in(Pod& pod) && {
  pod.trouble = Text(!reason.empty()         ? head(reason, kLongestReason)
                     : !init_waiting.empty() ? init_waiting
                                             : waiting);
  // Only few pods have one: with fifty thousand pods, each address would be one more string.
  pod.address = has_exporter_labels(pod.meta.labels) ? Text(address) : Text();
}

}  // namespace berth
