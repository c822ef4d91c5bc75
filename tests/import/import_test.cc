// SPDX-License-Identifier: Apache-2.0
// Conversions that the goldens do not show.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/import/imports.h"

namespace berth::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

std::string cluster_queue(const std::string& name, const std::string& more = "") {
  return fmt::format(
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: {}}}\nspec:\n"
      "  namespaceSelector: {{}}\n  resourceGroups:\n  - flavors:\n    - name: f\n"
      "      resources: [{{name: nvidia.com/gpu, nominalQuota: 4}}]\n{}",
      name, more);
}

std::string local_queue(const std::string& ns, const std::string& name, const std::string& queue) {
  return fmt::format(
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
      "metadata: {{name: {}, namespace: {}}}\nspec: {{clusterQueue: {}}}\n",
      name, ns, queue);
}

std::string resource_quota(const std::string& ns, const std::string& name, int gpus) {
  return fmt::format(
      "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: {}, namespace: {}}}\n"
      "spec: {{hard: {{requests.nvidia.com/gpu: {}}}}}\n",
      name, ns, gpus);
}

Imported import_valid(const std::string& text) {
  Imported imported = import_text(text);
  for (const Finding& finding : imported.report.wrong) ADD_FAILURE() << format(finding);
  EXPECT_EQ(faults_in(imported), "");
  return imported;
}

Json spec_of(const Imported& imported, const std::string& name) {
  for (const ImportedObject& object : imported.objects) {
    const Json json = Json::parse(object.json);
    if (json["metadata"]["name"] == name) return json["spec"];
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

std::vector<std::string> lines(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(format(finding));
  return out;
}

TEST(ImportQueues, LetInTheNamespacesThatHaveALocalQueueAndNoOther) {
  const Imported imported =
      import_valid(cluster_queue("a") + cluster_queue("b") + local_queue("n1", "a", "a"));
  EXPECT_EQ(spec_of(imported, "a")["namespaceSelector"],
            Json::parse(R"({"matchLabels": {"kubernetes.io/metadata.name": "n1"}})"));
  EXPECT_FALSE(spec_of(imported, "b").contains("namespaceSelector"));
  EXPECT_THAT(lines(imported.report.steps),
              Contains(HasSubstr("ClusterQueue/b: no LocalQueue leads to it")));
}

TEST(ImportQueues, WithoutASelectorLetNobodyIn) {
  const Imported imported = import_valid(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n"
      "  resourceGroups:\n  - flavors:\n    - name: f\n"
      "      resources: [{name: nvidia.com/gpu, nominalQuota: 4}]\n" +
      local_queue("n1", "a", "a"));
  EXPECT_FALSE(spec_of(imported, "a").contains("namespaceSelector"));
  EXPECT_THAT(lines(imported.report.steps),
              Contains(HasSubstr("it is not set, so the queue takes workloads from no namespace")));
}

TEST(ImportQueues, WithoutAnyLocalQueueTheSelectorStays) {
  const Imported imported = import_valid(cluster_queue("a"));
  EXPECT_EQ(spec_of(imported, "a")["namespaceSelector"], Json::object());
}

TEST(ImportQueues, MoreNamespacesThanASelectorTakesAreTold) {
  std::string text = cluster_queue("a");
  for (int i = 10; i < 76; ++i) text += local_queue(fmt::format("n{}", i), "a", "a");
  const Imported imported = import_valid(text);
  const Json selector = spec_of(imported, "a")["namespaceSelector"];
  EXPECT_EQ(selector["matchExpressions"][0]["values"].size(), 64U);
  ASSERT_EQ(imported.report.lost.size(), 2U + 0U) << "n74 and n75";
  EXPECT_THAT(format(imported.report.lost[1]), HasSubstr("LocalQueue/n75/a: metadata.namespace: "));
  EXPECT_EQ(imported.report.steps.size(), 64U + 1U) << "labels, and the absent flavor";
}

TEST(ImportQueues, AreTheDefaultOnlyWhereAllNamespacesHaveItSo) {
  const std::string one = cluster_queue("a") + local_queue("n1", "default", "a");
  EXPECT_EQ(spec_of(import_valid(one), "a").value("default", false), true);
  const Imported both = import_valid(one + local_queue("n2", "other", "a"));
  EXPECT_FALSE(spec_of(both, "a").contains("default"));
  EXPECT_THAT(lines(both.report.lost), ElementsAre(HasSubstr("is the default of some")));
}

TEST(ImportQueues, CohortsAreReadByEitherName) {
  for (const char* field : {"cohort", "cohortName"}) {
    const Imported imported =
        import_valid(cluster_queue("a", fmt::format("  {}: shared\n", field)));
    EXPECT_EQ(spec_of(imported, "a")["cohortName"], "shared") << field;
    EXPECT_THAT(imported.report.lost, IsEmpty());
  }
}

TEST(ImportQueues, KeepHowTheyOrderPreemptAndStand) {
  const Json spec =
      spec_of(import_valid(cluster_queue(
                  "a",
                  "  cohort: shared\n  queueingStrategy: StrictFIFO\n  stopPolicy: HoldAndDrain\n"
                  "  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}\n")),
              "a");
  EXPECT_EQ(spec["queueingStrategy"], "StrictFIFO");
  EXPECT_EQ(spec["stopPolicy"], "HoldAndDrain");
  EXPECT_EQ(spec["preemption"],
            Json::parse(R"({"withinQueue": "LowerPriority", "reclaimWithinCohort": "Any"})"));
  const Json plain = spec_of(import_valid(cluster_queue("a")), "a");
  for (const char* field : {"queueingStrategy", "stopPolicy", "preemption", "cohortName"})
    EXPECT_FALSE(plain.contains(field)) << field;
}

TEST(ImportQueues, OfEqualAndNewerPrioritiesOnlyTheLowerArePreempted) {
  const Imported imported =
      import_valid(cluster_queue("a",
                                 "  preemption: {withinClusterQueue: LowerOrNewerEqualPriority, "
                                 "reclaimWithinCohort: Any}\n"));
  EXPECT_EQ(spec_of(imported, "a")["preemption"],
            Json::parse(R"({"withinQueue": "LowerPriority"})"));
  EXPECT_THAT(lines(imported.report.lost),
              ElementsAre(HasSubstr("of equal priority nobody is preempted"),
                          HasSubstr("without a cohort nothing has been lent")));
}

TEST(Import, LeavesAloneWhatIsNotItsOwn) {
  const Imported imported = import_valid(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: b, c: 7}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: 7}\n---\n"
      "apiVersion: apps/v1\nkind: ResourceQuota\nmetadata: {name: r}\n---\n"
      "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUQueue\nmetadata: {name: q, namespace: x}\n");
  EXPECT_TRUE(imported.objects.empty());
  EXPECT_THAT(lines(imported.report.skipped),
              ElementsAre(HasSubstr("ConfigMap/m: is nothing that berth import reads"),
                          HasSubstr("Pod/p: is nothing that berth import reads"),
                          HasSubstr("ResourceQuota/r: is nothing that berth import reads"),
                          HasSubstr("GPUQueue/x/q: is berth's already; left alone")));
}

