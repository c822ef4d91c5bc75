// SPDX-License-Identifier: Apache-2.0
// Fit: where the scheduler could put a pod, by what berth knows of both: resources (cpu, memory and
// the number of pods among them), node selector and required node affinity, taints, cordons.
// Affinity between pods, topology spread, volumes and host ports are not looked at.
//
// Kept beside a ClusterState that changes: tell it of each change.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/fleet/pod_selects.h"

namespace berth {

class Fit {
 public:
  explicit Fit(const ClusterState& cluster);

  // The node with the most room of the pod's GPU resource, first by name among equals, or nullptr.
  const Node* place(const Pod& pod) const;
  // Whether this one would do.
  bool fits(const Pod& pod, std::string_view node) const;
  // Why no node will do, counted as the scheduler counts: "0 of 8 nodes: 5 without nvidia.com/gpu,
  // 2 full, 1 cordoned".
  std::string explain(const Pod& pod) const;

  // What keeps a pod off a node.
  enum class Verdict { kFits, kNotReady, kCordoned, kNotSelected, kTainted, kLacksGpu, kFull };
  // All of it, in this order; of an unknown node nothing.
  std::vector<Verdict> obstacles(const Pod& pod, std::string_view node) const;
  // Allocatable less what bound pods ask for.
  Quantity free_on(std::string_view node, std::string_view resource) const;

  // The GPU resource that decides where a pod can go; empty if it asks for none.
  static Text gpu_resource_of(const Pod& pod);
  // Whether an open node has any of the resource free.
  bool has_room(std::string_view node, const Text& resource) const;

  // The node's object has changed; it must be the one that the store holds.
  void node_changed(const Node& node);
  void pod_bound(const Pod& pod);  // to pod.node_name
  void pod_left(const Pod& pod);

 private:
  struct Room {
    const Node* node = nullptr;
    ResourceList used;
    bool open() const { return node->ready && !node->cordoned(); }
  };
  Verdict judge(const Pod& pod, const Room& room) const;
  // Calls found(verdict) for each obstacle until that returns false.
  template <class Found>
  void each_obstacle(const Pod& pod, const Room& room, Found&& found) const;
  void index(const Room& room);
  void charge(const Pod& pod, bool add);

  std::map<std::string, Room, std::less<>> rooms_;
  // Open nodes with at least one of the GPU resource free: a full fleet is passed over unseen.
  std::map<Text, std::set<std::string, std::less<>>> with_room_;
  // Pods of one controller are asked about one after the other: the last explanation holds as long
  // as nothing has moved.
  mutable struct {
    bool holds = false;
    PodShape shape;
    std::string text;
  } explained_;
};

// The taints that keep it away, in the node's order.
std::vector<Taint> untolerated(const Pod& pod, const Node& node);

}  // namespace berth
