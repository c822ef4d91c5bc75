// SPDX-License-Identifier: Apache-2.0
// Preflight: whether NVIDIA's mig-manager would read what berth writes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// Why nobody reads berth's file, with the line to set; nothing if the mig-manager's DaemonSet or
// NVIDIA's ClusterPolicy names it.
std::optional<std::string> agent_not_configured(const Snapshot& snapshot);

// The mig-manager's DaemonSet in the agents' namespace, or nullptr.
const DaemonSet* find_mig_manager(const Snapshot& snapshot);

// Whether the mig-manager runs on the node, as far as selectors tell.
bool runs_mig_manager(const Snapshot& snapshot, const Node& node);

// Every config that a node carries as its label, or will carry if it is rolled back.
std::set<std::string> configs_named_by_nodes(const Snapshot& snapshot);
// Those of them that the rendered file lacks: berth found their content nowhere, and the agent
// would fail on them once it reads berth's file.
std::vector<std::string> configs_not_copied(const Snapshot& snapshot);

// Whether the rendered file, as it stands in the cluster, has an entry for the name.
bool config_is_rendered(const Snapshot& snapshot, std::string_view config);
bool config_is_rendered(const ClusterState& cluster, const Settings& settings,
                        std::string_view config);

// Why the file does not hold the config: it is about to, or the API server refuses it.
Cause file_lacks(const Snapshot& snapshot, std::string_view config);
// The ConfigMap as the writes of it name it.
ObjectRef agent_config_ref(const Snapshot& snapshot);

// The configs that the node's label and its rollout annotation name, without aliases.
std::set<std::string> configs_named_by(const ClusterState& cluster, const Node& node);
std::set<std::string> configs_named_by(const Node& node);  // which is in no store

// The ConfigMap that holds the file, or nullptr; and when its content last changed, as berth noted.
const ConfigMap* find_agent_config(const Snapshot& snapshot);
std::optional<Time> agent_config_changed_at(const Snapshot& snapshot);
inline constexpr char kRenderedAtAnnotation[] = "gpu.berth.dev/rendered-at";

}  // namespace berth
