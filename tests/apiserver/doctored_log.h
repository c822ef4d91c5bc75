// SPDX-License-Identifier: Apache-2.0
// Log: an audit log under construction, line by line, in the format of kube-apiserver. Each write
// gets the next resourceVersion and the next millisecond.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "tests/support/invariants.h"

namespace berth::test {

inline constexpr char kBerth[] = "berth/0.1.0 (linux)";
inline constexpr char kKubectl[] = "kubectl/v1.36.3";

class Log {
 public:
  Log& write(const std::string& agent, const std::string& verb, const std::string& path,
             const std::string& name, const std::string& response,
             const std::string& request = "null", int code = 200) {
    const std::size_t slash = path.find('/');
    const std::string resource = path.substr(0, slash);
    const std::string subresource = slash == std::string::npos ? "" : path.substr(slash + 1);
    const bool namespaced = resource != "nodes";
    const std::string ns = resource == "configmaps" ? "gpu-operator" : "team-a";
    ++revision_;
    text_ += fmt::format(
        R"({{"kind":"Event","level":"RequestResponse","stage":"ResponseComplete","verb":"{}","userAgent":"{}",)"
        R"("objectRef":{{"resource":"{}","subresource":"{}","namespace":"{}","name":"{}"}},)"
        R"("responseStatus":{{"code":{}}},"requestObject":{},"responseObject":{},"stageTimestamp":"{}"}})"
        "\n",
        verb, agent, resource, subresource, namespaced ? ns : "", name, code, request, response,
        format_micro_time(now()));
    return *this;
  }
  Log& wait(std::chrono::milliseconds time) {
    waited_ += time;
    return *this;
  }
  Time now() const { return kBegin + waited_ + std::chrono::milliseconds(revision_); }

  struct Node {
    std::string name = "n1";
    std::string config = "all-disabled";
    std::string state = "success";
    bool cordoned = false;
    std::string phase;  // in berth's annotation; "" = no annotation
    int attempt = 1;
    std::string extra_label;  // "," + more labels
    std::string hold;
    int gpus = 4;
  };
  std::string json(const Node& node) const {
    std::string annotations;
    if (!node.phase.empty())
      annotations = fmt::format(
          R"("gpu.berth.dev/mig-rollout":"{{\"seq\":1,\"attempt\":{},\"phase\":\"{}\",\"config\":\"berth-a-1\"}}")",
          node.attempt, node.phase);
    if (!node.hold.empty())
      annotations += std::string(annotations.empty() ? "" : ",") + R"("gpu.berth.dev/hold":"yes")";
    const std::string state =
        node.state.empty() ? "" : fmt::format(R"(,"nvidia.com/mig.config.state":"{}")", node.state);
    return fmt::format(
        R"({{"kind":"Node","metadata":{{"name":"{0}","uid":"uid-{0}","resourceVersion":"{1}","annotations":{{{2}}},)"
        R"("labels":{{"nvidia.com/mig.config":"{3}"{4}{5}}}}},"spec":{{{6}}},"status":{{"allocatable":{{"nvidia.com/gpu":"{7}"}}}}}})",
        node.name, revision_ + 1, annotations, node.config, state, node.extra_label,
        node.cordoned ? R"("unschedulable":true)" : "", node.gpus);
  }
  Log& node(const std::string& agent, const Node& node) {
    return write(agent, known_.insert(node.name).second ? "create" : "patch", "nodes", node.name,
                 json(node));
  }
  Log& pod(const std::string& phase, const std::string& node = "n1",
           const std::string& verb = "patch", int left = 30) {
    return write(
        "kwok/v0.8.0", verb, verb == "delete" ? "pods" : "pods/status", "p1",
        fmt::format(
            R"({{"kind":"Pod","metadata":{{"name":"p1","namespace":"team-a","uid":"uid-p1","resourceVersion":"{}",)"
            R"("deletionGracePeriodSeconds":{}}},"spec":{{"nodeName":"{}","terminationGracePeriodSeconds":30,)"
            R"("containers":[{{"resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}},"status":{{"phase":"{}"}}}})",
            revision_ + 1, left, node, phase));
  }
  Log& evict(const std::string& uid = "uid-p1") {
    return write(
        kBerth, "create", "pods/eviction", "p1", R"({"kind":"Status"})",
        fmt::format(R"({{"kind":"Eviction","deleteOptions":{{"preconditions":{{"uid":"{}"}}}}}})",
                    uid),
        201);
  }
  Log& file(const std::string& configs) {
    return write(
        kBerth, "patch", "configmaps", "berth-mig-parted-config",
        fmt::format(
            R"({{"kind":"ConfigMap","metadata":{{"resourceVersion":"{}"}},"data":{{"config.yaml":"{}"}}}})",
            revision_ + 1, configs));
  }

  std::vector<std::string> broken(const InvariantOptions& options = {}) const {
    return broken_invariants(parse_audit_log(text_), options);
  }

 private:
  // 2026-01-01
  static constexpr Time kBegin = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);

  std::string text_;
  int revision_ = 0;
  std::chrono::milliseconds waited_{};
  std::set<std::string> known_;
};

}  // namespace berth::test
