// SPDX-License-Identifier: Apache-2.0
// EndState: how a run has left the cluster: its layouts as `kubectl get miglayouts` shows them, its
// nodes with what each offers, and pods that found no place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/scenario/rollout_times.h"
#include "controller/scenario/scenario_run.h"

namespace berth {

struct LayoutEnd {
  std::string name;
  std::string ready;  // a condition's status; empty if berth never wrote one
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
  std::string status;  // "Ready", "NotReady", with ",SchedulingDisabled" as kubectl writes it
  std::string mig_config;
  std::string offers;  // "1g.10gb ×14, 2g.20gb ×2"
  int gpu_pods = 0;    // that run on it
};

struct EndState {
  std::vector<LayoutEnd> layouts;
  std::vector<NodeEnd> nodes;
  std::vector<std::string> waiting;  // pods that are bound nowhere, namespace/name
};
EndState end_state(const sim::Store& store, const Settings& settings);

// Tables; `outs` gives each node the time it was out.
std::string print_text(const EndState& end, const std::vector<NodeOut>& outs);

// Rows under a header, columns as wide as their widest cell; UTF-8 counts by letters.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 0);

}  // namespace berth
