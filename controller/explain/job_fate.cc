// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/job_fate.h"

#include <fmt/format.h>

#include <chrono>

#include "apis/time.h"
#include "controller/core/plural.h"
#include "controller/queue/never_ready.h"
#include "controller/queue/stranded.h"

namespace berth {
namespace {

std::string unless_stays(const std::string& stays) {
  return stays.empty() ? "it is suspended whole, and queues again"
                       : fmt::format("berth leaves it so: {}", stays);
}

}  // namespace

std::vector<std::string> job_fate(const ClusterState& cluster, const queue::Workload& workload) {
  std::vector<std::string> told;
  if (const auto stands = queue::stranded(cluster, workload))
    told.push_back(fmt::format("{}: {}", stands->why, unless_stays(stands->stays)));
  if (const auto late = queue::never_ready(cluster, workload))
    told.push_back(fmt::format("{} {} not been Ready yet; if that is so at {}, {}",
                               plural(late->pods, "pod"), word_for(late->pods, "has", "have"),
                               format_time(std::chrono::ceil<std::chrono::seconds>(late->until)),
                               unless_stays(late->stays)));
  return told;
}

}  // namespace berth
