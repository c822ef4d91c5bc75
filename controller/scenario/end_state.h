// SPDX-License-Identifier: Apache-2.0
// EndState: the cluster at the end of a run: its layouts as in `kubectl get miglayouts`, its nodes
// with their resources, and pods that are still pending.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/scenario/rollout_times.h"
#include "controller/scenario/scenario_run.h"

namespace berth {

struct LayoutEnd {
  std::string name;
  std::string ready;  // the status of condition Ready; empty if berth never wrote one
  std::string reason;
  std::string message;
  std::int64_t selected = 0;
  std::int64_t updated = 0;
  std::int64_t in_progress = 0;
  std::int64_t blocked = 0;
  std::int64_t failed = 0;
  std::string config;  // hash
};

struct NodeEnd {
  std::string name;
  std::string status;  // "Ready", "NotReady", with ",SchedulingDisabled" as in kubectl
  std::string mig_config;
  std::string offers;  // "1g.10gb ×14, 2g.20gb ×2"
  int gpu_pods = 0;    // running on it
};

struct EndState {
  std::vector<LayoutEnd> layouts;
  std::vector<NodeEnd> nodes;
  std::vector<std::string> waiting;  // unbound pods, namespace/name
};
EndState end_state(const sim::Store& store, const Settings& settings);

// Tables; `outs` adds to each node the time it was out of service.
std::string print_text(const EndState& end, const std::vector<NodeOut>& outs);

// Rows below a header; columns have the width of their widest cell. Widths count UTF-8 characters.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 0);

}  // namespace berth
