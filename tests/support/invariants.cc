// SPDX-License-Identifier: Apache-2.0
// Outline: Checker replays the events in order. If berth sent the event, it first checks the event
// against the present state. Then it applies the event.
#include "tests/support/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/support/reclaims.h"

namespace berth::test {
namespace {

constexpr char kRollout[] = "gpu.berth.dev/mig-rollout";
constexpr char kHealth[] = "gpu.berth.dev/health";
constexpr char kHold[] = "gpu.berth.dev/hold";
constexpr char kPool[] = "gpu.berth.dev/pool";
constexpr char kPoolKeys[] = "gpu.berth.dev/pool-keys";
constexpr char kMigConfig[] = "nvidia.com/mig.config";
constexpr char kMigState[] = "nvidia.com/mig.config.state";
constexpr char kAgentNamespace[] = "gpu-operator";
constexpr char kAgentConfigMap[] = "berth-mig-parted-config";

struct Pod {
  std::string uid, node, phase;
  bool matters =
      false;  // asks for a GPU and is neither NVIDIA's nor a DaemonSet's nor the kubelet's own
  long long grace_seconds = 30;
};

struct Rollout {  // berth's annotation
  bool open = false;
  std::string config, key;
};

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.rfind(beginning, 0) == 0;
}

bool unschedulable(const Object& node) { return node.truth("/spec/unschedulable"); }

bool is_out_for_health(const Object& node) {
  return node.annotation(kHealth).find("\"phase\":\"Cordoned\"") != std::string::npos;
}

Rollout rollout_of(const Object& node) {
  const std::string text = node.annotation(kRollout);
  if (text.empty()) return {};
  const Object parsed = Object::parse(text);
  const std::string phase = parsed.text("/phase");
  return {!phase.empty() && phase != "Idle", parsed.text("/config"),
          fmt::format("seq {} attempt {} reasserts {}", parsed.text("/seq"),
                      parsed.text("/attempt"), parsed.text("/reasserts"))};
}

bool asks_for_gpu(const Object& pod) {
  for (const char* list : {"/spec/containers", "/spec/initContainers"})
    for (const Object& container : pod.items(list))
      for (const auto& [key, value] : container.strings("/resources/limits"))
        if (begins_with(key, "nvidia.com/") && value != "0") return true;
  return false;
}

bool exempt(const Object& pod) {
  if (pod.ns() == kAgentNamespace || !pod.annotation("kubernetes.io/config.mirror").empty())
    return true;
  for (const Object& owner : pod.items("/metadata/ownerReferences"))
    if (owner.text("/kind") == "DaemonSet") return true;
  return false;
}

// Keys whose values differ between two maps.
std::set<std::string> changed_keys(const std::map<std::string, std::string>& before,
                                   const std::map<std::string, std::string>& after) {
  std::set<std::string> out;
  for (const auto& [key, value] : before) {
    const auto found = after.find(key);
    if (found == after.end() || found->second != value) out.insert(key);
  }
  for (const auto& [key, value] : after)
    if (before.count(key) == 0) out.insert(key);
  return out;
}

class Checker {
 public:
  Checker(const InvariantOptions& options, const std::vector<AuditEvent>& events)
      : options_(options) {
    // Only the next answer about the node shows whether etcd applied such a write.
    for (const AuditEvent& event : events)
      if (event.unanswered() && event.by_berth() && event.resource == "nodes")
        unanswered_.insert(event.name);
  }

  void take(const AuditEvent& event) {
    event_ = &event;
    if (!event.ok() || event.dry_run()) return;
    if (event.resource == "nodes") take_node(event);
    if (event.resource == "pods") take_pod(event);
    if (event.resource == "configmaps" && event.ns == kAgentNamespace &&
        event.name == kAgentConfigMap)
      agent_file_ = event.verb == "delete" ? "" : event.response.text("/data/config.yaml");
    reclaims_.take(event);
  }

  std::vector<std::string> finish() {
    if (options_.all_returned)
      for (const std::string& node : cordoned_by_berth_)
        broken_.push_back(fmt::format("I3 {} was cordoned by berth and never returned", node));
    return broken_;
  }

 private:
  void complain(const std::string& invariant, const std::string& what) {
    broken_.push_back(fmt::format("{} {} [{}]", invariant, what, event_->describe()));
  }

