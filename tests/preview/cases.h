// SPDX-License-Identifier: Apache-2.0
// The cases under tests/golden/plan, read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/mig_layout.h"
#include "controller/dump/dump.h"
#include "controller/preview/given_workload.h"
#include "tests/support/places.h"

namespace berth {

inline const std::filesystem::path kGoldens =
    std::filesystem::path(test::source_dir()) / "tests/golden/plan";

struct GoldenCase {
  Dump dump;
  std::vector<MIGLayout> layouts;
  std::vector<GPUClusterPolicy> policies;
  std::vector<GPUQueue> queues;
  std::vector<GivenWorkload> workloads;
};
// A fault in the files fails the test that reads them.
GoldenCase read_case(const std::string& name);
std::string read_text(const std::filesystem::path& path);

}  // namespace berth
