// SPDX-License-Identifier: Apache-2.0
// Import: converts other systems' objects to berth's. It reads Kueue's ClusterQueues, LocalQueues,
// ResourceFlavors, Cohorts, WorkloadPriorityClasses and Topologies, ResourceQuotas, and mig-parted
// files. Every field of these ends up in an object, or in the report with a reason.
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
  ImportReport report;                  // if `wrong` is not empty, ignore the rest
};

// The default domain for labels that a user must put on nodes.
inline constexpr char kLabelDomain[] = "node.example.com";

Imported import_objects(Sources sources, const std::string& label_domain);

// Why labels can't have this domain; empty: they can.
std::string domain_fault(const std::string& label_domain);

}  // namespace berth
