// SPDX-License-Identifier: Apache-2.0
#include "controller/core/flat_json.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

TEST(FlatJson, ReadsStringsNumbersAndBooleansWhereverTheSpaceIs) {
  for (const char* text : {R"({"a":"x","b":-12,"c":true,"d":false,"e":null})",
                           " { \"a\" : \"x\" ,\n\"b\":-12\t, \"c\" : true, \"d\":false,\r\"e\" : "
                           "null } "}) {
    SCOPED_TRACE(text);
    auto json = FlatJson::parse(text);
    ASSERT_TRUE(json);
    EXPECT_EQ(json->string("a"), "x");
    EXPECT_EQ(json->number("b"), -12);
    EXPECT_TRUE(json->boolean("c"));
    EXPECT_FALSE(json->boolean("d"));
    EXPECT_TRUE(json->has("d"));
    EXPECT_FALSE(json->has("e")) << "null is as good as absent";
    EXPECT_FALSE(json->has("f"));
    EXPECT_EQ(json->string("f"), "");
    EXPECT_EQ(json->number("f"), 0);
    EXPECT_FALSE(json->boolean("f"));
    EXPECT_FALSE(json->wrong());
  }
  EXPECT_TRUE(FlatJson::parse("{}"));
}

TEST(FlatJson, AnEscapedCharacterStandsForItself) {
  auto json = FlatJson::parse(R"({"a":"say \"x\\y\"","b":"\\"})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->string("a"), R"(say "x\y")");
  EXPECT_EQ(json->string("b"), "\\");
}

TEST(FlatJson, AValueOfAnotherKindIsNoted) {
  const char* text = R"({"s":"1","n":1,"b":true})";
  struct Case {
    const char* sentence;
    void (*ask)(FlatJson&);
    bool wrong;
  };
  for (const Case& c : {
           Case{"a number as text", [](FlatJson& j) { j.string("n"); }, true},
           Case{"a text as number", [](FlatJson& j) { j.number("s"); }, true},
           Case{"a number as boolean", [](FlatJson& j) { j.boolean("n"); }, true},
           Case{"a boolean as number", [](FlatJson& j) { j.number("b"); }, true},
           Case{"each as it is",
                [](FlatJson& j) {
                  j.string("s");
                  j.number("n");
                  j.boolean("b");
                },
                false},
       }) {
    auto json = FlatJson::parse(text);
    ASSERT_TRUE(json);
    c.ask(*json);
    EXPECT_EQ(json->wrong(), c.wrong) << c.sentence;
  }
}

TEST(FlatJson, WhatIsNoSuchObjectIsRefused) {
  for (const char* text : {"",
                           "[]",
                           "{",
                           "}",
                           R"({"a"})",
                           R"({"a":})",
                           R"({"a" "x"})",
                           R"({a:1})",
                           R"({:1})",
                           R"({"a":"x)",
                           R"({"a":"x\)",
                           R"({"a":1 "b":2})",
                           R"({"a":1}x)",
                           R"({"a":1},)",
                           R"({"a":1.5})",
                           R"({"a":1e3})",
                           R"({"a":-})",
                           R"({"a":TRUE})",
                           R"({"a":[1]})",
                           R"({"a":{"b":1}})",
                           R"({"a":1,"a":2})",
                           R"({"a":99999999999999999999})",
                           R"({"a":1,})"})
    EXPECT_FALSE(FlatJson::parse(text)) << text;
}

TEST(FlatJson, HasSixtyFourFieldsAtMost) {
  std::string text = "{";
  for (int i = 0; i < 64; ++i)
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + std::to_string(i);
  const std::string whole = text + "}";
  auto json = FlatJson::parse(whole);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->number("63"), 63);
  EXPECT_FALSE(FlatJson::parse(text + ",\"64\":64}"));
}

TEST(FlatJson, ReadsBackWhatIsWrittenForIt) {
  for (const char* text : {"", "plain", "a \"quoted\" \\ word\\", "{\"uid\":1}", " \x7f\xc3\xa9"}) {
    const std::string object = "{\"a\":" + flat_json_string(text) + ",\"b\":true}";
    auto json = FlatJson::parse(object);
    ASSERT_TRUE(json) << object;
    EXPECT_EQ(json->string("a"), text);
    EXPECT_TRUE(json->boolean("b"));
  }
  EXPECT_EQ(flat_json_string("two\nlines\x1f"), "\"two lines \"") << "JSON forbids these";
}

}  // namespace
}  // namespace berth
