// SPDX-License-Identifier: Apache-2.0
// The pin: what of a required node affinity binds an admitted pod to the nodes that were chosen for
// it. In every term, as terms are alternatives.
#pragma once

#include <string>
#include <vector>

#include "apis/core.h"
#include "controller/core/store.h"
#include "controller/queue/facts.h"

namespace berth::queue {

struct NodePin {
  std::vector<std::string> values;  // empty: none
  bool by_name = true;              // else they are hostnames
};

// By name to one node, else by the nodes' hostname labels, as a requirement on names takes one
// value alone. No pin if a node has no such label.
NodePin pin_to(const std::vector<std::string>& nodes, const Store<Node>& among);

// What a merge patch makes of spec.affinity, so that these terms stand there with the pin in each.
std::string affinity_patch(std::vector<NodeSelectorTerm> terms, const NodePin& pin);

// Whether the requirement is the pin that an admission of that record made.
bool is_pin_of(const AdmissionFact& admission, const SelectorRequirement& requirement);

// The shape as it was before the admission: without the pool in its selector, and without the pin.
PodShape without_admission(const PodShape& shape, const AdmissionFact& admission);

}  // namespace berth::queue
