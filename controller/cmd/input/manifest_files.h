// SPDX-License-Identifier: Apache-2.0
// ManifestFiles: the files of -f, read and decoded strictly.
#pragma once

#include <string>
#include <vector>

#include "apis/base/result.h"
#include "apis/codec/manifest.h"

namespace berth {

struct LayoutInFile {
  MIGLayout layout;
  ManifestDocument document;
  std::string file;
};

struct PolicyInFile {
  GPUClusterPolicy policy;
  ManifestDocument document;
  std::string file;
};

struct QueueInFile {
  GPUQueue queue;
  ManifestDocument document;
  std::string file;
};

struct WorkloadInFile {  // a Job or a Pod, not decoded yet
  ManifestDocument document;
  std::string file;
};

struct ManifestFiles {
  std::vector<LayoutInFile> layouts;
  std::vector<PolicyInFile> policies;
  std::vector<QueueInFile> queues;
  std::vector<WorkloadInFile> workloads;
  std::vector<Finding> findings;  // in file order, by line
  std::vector<Finding> skipped;   // objects of other kinds, and empty files
};

// Reads the files like read_manifest_texts(). Errors inside a file are findings. Workloads are
// taken, or skipped like other foreign kinds.
enum class Workloads { kSkip, kTake };
Result<ManifestFiles> read_manifests(const std::vector<std::string>& paths,
                                     Workloads workloads = Workloads::kSkip);

}  // namespace berth