TEST(Import, TellsOfKueuesKindsThatHaveNoCounterpart) {
  const Imported imported = import_valid(
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: MultiKueueConfig\nmetadata: {name: m}\n---\n"
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Novelty\nmetadata: {name: n}\n---\n"
      "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nmetadata: {name: c}\n");
  EXPECT_THAT(lines(imported.report.lost),
              ElementsAre(HasSubstr("a GPUQueue admits into its own cluster only"),
                          HasSubstr("berth import does not know this kind"),
                          HasSubstr("Configuration/c: is not carried over: ")));
}

TEST(ImportPolicy, HasOneListOfTopologyLevels) {
  const auto topology = [](const std::string& name, const std::string& levels) {
    return fmt::format(
        "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata: {{name: {}}}\n"
        "spec: {{levels: [{}]}}\n",
        name, levels);
  };
  const std::string racks = "{nodeLabel: example.com/rack}";
  EXPECT_THAT(
      import_valid(cluster_queue("a") + topology("s", racks) + topology("t", racks)).report.lost,
      IsEmpty())
      << "the same";
  const Imported imported = import_valid(cluster_queue("a") + topology("s", racks) +
                                         topology("t", "{nodeLabel: example.com/block}, " + racks));
  EXPECT_EQ(Json::parse(imported.policy.json)["spec"]["topologyLevels"],
            Json::parse(R"(["example.com/rack"])"));
  EXPECT_THAT(lines(imported.report.lost),
              ElementsAre(HasSubstr("Topology/t: spec.levels: is not carried over: a "
                                    "GPUClusterPolicy has one list of topologyLevels")));
}

