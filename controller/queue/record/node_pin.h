// SPDX-License-Identifier: Apache-2.0
// NodePin: the requirement of the required node affinity that pins an admitted pod to its chosen
// nodes. berth adds it to every term, because terms are alternatives.
#pragma once

#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "controller/core/store.h"
#include "controller/queue/facts/facts.h"

namespace berth::queue {

struct NodePin {
  std::vector<std::string> values;  // empty: no pin
  bool by_name = true;              // node names; otherwise hostname labels
};

// Pins to one node by its name, or to several by their hostname labels: a requirement on names
// takes only one value. There is no pin if one of several nodes has no such label.
NodePin pin_to(const std::vector<std::string>& nodes, const Store<Node>& among);

// Returns the merge patch for spec.affinity that writes these terms, each with the pin.
std::string affinity_patch(std::vector<NodeSelectorTerm> terms, const NodePin& pin);

// Whether an admission with this record made the requirement.
bool is_pin_of(const AdmissionFact& admission, const SelectorRequirement& requirement);

// Returns the shape as it was before the admission: without the pool in its node selector and
// without the pin.
PodShape without_admission(const PodShape& shape, const AdmissionFact& admission);

}  // namespace berth::queue
