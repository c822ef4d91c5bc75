// SPDX-License-Identifier: Apache-2.0
// The keys of the present file that berth keeps in its own file for the device plugin.
#include "controller/policy/kept_plugin_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "controller/policy/policy_keys.h"
#include "tests/policy/planned_policy.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

using Data = std::map<std::string, std::string>;

constexpr char kFifteen[] =
    "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 15}]}}\n";
constexpr char kFour[] =
    "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n";
constexpr char kOurs[] = "berth-device-plugin-config";

// n1 names a key of the device plugin's present file, n2 names none, n3 is in pool dev.
class KeptPluginKeysTest : public Policy {
 protected:
  KeptPluginKeysTest() {
    read_by_plugin("time-slicing-config", "any");
    put("time-slicing-config", {{"any", kFifteen}, {"tesla-t4", kFour}, {"unused", kFour}});
    cluster.add(policy(kSliced))
        .add(node("n1").a100_80(4).label(names::kDevicePluginConfig, "tesla-t4"))
        .add(node("n2").a100_80(4))
        .add(in_dev("n3"));
  }
  void read_by_plugin(const std::string& file, const std::string& by_default) {
    ClusterPolicy policy = nvidia(file);
    policy.device_plugin_default_config = by_default;
    cluster.add(policy);
  }
  void put(const std::string& name, Data data) {
    ConfigMap file;
    file.meta.name = name;
    file.meta.namespace_ = cluster.settings.agents_namespace;
    file.meta.uid = "uid-" + name;
    file.meta.resource_version = "7";
    file.data = std::move(data);
    cluster.add(file);
  }
  // The data of berth's file in the plan; in a patch, a removed key is "".
  Data written() {
    for (const ObjectSteps& object : cluster.plan("policy").objects)
      for (const Step& step : object.steps)
        if (const auto* write = std::get_if<Write>(&step);
            write != nullptr && write->object.name == kOurs) {
          Data data;
          const auto body = nlohmann::json::parse(write->body);
          for (const auto& [key, text] : body["data"].items())
            data[key] = text.is_string() ? text.get<std::string>() : std::string();
          return data;
        }
    return {};
  }
  std::string verdict() { return status(cluster.plan("policy")); }
  std::string key() { return render_plugin_config(policy(kSliced).spec.pools[0])->key; }
};

TEST_F(KeptPluginKeysTest, KeysThatNodesUseAndTheDefaultAreCopied) {
  EXPECT_THAT(written(), AllOf(Contains(Pair("any", kFifteen)), Contains(Pair("tesla-t4", kFour)),
                               Contains(Pair("default", "version: v1\n")),
                               Contains(Pair(key(), HasSubstr("replicas: 4"))),
                               Not(Contains(Pair("unused", kFour)))));
  EXPECT_THAT(verdict(),
              AllOf(HasSubstr("PluginNotConfigured"),
                    HasSubstr(R"({\"name\":\"berth-device-plugin-config\",\"default\":\"any\"})")));
}

TEST_F(KeptPluginKeysTest, TheyStayOnceTheDevicePluginReadsBerthsFile) {
  put(kOurs, written());
  EXPECT_EQ(written(), Data()) << "all of it is there";
  read_by_plugin(kOurs, "any");
  EXPECT_EQ(written(), Data());
  EXPECT_THAT(verdict(), Not(HasSubstr("Stalled")));
}

// Its key looks like one of berth's, which berth drops when no node names it.
TEST_F(KeptPluginKeysTest, ADefaultThatNoNodeNamesStaysWhateverItsName) {
  read_by_plugin("time-slicing-config", "any-20240101");
  put("time-slicing-config", {{"any-20240101", kFifteen}, {"tesla-t4", kFour}});
  const Data all = written();
  EXPECT_THAT(all, Contains(Pair("any-20240101", kFifteen)));
  put(kOurs, all);
  EXPECT_EQ(written(), Data());
  read_by_plugin(kOurs, "any-20240101");
  EXPECT_EQ(written(), Data());
}

TEST_F(KeptPluginKeysTest, AKeyNamedDefaultTakesThePlaceOfBerthsOwn) {
  read_by_plugin("time-slicing-config", "default");
  put("time-slicing-config", {{"default", kFifteen}, {"tesla-t4", kFour}});
  put(kOurs, {{"default", "version: v1\n"}});
  EXPECT_THAT(written(), Contains(Pair("default", kFifteen)));
}

TEST_F(KeptPluginKeysTest, WithoutADefaultNothingIsTakenForOne) {
  read_by_plugin("time-slicing-config", "");
  put("time-slicing-config", {{"default", kFifteen}, {"tesla-t4", kFour}});
  EXPECT_THAT(written(), Contains(Pair("default", "version: v1\n")))
      << "the operator gives such nodes no config";
  EXPECT_THAT(verdict(), HasSubstr(R"(\"default\":\"default\"})"));
}