TEST(ImportQueues, NoMoreIsLentThanThereIs) {
  const std::string text =
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n"
      "  cohort: shared\n  namespaceSelector: {}\n  resourceGroups:\n  - flavors:\n"
      "    - name: f\n      resources:\n"
      "      - {name: nvidia.com/gpu, nominalQuota: 4, lendingLimit: 6, borrowingLimit: 2}\n";
  const Imported imported = import_valid(text);
  EXPECT_EQ(spec_of(imported, "a")["quotas"][0]["lendingLimit"], 4);
  EXPECT_EQ(spec_of(imported, "a")["quotas"][0]["borrowingLimit"], 2);
  EXPECT_THAT(lines(imported.report.lost),
              ElementsAre(HasSubstr("more cannot be lent than nominalQuota")));
}

TEST(ImportQueues, OfTwoFlavorsForAnyNodeQuotasAndLimitsAreAddedUp) {
  const auto flavor = [](const char* name) {
    return fmt::format(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: {}}}\n---\n",
        name);
  };
  const auto imported = [&](const char* f, const char* g) {
    return import_valid(
        flavor("f") + flavor("g") +
        fmt::format("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
                    "metadata: {{name: a}}\nspec:\n  cohort: shared\n"
                    "  namespaceSelector: {{}}\n  resourceGroups:\n  - flavors:\n"
                    "    - name: f\n      resources: [{{name: nvidia.com/gpu, {}}}]\n"
                    "    - name: g\n      resources: [{{name: nvidia.com/gpu, {}}}]\n",
                    f, g));
  };
  const Json both = spec_of(imported("nominalQuota: 4, lendingLimit: 1, borrowingLimit: 2",
                                     "nominalQuota: 3, borrowingLimit: 5"),
                            "a")["quotas"];
  ASSERT_EQ(both.size(), 1u) << both;
  EXPECT_EQ(both[0]["nominalQuota"], 7);
  EXPECT_EQ(both[0]["lendingLimit"], 4) << "all of the other's may be lent";
  EXPECT_EQ(both[0]["borrowingLimit"], 7);
  const Json one =
      spec_of(imported("nominalQuota: 4, borrowingLimit: 2", "nominalQuota: 3"), "a")["quotas"];
  EXPECT_FALSE(one[0].contains("borrowingLimit")) << "the other borrows all that it finds";
}

TEST(ImportQueues, NoFieldIsLostInSilence) {
  const Imported imported = import_valid(
      cluster_queue("a",
                    "  madeUp: 1\n  preemption: {madeUp: {x: 1}}\n  fairSharing: {madeUp: true}\n"
                    "  flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: TryNextFlavor}\n"
                    "  admissionChecks: []\n  stopPolicy: None\n  status: odd\n"));
  EXPECT_THAT(lines(imported.report.lost),
              ElementsAre(HasSubstr("spec.madeUp"), HasSubstr("spec.preemption.madeUp"),
                          HasSubstr("spec.fairSharing.madeUp"), HasSubstr("spec.status")))
      << "and nothing that berth does anyway";
}

TEST(ImportNamespaceQuotas, OfOneNamespaceTheLeastHolds) {
  const Imported imported =
      import_valid(cluster_queue("a") + local_queue("n1", "a", "a") + resource_quota("n1", "r", 9) +
                   resource_quota("n1", "s", 5));
  EXPECT_EQ(spec_of(imported, "a")["namespaceQuota"],
            Json::parse(R"({"enabled": true, "hard": {"requests.nvidia.com/gpu": 5}})"));
}

TEST(ImportNamespaceQuotas, OfSomePodsOnlyAreTold) {
  for (const char* some : {"scopes: [BestEffort]", "scopeSelector: {matchExpressions: [{}]}"}) {
    const Imported imported = import_text(
        cluster_queue("a") + local_queue("n1", "a", "a") +
        fmt::format(
            "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: r, namespace: n1}}\n"
            "spec: {{hard: {{requests.nvidia.com/gpu: 4}}, {}}}\n",
            some));
    EXPECT_FALSE(spec_of(imported, "a").contains("namespaceQuota")) << some;
    EXPECT_FALSE(imported.report.lost.empty()) << some;
  }
  const Imported empty =
      import_text(cluster_queue("a") + local_queue("n1", "a", "a") +
                  "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: r, namespace: n1}\n"
                  "spec: {hard: {requests.nvidia.com/gpu: 4}, scopes: [], scopeSelector: {}}\n");
  EXPECT_TRUE(spec_of(empty, "a").contains("namespaceQuota")) << "which say nothing";
}

