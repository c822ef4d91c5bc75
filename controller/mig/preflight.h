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

// Returns why no mig-manager reads berth's file, with the line to set. Nothing if the mig-manager's
// DaemonSet or NVIDIA's ClusterPolicy names it.
std::optional<std::string> agent_not_configured(const Snapshot& snapshot);

// Returns the mig-manager's DaemonSet in the namespace of NVIDIA's components, or nullptr.
const DaemonSet* find_mig_manager(const Snapshot& snapshot);

// Whether the mig-manager runs on the node, as far as selectors say.
bool runs_mig_manager(const Snapshot& snapshot, const Node& node);

// Returns every config that a node has in its label, or will get if it is rolled back.
std::set<std::string> configs_named_by_nodes(const Snapshot& snapshot);
// Returns those of them that the current file lacks. berth found their content nowhere, and the
// mig-manager would fail on them once it reads berth's file.
std::vector<std::string> configs_not_copied(const Snapshot& snapshot);

// Whether the file in the cluster has an entry for the name.
bool config_is_rendered(const Snapshot& snapshot, std::string_view config);
bool config_is_rendered(const ClusterState& cluster, const Settings& settings,
                        std::string_view config);

// Returns why the file does not have the config: berth is about to write it, or the API server
// refuses that.
Cause file_lacks(const Snapshot& snapshot, std::string_view config);
// Returns the reference that writes of the ConfigMap use.
ObjectRef agent_config_ref(const Snapshot& snapshot);

// Returns the configs that the node's label and its rollout annotation name, without aliases.
std::set<std::string> configs_named_by(const ClusterState& cluster, const Node& node);
std::set<std::string> configs_named_by(const Node& node);  // for a node that is in no store

// Returns the ConfigMap with the file, or nullptr; and when its content last changed, from its
// annotation.
const ConfigMap* find_agent_config(const Snapshot& snapshot);
std::optional<Time> agent_config_changed_at(const Snapshot& snapshot);
inline constexpr char kRenderedAtAnnotation[] = "gpu.berth.dev/rendered-at";

}  // namespace berth
