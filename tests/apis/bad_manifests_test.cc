// SPDX-License-Identifier: Apache-2.0
// tests/data/bad_manifests.yaml and good_manifests.yaml, offline. tests/apiserver holds the API
// server to the same tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "apis/manifest.h"
#include "tests/support/manifest_cases.h"

namespace berth {
namespace {

using test::ManifestCase;
using test::read_file;
using test::read_manifest_cases;

std::vector<Finding> validate(const std::string& text, MIGLayout* layout = nullptr) {
  Manifest manifest = parse_manifest(text, "f.yaml");
  std::vector<Finding> findings = manifest.findings;
  for (const ManifestDocument& document : manifest.documents) {
    StrictLayout strict = decode_strict(document, "f.yaml");
    findings.insert(findings.end(), strict.findings.begin(), strict.findings.end());
    if (layout != nullptr) *layout = strict.layout;
  }
  return findings;
}

std::string print(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += format(finding) + "\n";
  return text;
}

TEST(BadManifests, AreRefusedWithFieldAndAdvice) {
  std::vector<ManifestCase> cases = read_manifest_cases("bad_manifests.yaml");
  EXPECT_GE(cases.size(), 80u);
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

TEST(GoodManifests, AreTaken) {
  for (ManifestCase& c : read_manifest_cases("good_manifests.yaml")) {
    EXPECT_EQ(print(validate(c.text)), "") << c.says["case"];
  }
}

TEST(Examples, PassAndSayWhatTheyMean) {
  std::size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(BERTH_SOURCE_DIR) / "examples")) {
    if (!entry.path().filename().string().starts_with("miglayout-")) continue;
    EXPECT_EQ(print(validate(read_file(entry.path()))), "") << entry.path();
    ++seen;
  }
  EXPECT_GE(seen, 3u);
  MIGLayout layout;
  validate(
      read_file(std::filesystem::path(BERTH_SOURCE_DIR) / "examples/miglayout-a100-mixed.yaml"),
      &layout);
  ASSERT_EQ(layout.spec.devices.size(), 2u);
  EXPECT_EQ(layout.spec.devices[0].profiles,
            (ProfileCounts{{"3g.40gb", 1}, {"2g.20gb", 1}, {"1g.10gb", 2}}));
  EXPECT_EQ(layout.spec.devices[1].profiles, (ProfileCounts{{"1g.10gb", 7}}));
  EXPECT_EQ(layout.spec.rollout.max_unavailable, (IntOrPercent{1, false}));
  EXPECT_EQ(layout.spec.capacity_guard.retire, std::vector<std::string>{"nvidia.com/gpu"});
}

}  // namespace
}  // namespace berth
