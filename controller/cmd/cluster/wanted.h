// SPDX-License-Identifier: Apache-2.0
// Wanted: the lists and objects that commands read from a cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/meta.h"
#include "controller/core/settings.h"

namespace berth {

struct Wanted {
  KindInfo kind;
  std::string namespace_;
  std::string name;  // empty: a list
  std::string label_selector;
  // for example a CRD that is not installed, or a ConfigMap that does not exist
  bool may_be_missing = false;
  // What needs it. If set, the dump does without it and notes that.
  std::string_view optional_for = {};
  bool in_silence = false;  // or without a note
  std::string field_selector = {};
};

// In the order that DumpWriter needs.
std::vector<Wanted> wanted_of_cluster(const Settings& settings);

// A ConfigMap that a ClusterPolicy names, in the namespace of NVIDIA's node components.
Wanted wanted_file_of_agents(const Settings& settings, const std::string& name);

// Also what explains why a namespace's workloads have no pods; empty: of all namespaces.
std::vector<Wanted> wanted_of_workloads(const std::string& namespace_);

}  // namespace berth
