// SPDX-License-Identifier: Apache-2.0
// Builders for the objects of a GPU cluster: nodes with the labels of NFD, GPU feature discovery
// and the GPU operator, NVIDIA's DaemonSets, and workloads that a rollout must drain. They write
// through a Kube and wait only where a comment says so.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/sim/nvidia/operands.h"
#include "tests/support/kube.h"

namespace berth::test {

struct GpuNode {
  std::string name;
  std::string product = "NVIDIA-A100-SXM4-80GB";
  int gpus = 4;
  std::map<std::string, std::string> labels;  // added, or replacing the usual ones; "" removes one
  std::map<std::string, std::string> annotations;
  bool cordoned = false;
};

struct Workload {
  std::string name;
  std::string ns = "team-a";
  int replicas = 1;
  std::string resource = "nvidia.com/gpu";
  int count = 1;  // of the resource, per pod; 0: a pod without GPU
  std::map<std::string, std::string> node_selector;
  std::map<std::string, std::string> annotations;  // of the pods
  std::map<std::string, std::string> labels;       // of the pods, in addition to app: NAME
  int grace_seconds = 1;
  std::string priority_class;
  std::string
      extra_pod_spec;  // more fields of the pod's spec, as JSON members: "\"tolerations\": []"
};

struct JobOptions {
  int backoff_limit = 0;
  bool ignore_disruptions = false;  // podFailurePolicy: Ignore on DisruptionTarget
};

class Cluster {
 public:
  explicit Cluster(Kube& kube) : kube_(kube) {}

  void install_agents(const sim::OperandOptions& agents = {});
  void install_cluster_policy(const std::string& strategy,
                              const std::string& config_map);  // with its CRD
  void add_gpu_node(const GpuNode& node);
  std::vector<std::string> add_gpu_nodes(int count, const GpuNode& like,
                                         const std::string& prefix = "n");  // n1, n2, …
  void remove_node(const std::string& name);  // and its pods, like a cloud provider
  void wait_agents_running(std::chrono::milliseconds limit = std::chrono::seconds(60));

  void add_deployment(const Workload& workload);
  // Removes its pods too, also those that linger.
  void remove_deployment(const std::string& ns, const std::string& name);
  void add_job(const Workload& workload, const JobOptions& options = {});
  void add_bare_pod(const Workload& workload);  // no controller
  // `rule`: "minAvailable: 1" or "maxUnavailable: 0".
  void add_budget(const std::string& ns, const std::string& name, const std::string& app,
                  const std::string& rule);
  void wait_pods_running(const std::string& ns, const std::string& app, int count,
                         std::chrono::milliseconds limit = std::chrono::seconds(60));
  std::vector<Object> pods_of(const std::string& ns, const std::string& app);
  std::vector<Object> pods_on(const std::string& node);
  void finish_pods(const std::string& ns, const std::string& app);  // completes the pods of a Job

  // resource → count of the nvidia.com/… resources in allocatable that are not 0.
  std::map<std::string, int> gpu_allocatable(const std::string& node);

  // Between test cases: removes all layouts, workloads, nodes, ledgers and Leases. No berth may run
  // meanwhile.
  void reset();

 private:
  std::string pod_spec(const Workload& workload) const;
  void remove_pods(const std::string& ns);

  Kube& kube_;
};

}  // namespace berth::test
