// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/kubelet_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "apis/base/reasons.h"

namespace berth {
namespace {

struct Row {
  std::string_view word;  // status.reason, or its start
  const char* reason;
  const char* message;  // after "the kubelet of n1 has refused it"
  const char* remedy;
};
constexpr Row kRows[] = {
    {"TopologyAffinityError", reasons::kTopologyAffinityError,
     "its Topology Manager found no NUMA node, or no few enough, with all the CPUs and GPUs that "
     "it asks for; the scheduler does not know of that, and may send the next one there again",
     "ask for no more GPUs and CPUs than one NUMA node has, in most servers half of them; or have "
     "topologyManagerPolicy best-effort in the kubelet's configuration of these nodes"},
    {"UnexpectedAdmissionError", reasons::kRejectedByKubelet,
     "a device that it asks for was not to be had when it came: the device plugin was away, or "
     "the device has gone",
     "see by berth why node whether the node offers all of its GPUs; what made the pod makes "
     "another"},
    {"OutOf", reasons::kRejectedByKubelet,
     "the node had less left than it asks for when it came: something was started there past the "
     "scheduler, or the node offers less than before",
     "see by berth why node what the node offers; what made the pod makes another"},
    {"NodeAffinity", reasons::kRejectedByKubelet,
     "the node's labels are not any more what it requires, as after a restart of the kubelet",
     "what made the pod makes another"},
};

}  // namespace

void explain_refusal(const Pod& pod, Explanation& out) {
  if (pod.phase != PodPhase::kFailed || pod.trouble.empty()) return;
  const auto* row = std::ranges::find_if(
      kRows, [&](const Row& each) { return pod.trouble.view().starts_with(each.word); });
  if (row == std::end(kRows)) {
    out.message = fmt::format("it has ended ({}) and holds nothing", pod.trouble.view());
    return;
  }
  out.reason = row->reason;
  out.message = fmt::format("the kubelet of {} has refused it ({}): {}", pod.node_name.view(),
                            pod.trouble.view(), row->message);
  out.remedies.push_back({row->remedy, "", {}});
}

void note_start(const Pod& pod, Explanation& out) {
  if (!pod.trouble.empty() && !pod.finished())
    out.add("kubelet", fmt::format("a container of it waits: {}", pod.trouble.view()),
            pod.trouble.str());
}

}  // namespace berth
