// SPDX-License-Identifier: Apache-2.0
// Objects of berth's kinds in the form of the API server, written to files with the expected
// answers of kstatus and Argo CD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apis/base/names.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {

struct State {
  const char* name;
  void (*make)(PlannedCluster& world);
  const char* reason;  // of Ready
  const char* beside;  // the other condition, with its reason
  const char* kstatus;
  const char* argo;
};

// The object with its identity, the part of the spec that health checks read, and the status.
template <class T>
nlohmann::json object_of(const T& standing, const std::string& status_patch, nlohmann::json spec) {
  nlohmann::json object = {
      {"apiVersion", "gpu.berth.dev/v1alpha1"},
      {"kind", kKind<T>.kind},
      {"metadata", {{"name", standing.meta.name}, {"generation", standing.meta.generation}}},
      {"spec", std::move(spec)}};
  if (standing.meta.deletion_timestamp)
    object["metadata"]["deletionTimestamp"] = format_time(*standing.meta.deletion_timestamp);
  object.merge_patch(nlohmann::json::parse(status_patch));
  return object;
}

void write_state(const std::string& name, const nlohmann::json& object, const std::string& kstatus,
                 const std::string& argo);

// Checks that its conditions are those of the state; then writes the file.
void expect_state(const State& state, const nlohmann::json& object);

}  // namespace berth::test
