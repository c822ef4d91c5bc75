// SPDX-License-Identifier: Apache-2.0
// Foreign text on its way to a terminal: no command lets it move the cursor, set a title, change
// the reading direction or pass for a line of berth's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kHostile[] =
    "\x1b]0;PWNED\a\x1b[31mRED\r\nFAKE LINE\n  FAKE LINE\x7f\u009b31m\u202e\u2066\u2028";

// Texts that other users may control; the part that berth looks for stays in front.
void poison(json& value, const std::function<bool(const std::string& path)>& chosen,
            const std::string& path = "") {
  if (value.is_string() && chosen(path))
    value = value.get<std::string>() + kHostile;
  else if (value.is_structured())
    for (const auto& item : value.items()) poison(item.value(), chosen, path + "/" + item.key());
}

bool is_foreign_value(const std::string& path) {
  for (const char* place : {"/annotations/", "/labels/", "/taints/", "/conditions/", "/data/",
                            "/tolerations/", "/spec/mig", "/spec/migManager"})
    if (path.find(place) != path.npos) return true;
  return false;
}

void expect_harmless(const std::string& text, const std::string& what) {
  for (const char* bad : {"\u009b", "\u202e", "\u2066", "\u2028"})
    EXPECT_EQ(text.find(bad), text.npos) << what << "\n" << text;
  for (const char c : text)
    ASSERT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)) << what << "\n"
                                                                                   << text;
  EXPECT_THAT("\n" + text, testing::Not(testing::ContainsRegex("\n *FAKE LINE"))) << what;
}

Ran expect_harmless(std::vector<std::string> command) {
  const Ran ran = run_berth(command);
  EXPECT_LE(ran.exit_code, 2) << ran.err;
  std::string what;
  for (const std::string& word : command) what += word + " ";
  expect_harmless(ran.out, what);
  expect_harmless(ran.err, what);
  return ran;
}

TEST(Terminal, ANodesAnnotationIsQuotedByWhy) {
  json cluster = json::parse(text_of(golden("hold/cluster.json")));
  poison(cluster, [](const std::string& path) { return path.ends_with("/gpu.berth.dev/hold"); });
  const std::string file = scratch_file("hold.json", cluster.dump());
  const Ran ran = expect_harmless({"why", "node/n3", "--snapshot", file});
  EXPECT_THAT(ran.out, HasSubstr("\\u001b]0;PWNED\\u0007\\u001b[31mRED\\u000d\\nFAKE LINE"));
  const Ran as_json = expect_harmless({"why", "node/n3", "--snapshot", file, "-o", "json"});
  EXPECT_THAT(json::parse(as_json.out).dump(), HasSubstr(json(kHostile).dump().substr(1, 20)))
      << "data stays what it is";
}

TEST(Terminal, NothingThatAnObjectHoldsReachesIt) {
  for (const char* name : {"hold", "policy-new", "unmanaged-pod"}) {
    const std::string folder = std::string(name) + "/";
    for (const bool everywhere : {false, true}) {
      json cluster = json::parse(text_of(golden(folder + "cluster.json")));
      // Labels decide much about a node: without changes to them, berth gets further.
      poison(cluster, [&](const std::string& path) {
        return is_foreign_value(path) && (everywhere || path.find("/nvidia.com/") == path.npos);
      });
      const std::string file = scratch_file("cluster.json", cluster.dump());
      for (const char* format : {"text", "json", "yaml"})
        expect_harmless(
            {"plan", "-f", golden(folder + "layout.yaml"), "--snapshot", file, "-o", format});
      expect_harmless(
          {"plan", "-f", golden(folder + "layout.yaml"), "--snapshot", file, "--simulate"});
      for (const json& item : cluster["items"]) {
        const json& meta = item["metadata"];
        if (item["kind"] == "Node" && meta["name"] <= "n3")
          expect_harmless({"why", "node/" + meta["name"].get<std::string>(), "--snapshot", file});
        if (item["kind"] == "Pod")
          expect_harmless(
              {"why", meta["namespace"].get<std::string>() + "/" + meta["name"].get<std::string>(),
               "--snapshot", file});
      }
    }
  }
}

// YAML may not contain most control characters, in any notation; it may contain line breaks and
// direction marks.
TEST(Terminal, NothingThatAFileHoldsReachesIt) {
  for (const std::string& payload : {std::string(kHostile), std::string("x\nFAKE LINE\u202e")}) {
    const std::string bad = json(payload).dump();
    const std::string layout =
        "apiVersion: gpu.berth.dev/v1alpha1\nkind: MIGLayout\nmetadata: {name: " + bad +
        "}\nspec:\n  " + bad + ": 1\n  productSelector: [" + bad +
        "]\n  devices: [{gpus: [0], profiles: {" + bad + ": 1}}]\n";
    const std::string file = scratch_file("layout.yaml", layout);
    const Ran validated = expect_harmless({"validate", "-f", file});
    EXPECT_THAT(validated.out, testing::AnyOf(HasSubstr("x\\nFAKE LINE\\u202e"),
                                              HasSubstr("a control character")));
    expect_harmless({"plan", "-f", file, "--snapshot", golden("hold/cluster.json")});
    const std::string names = "{name: q, namespace: " + bad + "}\n";
    for (const std::string& text :
         {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: " + names,
          "apiVersion: v1\nkind: " + bad + "\nmetadata: " + names,
          "version: v1\nmig-configs: {" + bad + ": [{devices: all, mig-enabled: false}]}\n",
          "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: n}\nspec: {hard: {" +
              bad + ": 1, requests.nvidia.com/gpu: 1}, " + bad + ": {a: b}}\n"})
      expect_harmless({"import", "-f", scratch_file("import.yaml", text)});
    expect_harmless(
        {"validate", "-f", scratch_file("kind.yaml", "kind: " + bad + "\napiVersion: v1\n")});
    expect_harmless({"validate", "-f", scratch_file("broken.yaml", payload + ": [")});
    expect_harmless(
        {"plan", "--snapshot", scratch_file("snapshot.json", "{\"kind\":" + bad + "}")});
    expect_harmless({"why", payload, "--snapshot", golden("hold/cluster.json")});
    expect_harmless(
        {"snapshot", "-o", "/nowhere/" + payload, "--kubeconfig", "/nowhere/" + payload});
    expect_harmless({"plan", "--kubeconfig",
                     scratch_file("config", "current-context: " + bad + "\ncontexts: []\n")});
    const std::string scenario =
        "name: " + bad +
        "\nnodes:\n- {count: 1, product: A100-80GB, gpus: 4, labels: " + "{example.com/x: " + bad +
        "}}\ntimeline: []\n";
    expect_harmless({"simulate", "-f", scratch_file("scenario.yaml", scenario)});
    expect_harmless({"simulate", "-f", scratch_file("no.yaml", bad + ": 1\n")});
  }
}

}  // namespace
}  // namespace berth::test