  void take_node(const AuditEvent& event) {
    const std::string& name = event.name;
    if (event.verb == "delete") {
      const auto gone = nodes_.find(name);
      if (gone != nodes_.end() && cordoned_by_berth_.erase(name) > 0)
        former_cordons_[name] = gone->second.uid();
      if (gone != nodes_.end()) nodes_.erase(gone);
      return;
    }
    if (event.response.text("/kind") != "Node") return;
    const auto found = nodes_.find(name);
    const bool known = found != nodes_.end() && found->second.uid() == event.response.uid();
    if (known && event.by_berth()) judge_node(name, found->second, event.response);
    if (known) note_cordon(name, found->second, event.response);
    if (!known && is_copy_of_former(event.response)) cordoned_by_berth_.insert(name);
    nodes_.insert_or_assign(name, event.response);
    if (known && event.by_berth() && cordoned_by_berth_.count(name) > 0) judge_capacity(name);
  }

  // The node was re-created from a copy that includes berth's cordon.
  bool is_copy_of_former(const Object& node) const {
    const auto former = former_cordons_.find(node.name());
    return former != former_cordons_.end() && unschedulable(node) &&
           node.annotation(kRollout).find(former->second) != std::string::npos;
  }

  void judge_node(const std::string& name, const Object& before, const Object& after) {
    if (before.label(kMigConfig) != after.label(kMigConfig)) judge_relabel(name, before, after);
    if (!unschedulable(before) && unschedulable(after) && !rollout_of(after).open &&
        !is_out_for_health(after))
      complain("S4", fmt::format("{} is cordoned without a record of it in the same write", name));
    if (unschedulable(before) && !unschedulable(after)) {
      if (cordoned_by_berth_.count(name) == 0)
        complain("I3", fmt::format("{} was not cordoned by berth, and is uncordoned", name));
      if (!before.annotation(kHold).empty())
        complain("I3", fmt::format("{} is held by a person, and is uncordoned", name));
    }
    judge_fields(name, before, after);
  }

  void judge_relabel(const std::string& name, const Object& before, const Object& after) {
    const std::string value = after.label(kMigConfig);
    const Rollout rollout = rollout_of(after);
    if (!unschedulable(before))
      complain("I1", fmt::format("{} gets {} while it is schedulable", name, value));
    if (!rollout_of(before).open || !rollout.open)
      complain("I1", fmt::format("{} gets {} without an open rollout of berth's", name, value));
    if (!after.label(kMigState).empty())
      complain("I1", fmt::format("{} gets {} and keeps the old state {}", name, value,
                                 after.label(kMigState)));
    if (!agent_file_.empty() && agent_file_.find(value) == std::string::npos)
      complain("I1", fmt::format("{} gets {}, which the agent's file does not have", name, value));
    for (const auto& [pod, state] : pods_)
      if (state.node == name && state.matters && state.phase != "Succeeded" &&
          state.phase != "Failed")
        complain("I1", fmt::format("{} gets {} under the GPU pod {}", name, value, pod));
    if (!relabels_
             .insert(fmt::format("{} {} {} {}", after.uid(), rollout.key, rollout.config, value))
             .second)
      complain("I7", fmt::format("{} gets {} twice in one attempt ({})", name, value, rollout.key));
  }

  void judge_fields(const std::string& name, const Object& before, const Object& after) {
    for (const std::string& key :
         changed_keys(before.strings("/metadata/labels"), after.strings("/metadata/labels"))) {
      const bool ours = key == kMigConfig || key == kMigState ||
                        options_.pool_labels.count(key) > 0 ||
                        (begins_with(key, "nvidia.com/gpu.deploy.") &&
                         begins_with(before.label(key), "paused-for-"));
      if (!ours) complain("S6", fmt::format("{}: label {} changes", name, key));
      if (key == kPool && after.label(kPool).empty() &&
          before.annotation(kPoolKeys).find(fmt::format("\"{}\"", kPool)) == std::string::npos)
        complain("S6", fmt::format("{}: label {} goes, and berth had not set it", name, key));
    }
    for (const std::string& key : changed_keys(before.strings("/metadata/annotations"),
                                               after.strings("/metadata/annotations")))
      if (!begins_with(key, "gpu.berth.dev/"))
        complain("S6", fmt::format("{}: annotation {} changes", name, key));
    for (const std::string& key : changed_keys(before.strings("/spec"), after.strings("/spec")))
      if (key != "unschedulable" && (key != "taints" || options_.pool_labels.empty()))
        complain("S6", fmt::format("{}: spec.{} changes", name, key));
  }

