// SPDX-License-Identifier: Apache-2.0
// The manifests of tests/data, offline: bad and good MIGLayouts, GPUClusterPolicies and GPUQueues.
// tests/apiserver checks the API server with the same tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "apis/codec/manifest.h"
#include "tests/support/manifest_cases.h"
#include "tests/support/places.h"

namespace berth {
namespace {

using test::ManifestCase;
using test::read_file;
using test::read_manifest_cases;

std::vector<Finding> validate(const std::string& text, MIGLayout* layout = nullptr,
                              GPUClusterPolicy* policy = nullptr) {
  Manifest manifest = parse_manifest(text, "f.yaml");
  std::vector<Finding> findings = manifest.findings;
  for (const ManifestDocument& document : manifest.documents) {
    if (document.kind == kKind<GPUClusterPolicy>.kind) {
      StrictPolicy strict = decode_strict_policy(document, "f.yaml");
      findings.insert(findings.end(), strict.findings.begin(), strict.findings.end());
      if (policy != nullptr) *policy = strict.policy;
    } else if (document.kind == kKind<GPUQueue>.kind) {
      StrictQueue strict = decode_strict_queue(document, "f.yaml");
      findings.insert(findings.end(), strict.findings.begin(), strict.findings.end());
    } else {
      StrictLayout strict = decode_strict(document, "f.yaml");
      findings.insert(findings.end(), strict.findings.begin(), strict.findings.end());
      if (layout != nullptr) *layout = strict.layout;
    }
  }
  return findings;
}

std::string print(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += format(finding) + "\n";
  return text;
}

void expect_refused(const std::string& file, std::size_t at_least) {
  std::vector<ManifestCase> cases = read_manifest_cases(file);
  EXPECT_GE(cases.size(), at_least);
  for (ManifestCase& c : cases) {
    std::vector<Finding> findings = validate(c.text);
    bool named = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.field == c.says["field"] && f.message.find(c.says["says"]) != std::string::npos &&
             f.line > 1;
    });
    EXPECT_TRUE(named) << c.says["case"] << ": wanted " << c.says["field"] << " with \""
                       << c.says["says"] << "\", got\n"
                       << print(findings);
    EXPECT_LE(findings.size(), 2u) << c.says["case"] << ": one fault, one complaint\n"
                                   << print(findings);
  }
}

TEST(BadManifests, AreRefusedWithFieldAndAdvice) {
  expect_refused("bad_manifests.yaml", 80);
  expect_refused("bad_policies.yaml", 100);
  expect_refused("bad_queues.yaml", 45);
}

TEST(GoodManifests, AreTaken) {
  for (const char* file : {"good_manifests.yaml", "good_policies.yaml", "good_queues.yaml"}) {
    for (ManifestCase& c : read_manifest_cases(file))
      EXPECT_EQ(print(validate(c.text)), "") << c.says["case"];
  }
}

TEST(Examples, PassAndSayWhatTheyMean) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(test::source_dir()) / "examples")) {
    if (!entry.path().filename().string().starts_with("miglayout-")) continue;
    EXPECT_EQ(print(validate(read_file(entry.path()))), "") << entry.path();
    ++seen;
  }
  EXPECT_GE(seen, 3u);
  MIGLayout layout;
  validate(
      read_file(std::filesystem::path(test::source_dir()) / "examples/miglayout-a100-mixed.yaml"),
      &layout);
  ASSERT_EQ(layout.spec.devices.size(), 2u);
  EXPECT_EQ(layout.spec.devices[0].profiles,
            (ProfileCounts{{"3g.40gb", 1}, {"2g.20gb", 1}, {"1g.10gb", 2}}));
  EXPECT_EQ(layout.spec.devices[1].profiles, (ProfileCounts{{"1g.10gb", 7}}));
  EXPECT_EQ(layout.spec.rollout.max_unavailable, (IntOrPercent{1, false}));
  EXPECT_EQ(layout.spec.capacity_guard.retire, std::vector<std::string>{"nvidia.com/gpu"});
}

TEST(Examples, ThePolicySaysWhatItMeans) {
  GPUClusterPolicy policy;
  EXPECT_EQ(print(validate(read_file(std::filesystem::path(test::source_dir()) /
                                     "examples/policy/cluster.yaml"),
                           nullptr, &policy)),
            "");
  const GPUClusterPolicySpec& spec = policy.spec;
  ASSERT_EQ(spec.pools.size(), 3u);
  EXPECT_EQ(spec.pools[0].taints,
            (std::vector<Taint>{{"nvidia.com/gpu", "present", "NoSchedule"}}));
  EXPECT_EQ(spec.pools[0].price, (PriceSpec{"3.06", "USD"}));
  EXPECT_EQ(spec.pools[1].mig_strategy, PluginMigStrategy::kMixed);
  EXPECT_EQ(spec.pools[2].sharing, (SharingSpec{SharingStrategy::kTimeSlicing, 4, {}, true, true}));
  EXPECT_EQ(spec.pools[2].eligible_namespaces->match_labels.get("team-risk"), "trusted");
  EXPECT_EQ(spec.topology_levels.back(), "kubernetes.io/hostname");
  EXPECT_EQ(spec.resource_catalog[1].resource, "nvidia.com/mig-1g.10gb");
  EXPECT_EQ(spec.priority_classes[2], (PriorityClassSpec{"inference-production", 100'000}));
  EXPECT_EQ(spec.admission.enforcement, Enforcement::kWarn);
  EXPECT_EQ(spec.admission.defaults.shared_memory, Quantity::whole(std::int64_t{8} << 30));
  EXPECT_EQ(spec.disruption.max_unavailable, (IntOrPercent{10, true}));
  EXPECT_EQ(spec.disruption.windows,
            (std::vector<WindowSpec>{{"0 22 * * sat", std::chrono::hours(6), "Europe/Berlin"}}));
  EXPECT_EQ(spec.health.action, HealthAction::kReport);
  EXPECT_EQ(spec.metrics.prometheus->url, "http://prometheus.monitoring:9090");
}

}  // namespace
}  // namespace berth
