// SPDX-License-Identifier: Apache-2.0
// Writes for a policy: each invariant of pools is violated once, by a manipulated write of berth.
#include "tests/explore/pool_invariants.h"

#include "controller/policy/plugin_config.h"
#include "tests/explore/invariants_fixture.h"

namespace berth::explore {
namespace {

class PoolInvariantsTest : public InvariantsFixture {
 protected:
  PoolInvariantsTest() {
    put("gpuclusterpolicies", "",
        json::parse(R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUClusterPolicy",
          "metadata":{"name":"cluster","uid":"g1","generation":1},
          "spec":{"pools":[{"name":"lab","nodeSelector":{"matchLabels":{"tier":"lab"}}}]},
          "status":{"observedGeneration":1,"conditions":[
            {"type":"Ready","status":"True","reason":"PoolsInPlace","message":"all"}]}})"));
    edit("n1", [](json& node) {
      node["metadata"]["labels"]["tier"] = "lab";
      node["metadata"]["labels"]["example.com/rack"] = "r7";
      node["spec"]["taints"] = json::array({taint("example.com/mine", "NoSchedule")});
    });
  }
  static json taint(const char* key, const char* effect) {
    return {{"key", key}, {"effect", effect}};
  }
  template <class Change>
  void edit(const std::string& name, Change change, const std::string& user = "somebody") {
    json object = stored(name);
    change(object);
    put("nodes", "", object, user);
  }
  static void enter(json& node) {
    node["metadata"]["labels"][names::kPoolLabel] = "lab";
    node["metadata"]["labels"]["example.com/team"] = "lab";
    node["spec"]["taints"].push_back(taint("nvidia.com/gpu", "NoSchedule"));
    PoolKeys keys{.pool = "lab"};
    keys.items[{Text(names::kPoolLabel), {}}] = Text("lab");
    keys.items[{Text("example.com/team"), {}}] = Text("lab");
    keys.items[{Text("nvidia.com/gpu"), Text("NoSchedule")}] = Text("");
    node["metadata"]["annotations"][names::kPoolKeysAnnotation] = encode_pool_keys(keys);
  }
  static void leave(json& node) {
    node["metadata"]["labels"].erase(names::kPoolLabel);
    node["metadata"]["labels"].erase("example.com/team");
    node["metadata"]["annotations"].erase(names::kPoolKeysAnnotation);
    node["spec"]["taints"].erase(1);
  }
  void put_plugin_file(const json& data, const char* user = "berth-0") {
    put("configmaps", "gpu-operator",
        {{"metadata", {{"name", "berth-device-plugin-config"}, {"namespace", "gpu-operator"}}},
         {"data", data}},
        user);
  }
  void name_key(const std::string& key, const std::string& user = "berth-0") {
    edit(
        "n1", [&](json& node) { node["metadata"]["labels"][names::kDevicePluginConfig] = key; },
        user);
  }
  std::string key(int replicas) {
    PoolSpec pool{.name = "lab"};
    pool.sharing.strategy = SharingStrategy::kTimeSlicing;
    pool.sharing.replicas = replicas;
    return render_plugin_config(pool)->key;
  }
};

TEST_F(PoolInvariantsTest, AnHonestPoolBreaksNone) {
  EXPECT_THAT(judge_.pools().unstill(), StartsWith("n1 is in pool \"\", and belongs to \"lab\""));
  edit("n1", enter, "berth-0");
  EXPECT_EQ(judge_.pools().unstill(), "");
  put_plugin_file({{"default", "a"}, {key(4), "b"}});
  pass(2min);
  name_key(key(4));
  edit("n1", [](json& node) { node["metadata"]["labels"].erase("tier"); });
  EXPECT_THAT(judge_.pools().unstill(), StartsWith("n1 is in pool \"lab\", and belongs to \"\""));
  edit("n1", leave, "berth-0");
  EXPECT_THAT(judge_.pools().unstill(), StartsWith("n1 is in no pool, and keeps a config"));
  edit(
      "n1", [](json& node) { node["metadata"]["labels"].erase(names::kDevicePluginConfig); },
      "berth-0");
  put_plugin_file({{"default", "a"}});
  EXPECT_EQ(judge_.pools().unstill(), "");
  EXPECT_THAT(judge_.broken(), ElementsAre());
}

TEST_F(PoolInvariantsTest, ALabelWithoutARecord) {
  edit(
      "n1", [](json& node) { node["metadata"]["labels"]["example.com/team"] = "lab"; }, "berth-0");
  EXPECT_THAT(first(), StartsWith("Fields: n1: label example.com/team changes"));
}

TEST_F(PoolInvariantsTest, ALabelThatWasSomebodyElses) {
  edit("n1", [](json& node) { node["metadata"]["labels"]["example.com/team"] = "theirs"; });
  edit("n1", enter, "berth-0");
  EXPECT_THAT(first(), StartsWith("Fields: n1: label example.com/team was somebody else's"));
}

TEST_F(PoolInvariantsTest, APoolsLabelThatBerthDidNotPutThere) {
  edit("n1", [](json& node) {
    node["metadata"]["labels"][names::kPoolLabel] = "lab";
    node["metadata"]["labels"].erase("tier");
  });
  EXPECT_EQ(judge_.pools().unstill(), "");
  edit(
      "n1", [](json& node) { node["metadata"]["labels"].erase(names::kPoolLabel); }, "berth-0");
  EXPECT_THAT(first(), StartsWith("Fields: n1: label gpu.berth.dev/pool was somebody else's"));
}

TEST_F(PoolInvariantsTest, OthersTaintsAreKeptInTheirOrder) {
  edit("n1", enter, "berth-0");
  edit(
      "n1",
      [](json& node) {
        leave(node);
        node["spec"]["taints"] = json::array();
      },
      "berth-0");
  EXPECT_THAT(first(), StartsWith("Fields: n1: others' taints change or move"));
}

TEST_F(PoolInvariantsTest, AFightOfMoreThanThreeRounds) {
  edit("n1", enter, "berth-0");
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(judge_.broken(), ElementsAre());
    edit("n1", [](json& node) { node["metadata"]["labels"]["example.com/team"] = "ours"; });
    edit(
        "n1", [](json& node) { node["metadata"]["labels"]["example.com/team"] = "lab"; },
        "berth-0");
  }
  EXPECT_THAT(first(), StartsWith("Others: the pool's labels of n1 are fought over: 4 times"));
}

TEST_F(PoolInvariantsTest, AKeyThatThePluginsFileLacks) {
  name_key(key(4));
  EXPECT_THAT(first(), testing::HasSubstr("which the plugin's file lacks"));
}

TEST_F(PoolInvariantsTest, AKeyThatMayNotHaveReachedTheNode) {
  put_plugin_file({{"default", "a"}, {key(4), "b"}});
  pass(30s);
  name_key(key(4));
  EXPECT_THAT(first(), testing::HasSubstr("which may not have reached it"));
}

TEST_F(PoolInvariantsTest, AKeyTakenAwayThatANodeNames) {
  put_plugin_file({{"default", "a"}, {key(4), "b"}});
  pass(2min);
  name_key(key(4));
  put_plugin_file({{"default", "a"}, {key(2), "b"}});
  EXPECT_THAT(first(), StartsWith("Config: the plugin's file loses lab-"));
}

TEST_F(PoolInvariantsTest, WhatIsForeignToThePluginsFile) {
  put_plugin_file({{"default", "a"}, {"theirs", "b"}}, "somebody");
  put_plugin_file({{"default", "a"}});
  EXPECT_THAT(first(), StartsWith("Others: the key theirs of the plugin's file is foreign"));
}

TEST_F(PoolInvariantsTest, AForeignConfigOfThePlugin) {
  put_plugin_file({{"default", "a"}, {key(4), "b"}, {"theirs", "b"}}, "somebody");
  name_key("theirs", "somebody");
  pass(2min);
  name_key(key(4));
  EXPECT_THAT(first(), StartsWith("Others: the plugin's config of n1 was theirs"));
}

TEST_F(PoolInvariantsTest, ANodeTakenInABlackout) {
  put("gpuclusterpolicies", "",
      json::parse(R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUClusterPolicy",
        "metadata":{"name":"cluster","uid":"g1","generation":2},"spec":{"disruption":{
          "blackouts":[{"schedule":"0 0 * * *","duration":"6h","timeZone":"UTC"}]}}})"));
  cordon("n1");
  EXPECT_THAT(judge_.broken(), ElementsAre()) << "berth cannot know of it yet";
  pass(2min);
  cordon("n2");
  EXPECT_THAT(judge_.broken(), testing::Contains(StartsWith("Window: n2 is cordoned while")));
}

TEST_F(PoolInvariantsTest, AForeignPriorityClass) {
  const json made = {{"metadata", {{"name", "research"}}}, {"value", 7}};
  put("priorityclasses", "", made);
  put("priorityclasses", "", {{"metadata", {{"name", "research"}}}, {"value", 8}}, "berth-0");
  EXPECT_THAT(first(), StartsWith("Others: the PriorityClass research is somebody else's"));
}

}  // namespace
}  // namespace berth::explore