  void note_cordon(const std::string& name, const Object& before, const Object& after) {
    if (unschedulable(before) == unschedulable(after)) return;
    if (!unschedulable(after)) {
      cordoned_by_berth_.erase(name);
    } else if (event_->by_berth() || opened_unanswered(name, before, after)) {
      cordoned_by_berth_.insert(name);
      if (static_cast<int>(cordoned_by_berth_.size()) > options_.max_unavailable)
        complain("I2", fmt::format("{} nodes are out by berth, {} may be",
                                   cordoned_by_berth_.size(), options_.max_unavailable));
    }
  }

  bool opened_unanswered(const std::string& name, const Object& before, const Object& after) const {
    return unanswered_.contains(name) && !rollout_of(before).open && rollout_of(after).open;
  }

  void judge_capacity(const std::string& name) {
    for (const auto& [resource, least] : options_.min_available) {
      long long sum = 0;
      for (const auto& [other, node] : nodes_)
        if (!unschedulable(node))
          sum += node.number("/status/allocatable/" + pointer_step(resource));
      if (sum < least)
        complain("I4", fmt::format("{} of {} are left, {} must be, with {} out", sum, resource,
                                   least, name));
    }
  }

  void take_pod(const AuditEvent& event) {
    const std::string key = event.ns + "/" + event.name;
    if (event.subresource == "eviction") return take_eviction(event, key);
    if (event.subresource == "binding") {
      pods_[key].node = event.request.text("/target/name");
      return;
    }
    if (event.verb == "delete") return take_delete(event, key);
    if (event.response.text("/kind") != "Pod") return;
    Pod& pod = pods_[key];
    pod.uid = event.response.uid();
    pod.node = event.response.text("/spec/nodeName");
    pod.phase = event.response.text("/status/phase");
    pod.matters = asks_for_gpu(event.response) && !exempt(event.response);
    pod.grace_seconds = event.response.number("/spec/terminationGracePeriodSeconds");
  }

  void take_eviction(const AuditEvent& event, const std::string& key) {
    const auto found = pods_.find(key);
    if (found == pods_.end()) return;
    if (event.by_berth()) judge_eviction(event, key, found->second);
    // An eviction sets deletionTimestamp in the server; only an unscheduled pod is removed at once.
    if (found->second.node.empty() || found->second.grace_seconds == 0) pods_.erase(found);
  }

  void judge_eviction(const AuditEvent& event, const std::string& key, const Pod& pod) {
    const std::string uid = event.request.text("/deleteOptions/preconditions/uid");
    if (uid.empty()) complain("S3", key + " is evicted without its uid");
    const auto node = nodes_.find(pod.node);
    if (node == nodes_.end() || reclaims_.takes_back(key)) return;
    const Rollout rollout = rollout_of(node->second);
    if (!unschedulable(node->second) || !rollout.open)
      return complain(
          "I5", fmt::format("{} is evicted from {}, which berth has not taken", key, pod.node));
    if (node->second.label(kMigConfig) == rollout.config &&
        node->second.label(kMigState) == "success")
      complain("I5", fmt::format("{} is evicted from {}, which is {} already", key, pod.node,
                                 rollout.config));
  }

  void take_delete(const AuditEvent& event, const std::string& key) {
    if (event.by_berth()) {
      const std::string why = reclaims_.why_not_late(key, event);
      if (!options_.force_allowed && !why.empty())
        complain("S3", fmt::format("{} is deleted, not evicted: {}", key, why));
      if (event.request.has("/gracePeriodSeconds") &&
          event.request.number("/gracePeriodSeconds") == 0)
        complain("S3", key + " is deleted with a grace period of 0");
    }
    // The answer shows the pod. If it still has a grace period, the pod stays until its kubelet
    // deletes it finally.
    if (event.response.number("/metadata/deletionGracePeriodSeconds") == 0) pods_.erase(key);
  }

  const InvariantOptions& options_;
  const AuditEvent* event_ = nullptr;
  std::map<std::string, Object> nodes_;
  std::map<std::string, Pod> pods_;  // by namespace/name
  std::string agent_file_;
  Reclaims reclaims_;
  std::set<std::string> unanswered_;  // berth wrote to these and died
  std::set<std::string> cordoned_by_berth_;
  std::map<std::string, std::string> former_cordons_;  // by name: the uid of the deleted node
  std::set<std::string> relabels_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_invariants(const std::vector<AuditEvent>& events,
                                           const InvariantOptions& options) {
  Checker checker(options, events);
  for (const AuditEvent& event : events) checker.take(event);
  return checker.finish();
}

}  // namespace berth::test
