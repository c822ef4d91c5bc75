// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/program.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string layout(const std::string& spec) {
  return "apiVersion: gpu.berth.dev/v1alpha1\nkind: MIGLayout\nmetadata: {name: x}\nspec:\n" + spec;
}

struct Case {
  const char* what;
  std::string text;
  std::vector<std::string> flags;
  int exit_code;
  std::vector<std::string> said;
};

TEST(Validate, ChecksFieldsRulesAndGeometry) {
  const std::string a100 = "  productSelector: [NVIDIA-A100-SXM4-80GB]\n";
  const std::vector<Case> cases = {
      {"a layout that fits its product",
       layout(a100 + "  devices: [{profiles: {1g.10gb: 7}}]\n"),
       {},
       0,
       {"case.yaml:1: MIGLayout/x: fits 1 × NVIDIA-A100-SXM4-80GB"}},
      {"a profile of another product, on its line",
       layout(a100 + "  devices:\n  - gpus: [0]\n    profiles: {1g.10gb: 7}\n"
                     "  - profiles: {1g.18gb: 1}\n"),
       {},
       1,
       {"case.yaml:9: MIGLayout/x: spec.devices[1].profiles", "1g.18gb"}},
      {"a set that needs too much memory",
       layout(a100 + "  devices: [{profiles: {3g.40gb: 2, 1g.10gb: 1}}]\n"),
       {},
       1,
       {"case.yaml:6: MIGLayout/x: spec.devices[0].profiles", "9 of 8 memory units"}},
      {"an unknown product",
       layout("  productSelector: [NVIDIA-L40S]\n  devices: [{profiles: {1g.10gb: 7}}]\n"),
       {},
       1,
       {"case.yaml:5: MIGLayout/x: spec.productSelector[0]", "NVIDIA-L40S"}},
      {"no product named: one that could hold it is enough",
       layout("  nodeSelector: {}\n  devices: [{profiles: {1g.10gb: 7}}]\n"),
       {},
       0,
       {"A100-80GB"}},
      {"no product named, and none could hold it",
       layout("  nodeSelector: {}\n  devices: [{profiles: {1g.10gb: 8}}]\n"),
       {},
       1,
       {"no product that berth knows"}},
      {"the product from the command line",
       layout("  nodeSelector: {}\n  devices: [{profiles: {1g.10gb: 7}}]\n"),
       {"--product", "H200"},
       1,
       {"1g.10gb"}},
      {"a GPU that the node doesn't have",
       layout(a100 + "  devices: [{gpus: [0, 1, 2, 3, 4], profiles: {}}]\n"),
       {"--gpus", "4"},
       1,
       {"spec.devices[0].gpus"}},
      {"GPUs that differ under strategy single",
       layout(a100 + "  devices: [{gpus: [0], profiles: {}}, {profiles: {1g.10gb: 7}}]\n"),
       {"--mig-strategy", "single"},
       1,
       {"single"}},
      {"a key that is twice there",
       layout(a100 + "  priority: 1\n  priority: 2\n  devices: [{profiles: {}}]\n"),
       {},
       1,
       {"case.yaml:7: ", "priority"}},
      {"an unknown key, with the nearest known one",
       layout(a100 + "  device: [{profiles: {}}]\n"),
       {},
       1,
       {"case.yaml:6: ", "devices"}},
      {"no YAML", "a: [b\n", {}, 1, {"case.yaml:"}},
      {"a misspelt kind of ours",
       "apiVersion: gpu.berth.dev/v1alpha1\nkind: MigLayuot\nmetadata: {name: x}\n",
       {},
       1,
       {"case.yaml:2: MigLayuot/x: kind: gpu.berth.dev has no such kind; did you mean MIGLayout?"}},
      {"a kind of ours that is none",
       "apiVersion: gpu.berth.dev/v9\nkind: Deployment\nmetadata: {name: x}\n",
       {},
       1,
       {"has no such kind; its kinds are MIGLayout, GPUClusterPolicy, GPUQueue"}},
      {"a kind in another case",
       "apiVersion: gpu.berth.dev/v1alpha1\nkind: gpuclusterpolicy\nmetadata: {name: x}\n",
       {},
       1,
       {"did you mean GPUClusterPolicy?"}},
      {"a queue",
       "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUQueue\nmetadata: {name: vision}\nspec:\n"
       "  quotas: [{resource: nvidia.com/gpu, pool: training, nominalQuota: 4}]\n",
       {},
       0,
       {"case.yaml:1: GPUQueue/vision: is valid: 1 quota"}},
      {"a queue that lends to nobody, on its line",
       "apiVersion: gpu.berth.dev/v1alpha1\nkind: GPUQueue\nmetadata: {name: vision}\nspec:\n"
       "  quotas:\n  - {resource: nvidia.com/gpu, pool: a, nominalQuota: 4, lendingLimit: 1}\n",
       {},
       1,
       {"case.yaml:5: GPUQueue/vision: spec.quotas: a queue without cohortName has nobody"}},
      {"somebody else's object is left alone",
       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
       {},
       0,
       {"ConfigMap/other", "left alone"}},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = {"validate", "-f", scratch_file("case.yaml", c.text)};
    arguments.insert(arguments.end(), c.flags.begin(), c.flags.end());
    const Ran ran = run_berth(arguments);
    EXPECT_EQ(ran.exit_code, c.exit_code) << c.what << "\n" << ran.out << ran.err;
    for (const std::string& words : c.said) EXPECT_THAT(ran.out, HasSubstr(words)) << c.what;
  }
}