TEST(ImportNamespaceQuotas, StayWhereOneQueueCannotSayThem) {
  const std::string two = cluster_queue("a") + cluster_queue("b") + local_queue("n1", "a", "a");
  struct Row {
    const char* what;
    std::string text;
    const char* said;
  };
  const std::vector<Row> rows = {
      {"a namespace of no queue", two + resource_quota("n9", "r", 4), "n9 uses none of the queues"},
      {"a namespace of two", two + local_queue("n1", "b", "b") + resource_quota("n1", "r", 4),
       "n1 uses several queues"},
      {"two namespaces that differ",
       two + local_queue("n2", "a", "a") + resource_quota("n1", "r", 4) +
           resource_quota("n2", "r", 5),
       "these have different ones"},
      {"one of two namespaces without",
       two + local_queue("n2", "a", "a") + resource_quota("n2", "r", 5),
       "these have different ones"},
  };
  for (const Row& row : rows) {
    const Imported imported = import_valid(row.text);
    EXPECT_FALSE(spec_of(imported, "a").contains("namespaceQuota")) << row.what;
    EXPECT_THAT(lines(imported.report.lost), Contains(HasSubstr(row.said))) << row.what;
  }
}

TEST(ImportCohorts, WithQuotaAreQueuesThatLetNobodyIn) {
  const std::string cohort =
      "---\napiVersion: kueue.x-k8s.io/v1alpha1\nkind: Cohort\nmetadata: {name: shared}\nspec:\n"
      "  parent: all\n  resourceGroups:\n  - flavors:\n    - name: f\n"
      "      resources: [{name: nvidia.com/gpu, nominalQuota: 6}]\n";
  const Imported imported = import_valid(cluster_queue("a", "  cohort: shared\n") + cohort);
  const Json spec = spec_of(imported, "shared");
  EXPECT_EQ(spec["cohortName"], "shared");
  EXPECT_EQ(spec["quotas"][0]["nominalQuota"], 6);
  EXPECT_FALSE(spec.contains("namespaceSelector"));
  EXPECT_THAT(lines(imported.report.lost), ElementsAre(HasSubstr("Cohort/shared: spec.parent: ")));
}

TEST(ImportMigConfigs, OfProductsThatCannotBeToldApartAreTold) {
  // The first is of H100; the second of GH200, whose label does not include its memory.
  const Imported imported = import_valid(
      "version: v1\nmig-configs:\n  idle:\n  - device-filter: [\"0x233010DE\", \"0x234210DE\"]\n"
      "    devices: all\n    mig-enabled: false\n");
  EXPECT_EQ(spec_of(imported, "idle-h100-80gb")["devices"], Json::parse(R"([{"profiles": {}}])"));
  EXPECT_EQ(imported.objects.size(), 1U);
  EXPECT_THAT(lines(imported.report.lost), ElementsAre(HasSubstr("for GH200")));
}

TEST(ImportMigConfigs, ALayoutHasNoNodesUntilSomebodyLabelsThem) {
  const Imported imported =
      import_objects(sources_of("version: v1\nmig-configs: {Big+one: [{devices: all, mig-enabled: "
                                "true, mig-devices: {7g.80gb: 1}}]}\n"),
                     "gpus.example.org");
  ASSERT_EQ(imported.objects.size(), 1U);
  const Json layout = Json::parse(imported.objects[0].json);
  const std::string name = layout["metadata"]["name"];
  EXPECT_THAT(name, testing::MatchesRegex("big-one-[0-9a-f]{8}"));
  EXPECT_EQ(layout["spec"]["nodeSelector"]["matchLabels"]["gpus.example.org/mig-layout"], name);
  EXPECT_THAT(imported.report.steps, IsEmpty()) << "no label can hold that config's name";
}

}  // namespace
}  // namespace berth::test