// --- files that can't be kept ---

TEST_F(KeptPluginKeysTest, AFileThatCannotBeReadIsNotReplaced) {
  cluster.cluster.erase<ConfigMap>("gpu-operator", "time-slicing-config");
  EXPECT_THAT(verdict(), AllOf(HasSubstr("PluginKeysMissing"),
                               HasSubstr("put keys any, tesla-t4 into ConfigMap "
                                         "gpu-operator/berth-device-plugin-config"),
                               HasSubstr("n1, n2, n3 (3 nodes)"),
                               HasSubstr("berth can't read ConfigMap time-slicing-config"),
                               Not(HasSubstr("kubectl patch"))));
  // As the message asks for.
  put(kOurs, {{"any", kFifteen}, {"tesla-t4", kFour}});
  EXPECT_THAT(verdict(), AllOf(HasSubstr("kubectl patch"), HasSubstr(R"(\"default\":\"any\")")));
}

// berth can't read the content of its own `default`; it only knows that the key exists.
TEST_F(KeptPluginKeysTest, BerthsOwnDefaultIsNoSubstituteForOneThatCannotBeRead) {
  read_by_plugin("time-slicing-config", "default");
  cluster.cluster.erase<ConfigMap>("gpu-operator", "time-slicing-config");
  put(kOurs, {{"tesla-t4", kFour}, {"default", "version: v1\n"}});
  EXPECT_THAT(verdict(), AllOf(HasSubstr("PluginKeysMissing"), HasSubstr("put key default"),
                               HasSubstr("n2, n3 (2 nodes)")));
}

TEST_F(KeptPluginKeysTest, AnotherTextUnderTheSameKeyIsNeitherTakenNorReplaced) {
  put(kOurs, {{"tesla-t4", kFifteen}});
  EXPECT_THAT(written(), Not(Contains(Pair("tesla-t4", kFour))));
  EXPECT_THAT(verdict(), AllOf(HasSubstr("PluginKeysMissing"),
                               HasSubstr("remove key tesla-t4 from ConfigMap "
                                         "gpu-operator/berth-device-plugin-config"),
                               HasSubstr("n1 (1 node)"), Not(HasSubstr("kubectl patch"))));
}

// Without a file a label has no effect; with one it stops the plugin.
TEST_F(KeptPluginKeysTest, ALabelThatNamesNothingIsToldBeforeTheFileIsRead) {
  read_by_plugin("", "");
  cluster.add(device_plugin(""));
  EXPECT_THAT(verdict(), AllOf(HasSubstr("PluginKeysMissing"), HasSubstr("tesla-t4"),
                               HasSubstr("n1 (1 node)"), Not(HasSubstr("kubectl patch"))));
  cluster.add(node("n1").label(names::kDevicePluginConfig, "tesla-t4"));
  EXPECT_THAT(verdict(), HasSubstr("kubectl patch")) << "n1 has no GPU, and no device plugin";
}

TEST_F(KeptPluginKeysTest, AFileThatIsReadAndLacksWhatANodeNamesIsTold) {
  read_by_plugin(kOurs, "any");
  put(kOurs, {{"any", kFifteen}});
  EXPECT_THAT(verdict(), AllOf(HasSubstr("PluginKeysMissing"), HasSubstr("put key tesla-t4 into"),
                               HasSubstr("n1 (1 node)")));
}

// --- when berth checks again ---

TEST_F(KeptPluginKeysTest, AnEditOfTheOtherFileHasThePolicyLookAgain) {
  const ConfigMap file = *cluster.cluster.config_maps().find("gpu-operator", "time-slicing-config");
  EXPECT_THAT(policy_keys_for(cluster.cluster, cluster.settings, &file, &file),
              ElementsAre("policy"));
}

TEST_F(KeptPluginKeysTest, APoolWithoutSharingUnderASharedDefaultIsTold) {
  read_by_plugin(kOurs, "any");
  put(kOurs, {{"any", kFifteen}, {"tesla-t4", kFour}});
  EXPECT_THAT(verdict(), Not(HasSubstr("PluginDefaultTaken"))) << "each pool has a config";
  cluster.add(
      policy("pools: [{name: dev, nodeSelector: {matchLabels: {tier: mig}}, sharing: "
             "{strategy: TimeSlicing, replicas: 4}}, {name: rest, nodeSelector: {}}]"));
  EXPECT_THAT(verdict(), AllOf(HasSubstr("PluginDefaultTaken"), HasSubstr("key any of")));
}

}  // namespace
}  // namespace berth::test
