// SPDX-License-Identifier: Apache-2.0
// What keeps a pod from a node: labels, taints, resources. Read by the scheduler before it binds,
// by the kubelet when the pod arrives, by the DaemonSet controller and by whoever evicts for
// taints.
#pragma once

#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "apis/quantity.h"

namespace berth::sim {

// Whether spec.nodeSelector and the required node affinity admit the node.
bool selects_node(const nlohmann::json& pod_spec, const nlohmann::json& node);

bool tolerates(const nlohmann::json& toleration, const nlohmann::json& taint);
// The first of the node's taints with one of these effects that the spec's tolerations leave; null:
// none.
const nlohmann::json* find_untolerated(const nlohmann::json& pod_spec, const nlohmann::json& node,
                                       std::initializer_list<std::string_view> effects);
// spec.unschedulable, and nobody tolerates the taint that goes with it.
bool is_cordoned_for(const nlohmann::json& pod_spec, const nlohmann::json& node);

using Amounts = std::map<std::string, Quantity, std::less<>>;
bool is_extended(std::string_view resource);
// The larger of all containers together and of each init container with the sidecars before it,
// plus overhead.
Amounts requests_of(const nlohmann::json& pod);
Amounts allocatable_of(const nlohmann::json& node);
void add(Amounts& to, const Amounts& more);
void subtract(Amounts& from, const Amounts& less);
// The first resource of which there is not enough; empty: all fits. CPU and memory of a node that
// does not tell them are not counted; an extended resource that is not there is none.
std::string find_insufficient(const Amounts& requests, const Amounts& free);

}  // namespace berth::sim
