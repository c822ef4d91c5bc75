// SPDX-License-Identifier: Apache-2.0
// Block YAML to the letter: what stands bare, what in quotes, and where a list begins.
#include "controller/preview/yaml.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Yaml, AStringStandsBareWhereNobodyTakesItForAnythingElse) {
  for (const char* bare : {"a", "Z", "x0", "n9", "node-1", "a.b/c_d", "nope", "Yesterday"})
    EXPECT_EQ(json_to_yaml("{\"k\":\"" + std::string(bare) + "\"}"),
              "k: " + std::string(bare) + "\n");
  for (const char* quoted : {"",   "true", "False", "YES", "no", "On", "off", "Null", "y",   "N",
                             "0x", "9",    "-a",    ".a",  "/a", "~",  "a b", "a:b",  "a,b", "a{",
                             "[",  "@",    "`a",    "a@",  "a`", "a[", "a:",  "é"})
    EXPECT_EQ(json_to_yaml("{\"k\":\"" + std::string(quoted) + "\"}"),
              "k: \"" + std::string(quoted) + "\"\n");
  EXPECT_EQ(json_to_yaml("{\"k\":\"a\x7f\"}"), "k: \"a\\x7f\"\n");
  EXPECT_EQ(json_to_yaml(R"({"on":1,"a b":true,"n":null,"d":1.5})"),
            "\"on\": 1\n\"a b\": true\n\"n\": null\nd: 1.5\n");
}

TEST(Yaml, ListsAndMapsBeginWhereKubectlBeginsThem) {
  EXPECT_EQ(
      json_to_yaml(R"({"m":{"a":{"b":"c"},"l":["x",["y","z"],{"p":1,"q":[2]}]},"e":[],"o":{}})"),
      "m:\n"
      "  a:\n"
      "    b: c\n"
      "  l:\n"
      "  - x\n"
      "  - - \"y\"\n"
      "    - z\n"
      "  - p: 1\n"
      "    q:\n"
      "    - 2\n"
      "e: []\n"
      "o: {}\n");
}

}  // namespace
}  // namespace berth
