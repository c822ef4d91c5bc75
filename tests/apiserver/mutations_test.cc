// SPDX-License-Identifier: Apache-2.0
// Sixteen hundred broken MIGLayouts and GPUClusterPolicies on the API server, while controller,
// webhook and the certificate manager process run with the chart's accounts. First those that pass
// the CRDs and the webhook; then, without the CRDs' schemas and the webhook, any JSON. No program
// may exit, and after every few hundred the broken objects are deleted, and a good layout must be
// rolled out.
//
// The seed is fixed, so that failures are reproducible. BERTH_FUZZ_SEED=7 selects another one.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/apiserver/webhook_fixture.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/fuzz/mutator.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using nlohmann::json;

constexpr char kGroup[] = "/apis/gpu.berth.dev/v1alpha1/";
constexpr int kLayouts = 6;  // broken ones at a time

std::uint64_t seed() {
  const char* given = std::getenv("BERTH_FUZZ_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

class Mutations : public WebhookTest {
 protected:
  Mutations() : random_(seed()), texts_({""}, seed()) {}

  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    // Random layouts and policies may ask for any of it.
    invariants_.max_unavailable = 1000;
    invariants_.force_allowed = true;
    invariants_.pool_labels = {"gpu.berth.dev/pool", "nvidia.com/device-plugin.config"};
    cluster().add_gpu_node({.name = "n2"});
    cluster().wait_agents_running();
    collect_corpus();
    start_keeper();
    start_berth_as_account();
    start_webhook();
    wait_answering();
    std::cout << "BERTH_FUZZ_SEED=" << seed() << " plays these again\n";
  }

  // Good objects with every default set: more fields to break.
  void collect_corpus() {
    const std::string examples = source_dir() + "/examples/";
    std::vector<std::string> texts;
    for (const char* file : {"miglayout-a100-mixed", "miglayout-a100-single", "policy/cluster",
                             "tiers/policy", "multi-tenant/policy", "multi-tenant/layout"})
      for (const Object& object : kube().apply_file(examples + file + ".yaml")) {
        const bool layout = object.text("/kind") == "MIGLayout";
        json value = {{"apiVersion", object.text("/apiVersion")},
                      {"kind", object.text("/kind")},
                      {"metadata", {{"name", object.name()}}},
                      {"spec", object.at("/spec").value()}};
        texts.push_back(value.dump());
        (layout ? layouts_ : policies_).push_back(std::move(value));
        kube().remove({layout ? "miglayouts" : "gpuclusterpolicies", object.name()});
      }
    texts_ = Mutator(std::move(texts), seed());
  }

  // One request that breaks an object; returns whether the server accepted it.
  bool break_something() {
    const bool layout = random_.below(3) != 0;
    const std::vector<json>& good = layout ? layouts_ : policies_;
    json object = good[random_.below(good.size())];
    object["metadata"]["name"] =
        layout ? fmt::format("broken-{}", random_.below(kLayouts)) : std::string("cluster");
    const std::string collection =
        kGroup + std::string(layout ? "miglayouts" : "gpuclusterpolicies");
    const std::string path = collection + "/" + object["metadata"]["name"].get<std::string>();
    ++sent_;
    switch (random_.below(16)) {
      case 0:
        return post(collection, random_.mutated(object).dump());
      case 1:
        return post(collection, texts_.next());
      case 2:
        return kube().send("DELETE", path).ok();
      case 3:
      case 4:
        return put(path, {{"metadata", broken_metadata()}}, "merge-patch");
      case 5:
      case 6:
      case 7:
        return put(path + "/status", replaced("/status", random_.mutated(some_status(layout))),
                   "json-patch");
      default:
        object["spec"] = random_.mutated(object["spec"]);
        return put(path, replaced("/spec", object["spec"]), "json-patch") ||
               post(collection, object.dump());
    }
  }

  json broken_metadata() {
    json metadata;
    const json strings = {{random_.meaningful(), random_.meaningful()}, {"example.com/x", "y"}};
    switch (random_.below(5)) {
      case 0:
        metadata["finalizers"] = {"example.com/kept", "gpu.berth.dev/finalizer"};
        break;
      case 1:
        metadata["finalizers"] = nullptr;
        break;
      case 2:
        metadata["labels"] = random_.mutated(strings);
        break;
      case 3:
        metadata["ownerReferences"] = json::array({random_.mutated(
            {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", "n1"}, {"uid", "0"}})});
        break;
      default:
        metadata["annotations"] = random_.mutated(strings);
    }
    return metadata;
  }

  json some_status(bool layout) {
    return layout ? json{{"observedGeneration", 7},
                         {"configHash", "0123456789"},
                         {"nodes", {{"selected", 4}, {"updated", 1}, {"inProgress", 3}}},
                         {"capacity", {{"nvidia.com/mig-1g.10gb", 7}}},
                         {"details", {{{"node", "n1"}, {"phase", "Waiting"}, {"reason", "Held"}}}},
                         {"conditions",
                          {{{"type", "Ready"},
                            {"status", "True"},
                            {"reason", "AllNodesUpdated"},
                            {"message", "by hand"},
                            {"lastTransitionTime", "2026-11-21T12:00:00Z"}}}}}
                  : json{{"observedGeneration", 7},
                         {"totals", {{"pools", 1}, {"nodes", 2}, {"gpus", 8}}},
                         {"pools", {{{"name", "training"}, {"nodes", 2}}}}};
  }

  static json replaced(const std::string& pointer, json value) {
    return json::array({{{"op", "add"}, {"path", pointer}, {"value", std::move(value)}}});
  }
  bool put(const std::string& path, const json& body, const std::string& type) {
    return kube().send("PATCH", path, body.dump(), "application/" + type + "+json").ok();
  }
  bool post(const std::string& collection, const std::string& body) {
    return kube().send("POST", collection, body).ok();
  }

  void break_many(int count) {
    const int before = taken_;
    for (int i = 0; i < count; ++i) {
      taken_ += break_something() ? 1 : 0;
      if (i % 50 == 0) expect_running();
    }
    EXPECT_GT(taken_ - before, count / 20) << "hardly anything reached berth";
    expect_others_served();
  }

  void expect_running() {
    ASSERT_TRUE(berth().process().running()) << berth().process().log_tail(20);
    ASSERT_TRUE(webhook().running()) << webhook().log_tail(20);
  }

  // Only so that it can be deleted. If berth removes its finalizer meanwhile, the server refuses
  // the whole list, so the remaining objects are repaired again.
  void mend(const std::string& resource, const Object& object) {
    const std::string path = kGroup + resource + "/" + object.name();
    put(path, replaced("/spec", resource == "miglayouts" ? layouts_[0]["spec"] : json::object()),
        "json-patch");
    put(path + "/status", replaced("/status", json::object()), "json-patch");
    json kept = json::array();
    for (const Object& finalizer : object.items("/metadata/finalizers"))
      if (finalizer.value() == "gpu.berth.dev/finalizer") kept.push_back(finalizer.value());
    put(path, {{"metadata", {{"finalizers", kept}, {"ownerReferences", nullptr}}}}, "merge-patch");
    kube().send("DELETE", path);
  }

  // berth finishes the broken objects, and rolls out a good layout and then another one.
  void expect_others_served() {
    wait_for("what was broken to go", 60, [&]() -> std::string {
      std::string left;
      for (const char* resource : {"miglayouts", "gpuclusterpolicies"})
        for (const Object& object : kube().list(resource))
          if (object.name() != "good") {
            left = object.dump().substr(0, 2000);
            mend(resource, object);
          }
      return left;
    });
    cut_ = cut_ == 7 ? 4 : 7;
    apply({.name = "good",
           .devices = fmt::format("  - profiles: {{1g.10gb: {}}}\n", cut_),
           .node_selector = "{matchLabels: {kubernetes.io/hostname: n1}}"});
    wait_for("the good layout", 60, [&]() -> std::string {
      const Object now = layout("good");
      const auto offered = cluster().gpu_allocatable("n1");
      const auto found = offered.find("nvidia.com/mig-1g.10gb");
      return now.condition("Ready") == "True" && found != offered.end() && found->second == 4 * cut_
                 ? ""
                 : now.at("/status").dump();
    });
    expect_running();
  }

  // Stores any JSON, with a status subresource.
  void drop_schemas() {
    const json any = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    for (const char* name : {"miglayouts.gpu.berth.dev", "gpuclusterpolicies.gpu.berth.dev"})
      kube().patch({"customresourcedefinitions", name}, PatchType::kJson,
                   json::array({{{"op", "replace"},
                                 {"path", "/spec/versions/0/schema/openAPIV3Schema"},
                                 {"value", any}}})
                       .dump());
    wait_for("the schemas to be forgotten", 30, [&]() -> std::string {
      return post(std::string(kGroup) + "miglayouts?dryRun=All",
                  R"({"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "MIGLayout",)"
                  R"( "metadata": {"name": "any"}, "spec": {"devices": 7}})")
                 ? ""
                 : "not yet";
    });
  }
  void ask_the_webhook_no_more() {
    kube().send("DELETE",
                "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"
                "berth-webhook");
  }

  JsonMutator random_;
  Mutator texts_;
  std::vector<json> layouts_, policies_;
  int sent_ = 0, taken_ = 0, cut_ = 0;
};

TEST_F(Mutations, SixteenHundredBrokenObjectsEndNothingAndStopNobodyElse) {
  break_many(500);
  if (HasFatalFailure()) return;
  ask_the_webhook_no_more();
  break_many(200);
  drop_schemas();
  break_many(450);
  if (HasFatalFailure()) return;
  break_many(450);
  std::cout << sent_ << " mutations, " << taken_ << " of them taken by the API server\n";
  EXPECT_GE(sent_, 1600);
}

}  // namespace
}  // namespace berth::test
