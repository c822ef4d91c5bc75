// SPDX-License-Identifier: Apache-2.0
// Clues: what a dump holds beside the state that reconcilers act on, for those who explain it: what
// the scheduler and Kubernetes' controllers said of pods, whose the pods are, whether a controller
// of berth's is running, and what the account could not read.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/core.h"
#include "apis/result.h"

namespace berth {

// A container as messages name it, with what the scheduler adds up.
struct ContainerClue {
  std::string field;                                          // "spec.containers[0]"
  std::vector<std::pair<std::string, std::string>> requests;  // resource, count as written
  std::optional<std::int64_t> visible_devices;                // place of that variable in env
  std::string require_cuda;                                   // value of NVIDIA_REQUIRE_CUDA in env
};

// Of a pod that waits, that takes GPUs past the device plugin, or that says which CUDA it needs.
struct PodClues {
  std::string scheduler_reason;  // of condition PodScheduled while it is False
  std::string scheduler_says;
  std::vector<ContainerClue> containers;
};

// What makes pods: a Deployment, ReplicaSet or StatefulSet.
struct Workload {
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string owner_uid;  // of its controller
  std::int64_t replicas = 1;
  bool paused = false;
  std::string failure;  // condition ReplicaFailure while it is True: why it has too few pods
};

// An event that says why no pod came to be.
struct RefusalEvent {
  std::string namespace_;
  std::string object_kind;  // whom it is about
  std::string object_name;
  std::string object_uid;
  std::string message;
  std::optional<Time> last;
};

// What the dump does without.
struct Unread {
  std::string resource;    // "nodes", "miglayouts.gpu.berth.dev"
  std::string namespace_;  // empty: everywhere
  std::string instead;     // the one namespace in which it was read all the same
  std::string reason;      // Forbidden, or NotFound of a single object
  std::string message;     // the server's
};

struct Clues {
  std::vector<Workload> workloads;
  std::vector<RefusalEvent> refusals;
  std::optional<Lease> lease;  // the controller's
  std::vector<Unread> unread;
  std::map<ObjectKey, PodClues> pods;

  const PodClues* of(const Pod& pod) const;
  // Whether all of the resource, a plural with its group, was there to be read.
  bool knows(std::string_view resource) const { return find_unread(resource) == nullptr; }
  const Unread* find_unread(std::string_view resource) const;
};
const Clues& no_clues();

// Whether the item of a dump is a clue and nothing else, and has been taken.
Result<bool> take_clue(std::string_view kind, const nlohmann::json& item, Clues& clues);
// What an item of kind Pod tells besides.
void take_pod_clues(const nlohmann::json& item, Clues& clues);
void take_unread(const nlohmann::json& list, Clues& clues);
nlohmann::json encode(const Unread& unread);

}  // namespace berth
