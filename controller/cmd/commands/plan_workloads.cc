// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/plan_workloads.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "apis/base/names.h"
#include "controller/explain/memory_why.h"

namespace berth {
namespace {

bool exists(const ClusterState& cluster, const GivenWorkload& given) {
  const std::string_view namespace_ = given.meta().namespace_.view();
  if (std::holds_alternative<Job>(given.object))
    return cluster.jobs().find(namespace_, given.meta().name) != nullptr;
  return cluster.pods().find(namespace_, given.meta().name) != nullptr;
}

// A pod with only the fields that matter for its memory.
Pod pod_of(const GivenWorkload& given) {
  Pod pod;
  pod.meta.namespace_ = given.meta().namespace_;
  pod.shape = given.shape();
  if (!given.required_gpu_memory.empty())
    pod.meta.annotations.set(names::kRequiredGpuMemoryAnnotation, given.required_gpu_memory);
  return pod;
}

}  // namespace

PlannedWorkloads plan_workloads(const std::vector<WorkloadInFile>& files,
                                const ClusterState& cluster, std::string_view namespace_) {
  PlannedWorkloads out;
  std::set<std::string> seen;
  for (const auto& [document, file] : files) {
    Finding finding{.file = file,
                    .line = document.line,
                    .object = fmt::format("{}/{}", document.kind, document.name)};
    Result<GivenWorkload> read = read_workload(document, namespace_);
    if (!read) {
      finding.field = read.error().where;
      finding.message = read.error().message;
      out.findings.push_back(std::move(finding));
      continue;
    }
    const std::string name = fmt::format("{}/{}", read->kind(), key_of(read->meta()).str());
    finding.object = name;
    if (!seen.insert(name).second) {
      finding.message = "is in these files twice; remove or rename one of the two";
      out.findings.push_back(std::move(finding));
    } else if (exists(cluster, *read)) {
      finding.message = fmt::format(
          "is in the cluster already, and left out; how it stands: berth why -n {} {}/{}",
          read->meta().namespace_.view(), read->kind() == "Job" ? "job" : "pod", read->meta().name);
      out.notes.push_back(std::move(finding));
    } else {
      finding.message = memory_lacking(cluster, pod_of(*read));
      if (!finding.message.empty()) out.notes.push_back(std::move(finding));
      out.workloads.push_back(*std::move(read));
    }
  }
  return out;
}

}  // namespace berth
