// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/cuda_why.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "apis/base/cut.h"
#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/fleet/cuda.h"

namespace berth {
namespace {

constexpr std::size_t kLongest = 64;

std::set<std::string> requirements_of(const Pod& pod, const PodClues* clues) {
  std::set<std::string> out;
  if (const Text* version = pod.meta.annotations.find(names::kRequiredCudaAnnotation))
    if (auto requirement = cuda_at_least(version->view())) out.insert(*requirement);
  if (clues == nullptr) return out;
  for (const ContainerClue& container : clues->containers)
    if (!container.require_cuda.empty()) out.insert(container.require_cuda);
  return out;
}

}  // namespace

void note_cuda(const Pod& pod, const PodClues* clues, const std::vector<const Node*>& nodes,
               Explanation& out) {
  for (const std::string& requirement : requirements_of(pod, clues)) {
    std::map<std::string, std::vector<std::string>> short_of;  // by the version that they have
    for (const Node* node : nodes)
      if (const NodeCuda has = cuda_of(*node); contradicts(requirement, has))
        short_of[told(has)].push_back(node->meta.name);
    for (auto& [has, names] : short_of)
      out.add("cuda",
              fmt::format("needs {}, and the driver there has {}: its containers can't start; use "
                          "an image for that, or a newer driver",
                          cut(requirement, kLongest), has),
              reasons::kCudaTooOld, std::move(names));
  }
}

}  // namespace berth
