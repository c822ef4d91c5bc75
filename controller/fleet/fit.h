// SPDX-License-Identifier: Apache-2.0
// Fit: where the scheduler could put a pod, as far as berth knows: by resources (including cpu,
// memory and the number of pods), node selector and required node affinity, taints, and cordons. It
// ignores affinity between pods, topology spread, volumes and host ports.
//
// It goes with a ClusterState that changes: the caller reports each change to it.
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

  // Returns the node with the most free of the pod's GPU resource, the first by name among equals,
  // or nullptr.
  const Node* place(const Pod& pod) const;
  // Whether the pod fits on this node.
  bool fits(const Pod& pod, std::string_view node) const;
  // Returns why the pod fits on no node, counted as the scheduler does: "0 of 8 nodes: 5 without
  // nvidia.com/gpu, 2 full, 1 cordoned".
  std::string explain(const Pod& pod) const;

  // What keeps a pod off a node.
  enum class Verdict { kFits, kNotReady, kCordoned, kNotSelected, kTainted, kLacksGpu, kFull };
  // Returns all obstacles, in this order; empty for an unknown node.
  std::vector<Verdict> obstacles(const Pod& pod, std::string_view node) const;
  // Returns allocatable minus the requests of bound pods.
  Quantity free_on(std::string_view node, std::string_view resource) const;

  // Returns the GPU resource that decides where a pod can run; empty if it requests none.
  static Text gpu_resource_of(const Pod& pod);
  // Whether a node that is ready and not cordoned has some of the resource free.
  bool has_room(std::string_view node, const Text& resource) const;

  // The node's object has changed. It must be the one in the store.
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
  // Open nodes with some of the GPU resource free, so that full nodes cost no time.
  std::map<Text, std::set<std::string, std::less<>>> with_room_;
  // Pods of one controller are asked about one after the other, so the last explanation is kept
  // until something changes.
  mutable struct {
    bool holds = false;
    PodShape shape;
    std::string text;
  } explained_;
};

// Returns the taints that keep the pod away, in the node's order.
std::vector<Taint> untolerated(const Pod& pod, const Node& node);

}  // namespace berth
