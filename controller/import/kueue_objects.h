// SPDX-License-Identifier: Apache-2.0
// The fields of Kueue's objects that `berth import` reads, with the names of v1beta2; v1beta1 and
// v1alpha1 differ in a few names. not_carried.h reports the other fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/quantity.h"
#include "apis/codec/json_cursor.h"
#include "controller/import/source.h"

namespace berth {

struct FlavorResource {
  std::string resource;
  Quantity nominal;
  std::optional<Quantity> borrowing_limit;
  std::optional<Quantity> lending_limit;
  std::string path;  // "spec.resourceGroups[0].flavors[1].resources[0]"
};

struct FlavorQuotas {
  std::string flavor;
  std::vector<FlavorResource> resources;
  std::string path;
};

struct ResourceGroup {
  std::vector<FlavorQuotas> flavors;  // in order of preference
  std::string path;
};

struct ClusterQueue {
  const Source* source = nullptr;
  std::string name;
  std::string cohort;
  std::optional<std::string> namespace_selector;  // as JSON; absent: no namespace
  std::vector<ResourceGroup> groups;
  std::string queueing_strategy = "BestEffortFIFO";
  std::string within_queue = "Never";
  std::string reclaim_within_cohort = "Never";
  std::optional<Quantity> weight;
  std::string stop_policy = "None";
};

struct LocalQueue {
  const Source* source = nullptr;
  std::string namespace_;
  std::string name;
  std::string cluster_queue;
};

struct ResourceFlavor {
  const Source* source = nullptr;
  std::string name;
  std::map<std::string, std::string> node_labels;
  std::string topology;
};

struct Cohort {
  const Source* source = nullptr;
  std::string name;
  std::vector<ResourceGroup> groups;  // lent to the cohort's queues, in addition to their own
};

struct WorkloadPriorityClass {
  const Source* source = nullptr;
  std::string name;
  std::int64_t value = 0;
};

struct Topology {
  const Source* source = nullptr;
  std::string name;
  std::vector<std::string> levels;  // node labels, widest first
};

// A ResourceQuota of the core group: its limits, and whether it counts all pods.
struct QuotaObject {
  const Source* source = nullptr;
  std::string namespace_;
  std::string name;
  std::map<std::string, Quantity> hard;
};

void read_object(const JsonCursor& object, ClusterQueue& out);
void read_object(const JsonCursor& object, LocalQueue& out);
void read_object(const JsonCursor& object, ResourceFlavor& out);
void read_object(const JsonCursor& object, Cohort& out);
void read_object(const JsonCursor& object, WorkloadPriorityClass& out);
void read_object(const JsonCursor& object, Topology& out);
void read_object(const JsonCursor& object, QuotaObject& out);

}  // namespace berth