TEST(Validate, TwoManifestsOfOneNameAreAFault) {
  const std::string text =
      layout("  productSelector: [A100-80GB]\n  devices: [{profiles: {1g.10gb: 7}}]\n");
  const std::string one = scratch_file("one.yaml", text);
  EXPECT_THAT(run_berth({"validate", "-f", one}).out, HasSubstr("fits"));
  const Ran ran = run_berth(
      {"validate", "-f", scratch_file("one.yaml", text), "-f", scratch_file("two.yaml", text)});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("two.yaml:1: MIGLayout/x: metadata.name: is in"));
  EXPECT_THAT(ran.out, Not(HasSubstr("fits"))) << "nothing good of what has to be changed";
}

TEST(Validate, ThePolicyIsCheckedToo) {
  const std::string example = source_dir() + "/examples/policy/cluster.yaml";
  const Ran good = run_berth({"validate", "-f", example});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("cluster.yaml:8: GPUClusterPolicy/cluster: is valid: 3 pools"));
  EXPECT_THAT(run_berth({"validate", "-f", example, "-f", example}).out,
              HasSubstr("GPUClusterPolicy/cluster: metadata.name: is in"));

  const std::string bad = scratch_file("policy.yaml",
                                       "apiVersion: gpu.berth.dev/v1alpha1\n"
                                       "kind: GPUClusterPolicy\n"
                                       "metadata: {name: cluster}\n"
                                       "spec:\n"
                                       "  pools:\n"
                                       "  - name: a\n"
                                       "    nodeSelector: {}\n"
                                       "    sharing: {strategy: MPS, replicas: 4}\n"
                                       "    migStrategy: mixed\n"
                                       "  disruption:\n"
                                       "    windows:\n"
                                       "    - {schedule: 0 0 31 feb *, duration: 1h}\n");
  const Ran ran = run_berth({"validate", "-f", bad});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("policy.yaml:9: GPUClusterPolicy/cluster: "
                                 "spec.pools[0].migStrategy: NVIDIA's device plugin refuses"));
  EXPECT_THAT(ran.out, HasSubstr("policy.yaml:12: GPUClusterPolicy/cluster: "
                                 "spec.disruption.windows[0].schedule: never fires"));
}

// The output of a pipeline whose template was empty.
TEST(Validate, FilesWithoutAnyObjectAreAnError) {
  for (const std::string text : {"", "\n---\n# nothing\n---\n", "null\n"}) {
    const std::string file = scratch_file("empty.yaml", text);
    for (const std::string command : {"validate", "plan"}) {
      const Ran ran = run_berth({command, "-f", file});
      EXPECT_EQ(ran.exit_code, 1) << text;
      EXPECT_THAT(ran.err, HasSubstr("empty.yaml: there is no object in it")) << command;
      EXPECT_THAT(ran.out, IsEmpty());
    }
  }
  EXPECT_THAT(run_berth({"validate", "-f", "-"}).err, HasSubstr("stdin: there is no object in it"));
  const std::string good = scratch_file(
      "good.yaml", layout("  nodeSelector: {}\n  devices: [{profiles: {1g.10gb: 7}}]\n"));
  const Ran both = run_berth({"validate", "-f", good, "-f", "/dev/null"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("/dev/null: holds no object")) << "told, and not in the way";
}

// Endless input must be refused before it fills the machine's memory.
TEST(Validate, InputIsCountedWhileItIsRead) {
  for (const std::string file : {"/dev/zero", "-"})
    for (const std::string command : {"validate", "plan", "simulate"}) {
      const Ran ran = run_berth_on("/dev/zero", {command, "-f", file});
      EXPECT_EQ(ran.exit_code, 1) << command << " " << file;
      EXPECT_THAT(ran.err, HasSubstr(": is larger than 16 MiB")) << ran.err;
    }
}

TEST(Validate, FilesAreCountedTogether) {
  const std::string large =
      scratch_file("large.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n#" +
                                     std::string(std::size_t{15} << 20, ' '));
  std::vector<std::string> arguments = {"validate"};
  for (int i = 0; i < 5; ++i) arguments.insert(arguments.end(), {"-f", large});
  const Ran ran = run_berth(arguments);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("large.yaml: makes it more than 64 MiB together"));
}

TEST(Validate, ListsLayouts) {
  const Ran ran = run_berth({"validate", "--list-layouts", "NVIDIA-A100-SXM4-80GB"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("nvidia.com/mig-3g.40gb"));
  const Ran unknown = run_berth({"validate", "--list-layouts", "NVIDIA-L40S"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("A100-80GB")) << "the products it knows";
}

TEST(Validate, BadFlagsAreErrors) {
  EXPECT_EQ(run_berth({"validate"}).exit_code, 1);
  for (const std::string gpus : {"0", "-1", "17", "four", "99999999999999"})
    EXPECT_EQ(run_berth({"validate", "-f", "/dev/null", "--gpus", gpus}).exit_code, 1) << gpus;
  EXPECT_THAT(run_berth({"validate", "-f", "/dev/null", "--mig-strategy", "x"}).err,
              HasSubstr("--mig-strategy: must be one of single|mixed, not \"x\""));
}

// One folder each, since a cluster has one policy.
TEST(Validate, ExamplesAreValid) {
  const std::string examples = source_dir() + "/examples";
  for (const char* folder : {"", "/policy", "/time-slicing-lab", "/tiers", "/three-teams",
                             "/mig-inference", "/multi-tenant", "/multi-tenant/orders", "/mistakes",
                             "/mistakes/policies/unknown-taint.yaml"}) {
    const Ran ran = run_berth({"validate", "-f", examples + folder});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  }
  const Ran refused =
      run_berth({"validate", "-f", examples + "/mistakes/policies/no-execute.yaml"});
  EXPECT_EQ(refused.exit_code, 1);
}

}  // namespace
}  // namespace berth::test
