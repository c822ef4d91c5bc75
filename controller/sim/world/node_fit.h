// SPDX-License-Identifier: Apache-2.0
// NodeFit: whether a pod fits a node: labels, taints, resources. Used by the scheduler before it
// binds, by the kubelet when the pod arrives, by the DaemonSet controller, and by taint eviction.
#pragma once

#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "apis/base/quantity.h"

namespace berth::sim {

// Whether spec.nodeSelector and the required node affinity allow the node.
bool selects_node(const nlohmann::json& pod_spec, const nlohmann::json& node);

bool tolerates(const nlohmann::json& toleration, const nlohmann::json& taint);
// The first of the node's taints with one of these effects that the pod does not tolerate; null:
// none.
const nlohmann::json* find_untolerated(const nlohmann::json& pod_spec, const nlohmann::json& node,
                                       std::initializer_list<std::string_view> effects);
// Whether spec.unschedulable is set and the pod does not tolerate its taint.
bool is_cordoned_for(const nlohmann::json& pod_spec, const nlohmann::json& node);

using Amounts = std::map<std::string, Quantity, std::less<>>;
bool is_extended(std::string_view resource);
// The maximum of the sum of all containers and of each init container with the sidecars before it,
// plus overhead.
Amounts requests_of(const nlohmann::json& pod);
Amounts allocatable_of(const nlohmann::json& node);
void add(Amounts& to, const Amounts& more);
void subtract(Amounts& from, const Amounts& less);
// The first resource that is insufficient; empty: all fit. CPU and memory count only if the node
// reports them; a missing extended resource counts as 0.
std::string find_insufficient(const Amounts& requests, const Amounts& free);

}  // namespace berth::sim
