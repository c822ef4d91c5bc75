// SPDX-License-Identifier: Apache-2.0
// Names and mig-parted's entries at the limits of names, products and layouts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/import/fitted_name.h"
#include "tests/import/imports.h"

namespace berth::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

std::vector<std::string> told(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(format(finding));
  return out;
}

std::string config_of(const std::string& entries, const std::string& name = "mine") {
  return fmt::format("version: v1\nmig-configs:\n  {}:\n{}", name, entries);
}

std::string filtered(const std::string& filter) {
  return fmt::format("  - device-filter: {}\n    devices: all\n    mig-enabled: false\n", filter);
}

TEST(FittedName, WhatFitsStaysAndElseHasAHashOfAllOfIt) {
  const std::string longest(63, 'a');
  EXPECT_EQ(fitted_name(longest, 63, NameGrammar::kLabel), longest);
  EXPECT_EQ(fitted_name("a.b", 63, NameGrammar::kSubdomain), "a.b");
  EXPECT_THAT(fitted_name(longest + "a", 63, NameGrammar::kLabel),
              MatchesRegex("a{54}-[0-9a-f]{8}"));
  EXPECT_THAT(fitted_name("a.b", 63, NameGrammar::kLabel), MatchesRegex("a-b-[0-9a-f]{8}"));
  EXPECT_NE(fitted_name("a.b", 63, NameGrammar::kLabel),
            fitted_name("a_b", 63, NameGrammar::kLabel));
  // Any other character becomes a hyphen, one for several, and none at either end.
  for (const char* odd : {"A{|}~/:[@`^Z", "..A  Z..", "A\xC3\xA4Z"})
    EXPECT_THAT(fitted_name(odd, 63, NameGrammar::kLabel), MatchesRegex("a-z-[0-9a-f]{8}")) << odd;
  EXPECT_THAT(fitted_name("09AZaz", 63, NameGrammar::kLabel), MatchesRegex("09azaz-[0-9a-f]{8}"));
  EXPECT_THAT(fitted_name("...", 63, NameGrammar::kLabel), MatchesRegex("[0-9a-f]{8}"));
  EXPECT_THAT(fitted_name("abcdefghij.KLM", 20, NameGrammar::kLabel),
              MatchesRegex("abcdefghij-[0-9a-f]{8}"))
      << "no hyphen stands where it is cut";
}

TEST(FittedName, NamesOfObjectsAndOfNamespacesHaveTheirLengths) {
  EXPECT_TRUE(is_object_name(std::string(253, 'a')));
  EXPECT_FALSE(is_object_name(std::string(254, 'a')));
  EXPECT_TRUE(is_object_name("a.b-c"));
  EXPECT_FALSE(is_object_name("a_b"));
  EXPECT_TRUE(is_namespace_name(std::string(63, 'a')));
  EXPECT_FALSE(is_namespace_name(std::string(64, 'a')));
  EXPECT_FALSE(is_namespace_name("a.b"));
}

TEST(ImportMigConfigs, AProductIsToldByItsIdAlone) {
  for (const char* known : {"\"0x20B210DE\"", "\"0X20b210de\"", "\"20B210DE\""})
    EXPECT_THAT(import_text(config_of(filtered(known))).objects, testing::SizeIs(1)) << known;
  for (const char* unknown :
       {"\"0x20B210DF\"", "\"0x20B210DEh\"", "some", "\"0x\"", "\"0x00000DE\""})
    EXPECT_THAT(told(import_text(config_of(filtered(unknown))).report.lost),
                ElementsAre(HasSubstr("no product that berth knows has this id")))
        << unknown;
  EXPECT_THAT(import_text(config_of(filtered("[\"0x20B210DE\", \"0x20B210DE\"]"))).objects,
              testing::SizeIs(1))
      << "named twice it is one";
}

TEST(ImportMigConfigs, AnEmptyFilterTakesAnyDevice) {
  const Imported imported = import_text(config_of(filtered("[\"\", \"0x20B210DE\"]")));
  ASSERT_THAT(imported.objects, testing::SizeIs(1));
  EXPECT_FALSE(nlohmann::json::parse(imported.objects[0].json)["spec"].contains("productSelector"));
  EXPECT_THAT(imported.report.lost, IsEmpty());
}

TEST(ImportMigConfigs, ALayoutHasSixteenEntries) {
  const auto entries = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += fmt::format("  - devices: [{}]\n    mig-enabled: false\n", i);
    return text;
  };
  EXPECT_THAT(told(import_text(config_of(entries(17))).report.lost),
              ElementsAre(HasSubstr("a layout has at most 16 entries")));
  for (const std::string& lost : told(import_text(config_of(entries(16))).report.lost))
    EXPECT_THAT(lost, testing::Not(HasSubstr("at most 16 entries")));
}

TEST(ImportMigConfigs, TheLabelThatTheyHaveIsNamedWhereThereCanBeOne) {
  const std::string all = "  - devices: all\n    mig-enabled: false\n";
  const std::string longest(63, 'a');
  EXPECT_THAT(told(import_text(config_of(all, longest)).report.steps),
              ElementsAre(HasSubstr("-l nvidia.com/mig.config=" + longest + " ")));
  EXPECT_THAT(import_text(config_of(all, longest + "a")).report.steps, IsEmpty());
}

TEST(ImportMigConfigs, AConfigMapsFileMayBeJson) {
  const Imported imported = import_text(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  config.json: |\n"
      "    {\"version\": \"v1\", \"mig-configs\" : {\"a\": [{\"devices\": \"all\", "
      "\"mig-enabled\": false}]}}\n  other: 'nothing of it'\n");
  EXPECT_THAT(imported.objects, testing::SizeIs(1));
  EXPECT_THAT(imported.report.wrong, IsEmpty());
}

TEST(ImportQueues, AResourcesNameIsAsLongAsKubernetesHasThem) {
  const auto wrong = [](std::size_t name) {
    const std::string queue = fmt::format(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: q}}\nspec:\n"
        "  resourceGroups:\n  - flavors:\n    - name: f\n      resources:\n"
        "      - name: nvidia.com/gpu\n        nominalQuota: 4\n"
        "      - name: {}/{}\n        nominalQuota: 1\n",
        std::string(253, 'a'), std::string(name, 'b'));
    return told(import_text(queue).report.wrong);
  };
  EXPECT_THAT(wrong(63), IsEmpty());
  EXPECT_THAT(wrong(64), testing::Contains(HasSubstr("is longer than any resource's name")));
}

TEST(ImportLabels, AllThatIsKubernetesOrNvidiasIsRefused) {
  for (const char* theirs : {"kubernetes.io", "k8s.io", "nvidia.com", "gpu.berth.dev"}) {
    EXPECT_THAT(domain_fault(theirs), HasSubstr("not for people to make")) << theirs;
    EXPECT_THAT(domain_fault(std::string("a.") + theirs), HasSubstr("not for people to make"));
    EXPECT_EQ(domain_fault(std::string("not-") + theirs), "") << "another domain";
  }
}

}  // namespace
}  // namespace berth::test
