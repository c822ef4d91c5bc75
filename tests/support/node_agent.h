// SPDX-License-Identifier: Apache-2.0
// NodeAgent simulates NVIDIA's software on kwok nodes: mig-manager, the device plugin (with the
// kubelet's part in it), GPU feature discovery and the GPU operator's labelling. Each component
// acts on a node only while its DaemonSet's pod runs there, so a cordon, a taint or a paused deploy
// label has the same effect as in a real cluster. One thread decides (run()); watches feed it.
//
// The hardware is in node annotations, which are the truth for tests:
//   test.berth.dev/product, test.berth.dev/gpus  the built-in GPUs (set by tests/support/cluster.h)
//   test.berth.dev/instances                     the MIG state of each GPU; absent: MIG is off
// Faults are in annotation test.berth.dev/fault, for every run or, with the suffix -once, for the
// next run only:
//   wedge               the wait for the plugin's pods never ends: state stays pending, deploy
//                       labels stay paused (mig-parted#485)
//   fail                apply fails, labels are restored, state failed
//   fail-labels-paused  apply fails, labels stay paused, state failed
//   lie                 success, but no instance exists
//   slow[:MILLISECONDS] apply takes that long (default: ten times as long as usual)
//   reboot              a mode change needs a reboot (always once): state rebooting, NotReady, a
//   new
//                       bootID, then the run continues
// Annotation test.berth.dev/reboot: now reboots the node at once, even during a run: its instances
// are lost and created again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "controller/sim/nvidia/mig_hardware.h"
#include "tests/support/kube.h"
#include "tests/support/watch_feed.h"

namespace berth::test {

struct NodeAgentOptions {
  using Ms = std::chrono::milliseconds;
  std::string agent_namespace = "gpu-operator";
  Ms configmap_delay{0};  // delay of a mounted ConfigMap
  Ms apply_time{200};     // from "the pods are gone" to "the instances are there"
  Ms pod_wait{20000};     // mig-manager's wait for the plugin's pods (5 min in reality)
  Ms plugin_lag{200};     // from the plugin's start to allocatable
  Ms discovery_lag{300};  // from discovery's start to labels
  Ms capacity_grace{
      1000};  // the kubelet forgets a resource's capacity (5 min in reality); its key stays, with 0
  Ms reboot_time{1000};
  Ms operator_lag{300};  // the GPU operator gives an empty mig.config the value all-disabled
};

class NodeAgent {
 public:
  using Clock = std::chrono::steady_clock;

  NodeAgent(const Credentials& credentials, NodeAgentOptions options);
  ~NodeAgent();
  void run(const volatile bool& stop);  // returns soon after `stop` becomes true

 private:
  struct Pod {
    std::string uid, node, app, config_map, strategy;
    Clock::time_point seen;
    bool running = false;
  };
  // mig-manager's process on one node: it remembers the last value, and waits for a different,
  // non-empty one.
  struct Manager {
    std::string pod_uid;
    std::string current, last_read;
    Clock::time_point started;
  };
  enum class Step { kStart, kWaitForPods, kApply };
  struct Run {
    std::string config;
    Step step = Step::kStart;
    Clock::time_point due, deadline;
  };
  struct Node {
    Object object;
    std::vector<sim::Gpu> gpus;
    std::optional<Manager> manager;
    std::optional<Run> run;
    std::string plugin_uid, discovery_uid;  // of the pods that were handled already
    std::optional<Clock::time_point> publish_due, discover_due, forget_due, reboot_end,
        operator_due;
    bool advertising = false;
  };
  struct Change {
    std::string collection, type;
    Object object;
  };

  void on_change(const std::string& collection, const std::string& type, const Object& object);
  void take_change(const Change& change);
  void take_node(const std::string& type, const Object& object);
  void take_pod(const std::string& type, const Object& object);
  void take_config_map(const Object& object);

  void advance(const std::string& name, Node& node);
  void advance_operator(const std::string& name, Node& node);
  void advance_manager(const std::string& name, Node& node);
  void advance_run(const std::string& name, Node& node);
  void start_run(const std::string& name, Node& node);
  void apply(const std::string& name, Node& node);
  void advance_plugin(const std::string& name, Node& node);
  void advance_forgetting(const std::string& name, Node& node);
  void advance_discovery(const std::string& name, Node& node);
  void begin_reboot(const std::string& name, Node& node);
  void end_reboot(const std::string& name, Node& node);

  void end_run(Node& node);
  void fail(const std::string& name, Node& node, const std::string& why, bool restore);
  void write_state(const std::string& name, const std::string& state);
  void pause_labels(const std::string& name, Node& node);
  void restore_labels(const std::string& name);
  void write_gpus(const std::string& name, Node& node);
  std::string take_fault(const std::string& name, Node& node);
  std::string gpu_user_on(const std::string& name);
  const Pod* pod_on(const std::string& node, const std::string& app) const;
  bool client_pods_left(const std::string& node) const;
  std::optional<std::string> visible_config(const Pod& pod, const Manager& manager) const;
  std::string strategy_of(const Node& node, const Pod& pod) const;
  void patch_node(Kube& as, const std::string& name, const nlohmann::json& body,
                  const std::string& subresource = "");
  Clock::time_point next_due() const;
  void log(const std::string& node, const std::string& what) const;

  NodeAgentOptions options_;
  Kube manager_, kubelet_, discovery_,
      operator_;  // one client per role, for the audit log
  std::map<std::string, Node> nodes_;
  std::map<std::string, Pod> pods_;  // in the namespace of NVIDIA's components, by uid
  std::map<std::string, std::deque<std::pair<Clock::time_point, std::string>>> config_maps_;

  std::mutex mutex_;  // guards changes_
  std::condition_variable arrived_;
  std::deque<Change> changes_;
  std::vector<std::unique_ptr<WatchFeed>> feeds_;
};

}  // namespace berth::test
