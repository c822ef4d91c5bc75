// SPDX-License-Identifier: Apache-2.0
// policy_bench: what one reconcile of the GPUClusterPolicy costs over 5,000 nodes in four pools and
// 50,000 GPU pods, once every node shows what its pool asks for, which is how a fleet is nearly
// always. What berth writes until then is carried out here, node by node; if it never comes to rest
// there is no figure. Prints one JSON object; the time is the process' own CPU, the median of the
// rounds, each begun with cold caches.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apis/codec/decode.h"
#include "bench/fleet.h"
#include "bench/pools.h"
#include "bench/rounds.h"
#include "controller/reconcilers/reconcile.h"

namespace berth {
namespace {

using nlohmann::json;

constexpr FleetSize kSize{5000, 50000};
constexpr int kMaxTurns = 200;  // fifty nodes are told their plugin's config in each

// Nobody else writes here. And to Kubernetes what is missing equals null, which JSON patch denies.
json without_tests(json patch) {
  json kept = json::array();
  for (json& operation : patch)
    if (operation["op"] != "test") kept.push_back(std::move(operation));
  return kept;
}

// The cluster beside berth: it holds objects as JSON and carries out what berth plans.
class Cluster {
 public:
  Cluster() {
    Fleet fleet = make_fleet({kSize.nodes, 0});
    fleet.layouts.clear();
    put_in_tiers(fleet);
    state_ = load(fleet);
    for (const json& node : fleet.nodes) {
      names_.push_back(node["metadata"]["name"]);
      keep("Node/" + names_.back(), node);
    }
    json policy = make_policy();
    keep("GPUClusterPolicy/cluster", policy);
    take_up("GPUClusterPolicy", policy);
  }

  // Empty nodes are changed at once; the pods come when they have been.
  void settle() {
    come_to_rest();
    load_pods();
    come_to_rest();
  }

  Plan plan(std::string_view key) { return reconcile(snapshot(), key); }

 private:
  Snapshot snapshot() {
    return {.cluster = state_, .answers = answers_, .settings = settings_, .now = now_, .epoch = 1};
  }

  void come_to_rest() {
    for (int turn = 0; turn < kMaxTurns; ++turn) {
      bool moved = carry_out(plan("policy"));
      for (const std::string& name : names_) moved |= carry_out(plan("pool/" + name));
      if (!moved) return;
      now_ += std::chrono::minutes(2);  // a ConfigMap has reached the nodes
    }
    fmt::print(stderr, "policy_bench: it does not come to rest:\n{:.2000}\n",
               print(plan("policy")));
    std::exit(1);
  }

  // Whether there was anything to do.
  bool carry_out(const Plan& plan) {
    bool moved = false;
    for (const ObjectSteps& object : plan.objects)
      for (const Step& step : object.steps)
        if (const Write* write = std::get_if<Write>(&step)) {
          carry_out(*write);
          moved = true;
        }
    for (const StatusUpdate& update : plan.statuses) {
      if (!update.differs) continue;
      merge(update.object, json::parse(update.body));
      moved = true;
    }
    return moved;
  }

  void carry_out(const Write& write) {
    if (write.verb == Verb::kMergePatch) {
      merge(write.object, json::parse(write.body));
      return;
    }
    json object;
    if (write.verb == Verb::kCreate) {
      object = json::parse(write.body);
      object["metadata"]["uid"] = write.object.name;
    } else if (write.verb == Verb::kJsonPatch) {
      object = objects_.at(write.object.str()).patch(without_tests(json::parse(write.body)));
    } else {
      fmt::print(stderr, "policy_bench: nobody expected {}\n", write.reason);
      std::exit(1);
    }
    keep(write.object.str(), object);
    take_up(write.object.kind, object);
  }

  void merge(const ObjectRef& ref, const json& patch) {
    json& object = objects_.at(ref.str());
    object.merge_patch(patch);
    take_up(ref.kind, object);
  }

  void keep(std::string ref, json object) { objects_[std::move(ref)] = std::move(object); }

  void take_up(std::string_view kind, const json& object) {
    if (kind == "Node") return upsert<Node>(object);
    if (kind == "ConfigMap") return upsert<ConfigMap>(object);
    if (kind == "PriorityClass") return upsert<PriorityClass>(object);
    if (kind == "GPUClusterPolicy") return upsert<GPUClusterPolicy>(object);
    if (kind == "Pod") return upsert<Pod>(object);
    fmt::print(stderr, "policy_bench: what is a {}?\n", kind);
    std::exit(1);
  }

  template <class T>
  void upsert(const json& object) {
    std::string text = object.dump();
    state_.upsert(decode_object<T>(text).value(), now_);
  }

  void load_pods() {
    for (const json& pod : make_fleet(kSize).pods) take_up("Pod", pod);
  }

  std::map<std::string, json> objects_;
  std::vector<std::string> names_;  // of nodes
  ClusterState state_;
  const Answers answers_;
  const Settings settings_;
  Time now_{std::chrono::seconds(1'790'000'000)};
};

int run(int count) {
  Cluster cluster;
  cluster.settle();
  Plan plan;
  const double ms = median_cpu_ms(count, [&] { plan = cluster.plan("policy"); });
  if (!plan.empty() || plan.statuses.size() != 1 || plan.statuses.front().differs) {
    fmt::print(stderr, "policy_bench: it plans anew what stands:\n{:.2000}\n", print(plan));
    return 1;
  }
  fmt::print("{{\"ms\": {:.3f}, \"writes\": 0}}\n", ms);
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  return berth::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 15);  // many, to look at a profile
}
