// SPDX-License-Identifier: Apache-2.0
// An object that is invalid for its kind is reported with line and field, and nothing is imported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/import/print.h"
#include "tests/import/imports.h"

namespace berth::test {
namespace {

using testing::HasSubstr;

constexpr char kKueue[] = "apiVersion: kueue.x-k8s.io/v1beta2\n";

struct Case {
  const char* what;
  std::string text;
  const char* said;
};

std::string queue_of(const std::string& resource) {
  return std::string(kKueue) +
         "kind: ClusterQueue\nmetadata: {name: q}\nspec:\n  resourceGroups:\n  - flavors:\n"
         "    - name: f\n      resources:\n      - " +
         resource + "\n";
}

TEST(ImportBadInput, IsToldByLineAndField) {
  const std::string kueue = kKueue;
  const std::string twins = kueue + "kind: ResourceFlavor\nmetadata: {name: f}\n---\n" + kueue +
                            "kind: ResourceFlavor\nmetadata: {name: f}\n";
  const std::vector<Case> cases = {
      {"a count that is none", queue_of("{name: nvidia.com/gpu, nominalQuota: lots}"),
       "in.yaml:9: ClusterQueue/q: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "},
      {"a count below 0", queue_of("{name: nvidia.com/gpu, nominalQuota: -1}"),
       "nominalQuota: must not be negative"},
      {"no count", queue_of("{name: nvidia.com/gpu}"), "nominalQuota: is required"},
      {"a list that is none",
       kueue + "kind: ClusterQueue\nmetadata: {name: q}\nspec: {resourceGroups: {a: b}}\n",
       "in.yaml:4: ClusterQueue/q: spec.resourceGroups: must be a list, is an object"},
      {"an unknown word",
       kueue + "kind: ClusterQueue\nmetadata: {name: q}\nspec: {queueingStrategy: LIFO}\n",
       "spec.queueingStrategy: must be one of BestEffortFIFO, StrictFIFO"},
      {"a selector with a made-up operator",
       kueue + "kind: ClusterQueue\nmetadata: {name: q}\nspec:\n  namespaceSelector:\n"
               "    matchExpressions:\n    - {key: a, operator: Likes}\n",
       "in.yaml:7: ClusterQueue/q: spec.namespaceSelector.matchExpressions[0].operator: must be "
       "In"},
      {"no name", kueue + "kind: ClusterQueue\nspec: {}\n", "metadata.name: is required"},
      {"a name that Kubernetes refuses", kueue + "kind: Cohort\nmetadata: {name: A b}\n",
       "in.yaml:3: Cohort/A b: metadata.name: write lower case"},
      {"a LocalQueue of no namespace",
       kueue + "kind: LocalQueue\nmetadata: {name: q}\nspec: {clusterQueue: q}\n",
       "in.yaml:3: LocalQueue/q: metadata.namespace: is required here"},
      {"a label that a shell would run",
       kueue + "kind: ResourceFlavor\nmetadata: {name: f}\nspec: {nodeLabels: {a: $(reboot)}}\n",
       "in.yaml:4: ResourceFlavor/f: spec.nodeLabels.a: write a label value"},
      {"a version that nobody has seen",
       "apiVersion: kueue.x-k8s.io/v9\nkind: ClusterQueue\nmetadata: {name: q}\n",
       "in.yaml:1: ClusterQueue/q: apiVersion: berth import reads v1alpha1, v1beta1 and v1beta2"},
      {"one object twice", twins,
       "in.yaml:7: ResourceFlavor/f: metadata.name: is in in.yaml:1 already"},
      {"no kind", "apiVersion: v1\nmetadata: {name: x}\n", "in.yaml:1: x: kind: is required"},
      {"no version", "kind: ClusterQueue\nmetadata: {name: x}\n", "apiVersion: is required"},
      {"a class without a value", kueue + "kind: WorkloadPriorityClass\nmetadata: {name: p}\n",
       "WorkloadPriorityClass/p: value: is required"},
      {"mig-parted's own complaint, by config",
       "version: v1\nmig-configs:\n  good: [{devices: all, mig-enabled: false}]\n"
       "  bad:\n  - devices: some\n    mig-enabled: false\n",
       "in.yaml:4: mig-configs.bad: config bad: devices is \"some\"; write all or a list"},
      {"a mig-parted file of no version",
       "mig-configs: {a: [{devices: all, mig-enabled: false}]}\n",
       "in.yaml:1: version is missing; it must be v1"},
      {"a mig-parted file without configs", "version: v1\nmig-configs: {}\n",
       "in.yaml:1: mig-configs is missing or empty"},
      {"a ConfigMap's file that is no YAML",
       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  config.yaml: |\n"
       "    mig-configs: [\n",
       "in.yaml:5: ConfigMap/m: data.config.yaml: line "},
      {"two configs of one name",
       "version: v1\nmig-configs: {a: [{devices: all, mig-enabled: false}]}\n---\n"
       "version: v1\nmig-configs: {a: [{devices: [0], mig-enabled: false}]}\n",
       "in.yaml:5: mig-parted config a: is in another file with other entries"},
  };
  for (const Case& c : cases) {
    // Valid parts next to it do not help.
    const Imported imported = import_text(
        c.text + "---\nversion: v1\nmig-configs: {fine: [{devices: all, mig-enabled: false}]}\n");
    EXPECT_TRUE(imported.objects.empty()) << c.what;
    ASSERT_FALSE(imported.report.wrong.empty()) << c.what;
    EXPECT_THAT(format(imported.report.wrong.front()), HasSubstr(c.said)) << c.what;
    EXPECT_EQ(print_report(imported).size(), imported.report.wrong.size()) << c.what;
  }
}

TEST(ImportBadInput, LabelsAreOfADomainThatIsOnesOwn) {
  for (const char* good : {"node.example.com", "example.org", "gpu.labs.example"})
    EXPECT_EQ(domain_fault(good), "") << good;
  for (const char* bad : {"", "example", "Example.com", "nvidia.com", "x.nvidia.com",
                          "node-role.kubernetes.io", "gpu.berth.dev", "a.com;reboot"})
    EXPECT_NE(domain_fault(bad), "") << bad;
}

}  // namespace
}  // namespace berth::test
