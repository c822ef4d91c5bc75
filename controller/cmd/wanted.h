// SPDX-License-Identifier: Apache-2.0
// Wanted: what commands read of a cluster, list by list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/meta.h"
#include "controller/core/settings.h"

namespace berth {

struct Wanted {
  KindInfo kind;
  std::string namespace_;
  std::string name;  // empty: a list
  std::string label_selector;
  bool may_be_missing = false;  // a CRD that is not installed, a ConfigMap nobody made
  // What is worse off without it; set where the dump does without, and says so.
  std::string_view optional_for = {};
  bool in_silence = false;  // or does not say so
  std::string field_selector = {};
};

// In the order that DumpWriter asks for.
std::vector<Wanted> wanted_of_cluster(const Settings& settings);

// A ConfigMap in the namespace of NVIDIA's agents that a ClusterPolicy names.
Wanted wanted_file_of_agents(const Settings& settings, const std::string& name);

// And what tells why a namespace's workloads have no pods; empty: of all namespaces.
std::vector<Wanted> wanted_of_workloads(const std::string& namespace_);

}  // namespace berth
