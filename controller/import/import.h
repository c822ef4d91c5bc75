// SPDX-License-Identifier: Apache-2.0
// Import: other people's objects as berth's. What it reads: Kueue's ClusterQueues, LocalQueues,
// ResourceFlavors, Cohorts, WorkloadPriorityClasses and Topologies, ResourceQuotas, and mig-parted
// files. Every field of these is in an object, or in the report with the reason.
#pragma once

#include <string>
#include <vector>

#include "controller/import/report.h"

namespace berth {

struct ImportedObject {
  std::string json;
  std::vector<std::string> origins;  // "ClusterQueue/vision (kueue.yaml:3)", …
};

struct Imported {
  std::vector<ImportedObject> objects;  // GPUQueues, then MIGLayouts, each by name; all are valid
  ImportedObject policy;                // proposed GPUClusterPolicy; json is empty: none is needed
  ImportReport report;                  // with anything in `wrong` the rest means nothing
};

// Of labels that a person puts on nodes, unless told otherwise.
inline constexpr char kLabelDomain[] = "node.example.com";

Imported import_objects(Sources sources, const std::string& label_domain);

// Why such labels can't be of this domain; empty: they can.
std::string domain_fault(const std::string& label_domain);

}  // namespace berth
