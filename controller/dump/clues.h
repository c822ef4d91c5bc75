// SPDX-License-Identifier: Apache-2.0
// Clues: the parts of a dump that only explain, while reconcilers don't read them: what the
// scheduler and Kubernetes' controllers report about pods, the pods' owners, whether a controller
// of berth runs, and what the account could not read.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/result.h"
#include "apis/kinds/core.h"

namespace berth {

// A container under its name in messages, with the requests that the scheduler adds up.
struct ContainerClue {
  std::string field;                                          // "spec.containers[0]"
  std::vector<std::pair<std::string, std::string>> requests;  // resource, count as written
  std::optional<std::int64_t> visible_devices;                // index of that variable in env
  std::string require_cuda;                                   // value of NVIDIA_REQUIRE_CUDA in env
};

// Clues of a pod that is pending, bypasses the device plugin, or states its CUDA version.
struct PodClues {
  std::string scheduler_reason;  // of condition PodScheduled while it is False
  std::string scheduler_says;
  std::vector<ContainerClue> containers;
};

// An owner that creates pods: a Deployment, ReplicaSet or StatefulSet.
struct Workload {
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string owner_uid;  // of its controller
  std::int64_t replicas = 1;
  bool paused = false;
  std::string failure;  // message of condition ReplicaFailure while it is True
};

// An event that says why a pod could not be created.
struct RefusalEvent {
  std::string namespace_;
  std::string object_kind;  // the object that it is about
  std::string object_name;
  std::string object_uid;
  std::string message;
  std::optional<Time> last;
};

// A resource that the dump lacks.
struct Unread {
  std::string resource;    // "nodes", "miglayouts.gpu.berth.dev"
  std::string namespace_;  // empty: everywhere
  std::string instead;     // the only namespace where it could be read
  std::string reason;      // Forbidden, or NotFound for a single object
  std::string message;     // the server's
};

struct Clues {
  std::vector<Workload> workloads;
  std::vector<RefusalEvent> refusals;
  std::optional<Lease> lease;  // the controller's
  std::vector<Unread> unread;
  std::map<ObjectKey, PodClues> pods;

  const PodClues* of(const Pod& pod) const;
  // Whether the dump holds all objects of the resource, named by plural and group.
  bool knows(std::string_view resource) const { return find_unread(resource) == nullptr; }
  const Unread* find_unread(std::string_view resource) const;
};
const Clues& no_clues();

// Takes an item that is only a clue. False: it is not one.
Result<bool> take_clue(std::string_view kind, const nlohmann::json& item, Clues& clues);
// Takes the clues of an item of kind Pod, which is state as well.
void take_pod_clues(const nlohmann::json& item, Clues& clues);
void take_unread(const nlohmann::json& list, Clues& clues);
nlohmann::json encode(const Unread& unread);

}  // namespace berth
