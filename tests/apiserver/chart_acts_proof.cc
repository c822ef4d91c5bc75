// SPDX-License-Identifier: Apache-2.0
// Jobs that prove a node, each changed in one place. berth may create none of them.
#include <string>
#include <vector>

#include "tests/apiserver/chart_acts.h"

namespace berth::test {
namespace {

struct Change {
  const char* what;
  const char* part;
  const char* instead;
};

constexpr char kPodSpec[] = R"("restartPolicy": "Never", )";
constexpr char kJobSpec[] = R"("spec": {"activeDeadlineSeconds")";
constexpr char kImageEnd[] = R"(cuda:12"}])";

const Change kChanges[] = {
    {"prove a node under another name", "berth-proof-y", "mine"},
    {"prove a node without the label", R"("gpu.berth.dev/proof")", R"("example.com/proof")"},
    {"prove a node by two pods at once", kJobSpec,
     R"("spec": {"parallelism": 2, "activeDeadlineSeconds")"},
    {"prove a node twice", kJobSpec, R"("spec": {"completions": 2, "activeDeadlineSeconds")"},
    {"prove a node without end", R"("activeDeadlineSeconds": 900, )", ""},
    {"keep what proved a node", R"("ttlSecondsAfterFinished": 60, )", ""},
    {"prove a node by another image", "cuda:12", "evil:1"},
    {"prove a node beside a second container", kImageEnd,
     R"(cuda:12"}, {"name": "b", "image": "registry.example/evil:1"}])"},
    {"prove a node after another container", kPodSpec,
     R"("restartPolicy": "Never", "initContainers": [{"name": "b", "image": "x"}], )"},
    {"prove a node with a token", R"("automountServiceAccountToken": false, )", ""},
    {"prove a node with a Secret", kPodSpec,
     R"("restartPolicy": "Never", "volumes": [{"name": "v", "secret": {"secretName": "x"}}], )"},
    {"prove a node past the scheduler", kPodSpec,
     R"("restartPolicy": "Never", "nodeName": "n1", )"},
    {"prove a node in the host's network", kPodSpec,
     R"("restartPolicy": "Never", "hostNetwork": true, )"},
    {"prove a node among the host's processes", kPodSpec,
     R"("restartPolicy": "Never", "hostPID": true, )"},
    {"prove a node in the host's memory", kPodSpec,
     R"("restartPolicy": "Never", "hostIPC": true, )"},
    {"prove a node with all rights on it", kImageEnd,
     R"(cuda:12", "securityContext": {"privileged": true}}])"},
    {"prove a node with more than a program's power", kImageEnd,
     R"(cuda:12", "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}])"},
    {"prove a node at a port", kImageEnd, R"(cuda:12", "ports": [{"containerPort": 80}]}])"},
    {"prove a node with a whole Secret in its environment", kImageEnd,
     R"(cuda:12", "envFrom": [{"secretRef": {"name": "x"}}]}])"},
    {"prove a node with a Secret in its environment", kImageEnd,
     R"(cuda:12", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}}]}])"},
};

std::vector<std::string> changed_proofs() {
  std::vector<std::string> bodies;
  for (const Change& change : kChanges) {
    std::string body = kProof;
    const std::string part = change.part;
    bodies.push_back(body.replace(body.find(part), part.size(), change.instead));
  }
  return bodies;
}

}  // namespace

std::span<const Act> confined_proofs() {
  static const std::vector<std::string> bodies = changed_proofs();
  static const std::vector<Act> acts = [] {
    std::vector<Act> all;
    for (const std::string& body : bodies)
      all.push_back({kChanges[all.size()].what, "POST", kProofs, body.c_str(),
                     "creates no Jobs but those that prove"});
    return all;
  }();
  return acts;
}

}  // namespace berth::test
